// Exercise 11.4, by Lectern. (82c7c7328bdd)

package mine

import "math"

// Derivative is the function derivative of exercise 11.4.
func Derivative(op string, a, b, g float64) (float64, float64) {
	switch op {
	case "add":
		return g, g
	case "mul":
		return g * b, g * a
	case "pow":
		return g * b * math.Pow(a, b-1), 0
	case "exp":
		return g * math.Exp(a), 0
	case "relu":
		if a > 0 {
			return g, 0
		}
	}
	return 0, 0
}
