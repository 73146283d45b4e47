// Exercise 06.5, by Lectern. (e34384408ace)

package mine

import (
	"math"
	"slices"
)

// Softmax is the function softmax of exercise 06.5.
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
