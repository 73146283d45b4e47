// Exercise 25.3, by Lectern. (ec2268fc0c4d)

package mine

import "math"

// RMSNorm is the function rmsNorm of exercise 25.3.
func RMSNorm(x, gain []float64, eps float64) []float64 {
	squares := 0.0
	for _, v := range x {
		squares += v * v
	}
	root := math.Sqrt(squares/float64(len(x)) + eps)
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v / root * gain[i]
	}
	return y
}
