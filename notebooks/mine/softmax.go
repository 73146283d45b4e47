// Exercise 06.5, by Lectern. (5a50df572c33)

package mine

import (
	"math"
	"slices"
)

// Softmax is your function softmax.
func Softmax(scores []float64) []float64 {
	m := slices.Max(scores)
	shares := make([]float64, len(scores))
	sum := 0.0
	for i, s := range scores {
		shares[i] = math.Exp(s - m)
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}
