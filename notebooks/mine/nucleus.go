// Exercise 27.4, by Lectern. (abba7619da42)

package mine

import (
	"cmp"
	"slices"
)

// Nucleus is the function nucleus of exercise 27.4.
func Nucleus(probabilities []float64, p float64) []int {
	ids := make([]int, len(probabilities))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		return cmp.Compare(probabilities[b], probabilities[a])
	})
	sum := 0.0
	for n, id := range ids {
		sum += probabilities[id]
		if sum >= p {
			return ids[:n+1]
		}
	}
	return ids
}
