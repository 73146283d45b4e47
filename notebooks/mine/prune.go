// Exercise 09.6, by Lectern. (248a55a0ab26)

package mine

import (
	"cmp"
	"math"
	"slices"
)

// Prune is the function prune of exercise 09.6.
func Prune(weights []float64) []float64 {
	out := make([]float64, len(weights))
	for start := 0; start < len(weights); start += 4 {
		places := []int{start, start + 1, start + 2, start + 3}
		slices.SortStableFunc(places, func(i, j int) int {
			return cmp.Compare(math.Abs(weights[j]), math.Abs(weights[i]))
		})
		for _, i := range places[:2] {
			out[i] = weights[i]
		}
	}
	return out
}
