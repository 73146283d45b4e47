// Exercise 17.5, by Lectern. (ccb6048c1856)

package mine

import "math"

// AdamW is the function adamW of exercise 17.5.
func AdamW(p, m, v, g float64, t int, lr, decay float64) (
	float64, float64, float64) {

	m = 0.9*m + 0.1*g
	v = 0.999*v + 0.001*g*g
	mean := m / (1 - math.Pow(0.9, float64(t)))
	square := v / (1 - math.Pow(0.999, float64(t)))
	p -= lr * decay * p
	p -= lr * mean / (math.Sqrt(square) + 1e-8)
	return p, m, v
}
