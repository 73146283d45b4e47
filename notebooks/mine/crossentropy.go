// Exercise 30.1, by Lectern. (747f6e67999e)

package mine

import (
	"math"
	"slices"
)

// CrossEntropy is the function crossEntropy of exercise 30.1.
func CrossEntropy(logits []float64, right int) (
	loss float64, gradient []float64) {

	largest, total := slices.Max(logits), 0.0
	gradient = make([]float64, len(logits))
	for k, z := range logits {
		gradient[k] = math.Exp(z - largest)
		total += gradient[k]
	}
	for k := range gradient {
		gradient[k] /= total
	}
	gradient[right]--
	return math.Log(total) - (logits[right] - largest), gradient
}
