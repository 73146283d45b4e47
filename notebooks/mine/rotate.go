// Exercise 24.5, by Lectern. (88a23f424cc3)

package mine

import "math"

// Rotate is the function rotate of exercise 24.5.
func Rotate(x []float64, t int, theta float64) []float64 {
	y := make([]float64, len(x))
	for i := 0; i < len(x); i += 2 {
		angle := float64(t) *
			math.Pow(theta, -float64(i)/float64(len(x)))
		sin, cos := math.Sincos(angle)
		y[i] = x[i]*cos - x[i+1]*sin
		y[i+1] = x[i]*sin + x[i+1]*cos
	}
	return y
}
