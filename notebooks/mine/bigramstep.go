// Exercise 30.2, by Lectern. (9a04c9d18c3b)

package mine

import "slices"

// BigramStep is the function step of exercise 30.2.
func BigramStep(w [][]float64, x, y []int, lr float64) ([][]float64, float64) {
	next := make([][]float64, len(w))
	for i := range w {
		next[i] = slices.Clone(w[i])
	}
	loss, B := 0.0, float64(len(x))
	for i := range x {
		l, gradient := CrossEntropy(w[x[i]], y[i])
		loss += l / B
		for k, g := range gradient {
			next[x[i]][k] -= lr * g / B
		}
	}
	return next, loss
}
