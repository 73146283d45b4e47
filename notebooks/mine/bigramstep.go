// Exercise 28.2, by Lectern. (c274d77fc32f)

package mine

import "slices"

// BigramStep is your function step.
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
