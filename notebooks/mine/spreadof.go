// Exercise 13.4, by Lectern. (23aef6726e58)

package mine

import "math"

// SpreadOf is the function spreadOf of exercise 13.4.
func SpreadOf(rule string, in, out int) float64 {
	switch rule {
	case "xavier":
		return math.Sqrt(2 / float64(in+out))
	case "he":
		return math.Sqrt(2 / float64(in))
	}
	return math.Sqrt(1 / float64(in))
}
