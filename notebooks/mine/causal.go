// Exercise 06.6, by Lectern. (090452addc26)

package mine

import (
	"math"
	"slices"
)

// Causal is the function causal of exercise 06.6.
func Causal(scores [][]float64) [][]float64 {
	shares := make([][]float64, len(scores))
	for i, row := range scores {
		masked := slices.Clone(row)
		for j := i + 1; j < len(row); j++ {
			masked[j] = math.Inf(-1)
		}
		shares[i] = Softmax(masked)
	}
	return shares
}
