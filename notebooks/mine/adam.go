// Exercise 17.5, by Lectern. (dde331b1e1c8)

package mine

import "math"

// Adam is the function adam of exercise 17.5.
func Adam(p float64, gradients []float64, lr float64) float64 {
	var m, v float64
	for i, g := range gradients {
		t := float64(i + 1)
		m = 0.9*m + 0.1*g
		v = 0.999*v + 0.001*g*g
		mean := m / (1 - math.Pow(0.9, t))
		square := v / (1 - math.Pow(0.999, t))
		p -= lr * mean / (math.Sqrt(square) + 1e-8)
	}
	return p
}
