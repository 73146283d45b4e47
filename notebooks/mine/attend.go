// Exercise 24.4, by Lectern. (772e358e8a09)

package mine

import (
	"math"
	"slices"
)

// Attend is the function attend of exercise 24.4.
func Attend(query []float64, keys, values [][]float64) []float64 {
	scores := make([]float64, len(keys))
	for j, key := range keys {
		for c, x := range query {
			scores[j] += x * key[c]
		}
		scores[j] /= math.Sqrt(float64(len(query)))
	}
	largest, total := slices.Max(scores), 0.0
	out := make([]float64, len(values[0]))
	for j, score := range scores {
		w := math.Exp(score - largest)
		total += w
		for c, x := range values[j] {
			out[c] += w * x
		}
	}
	for c := range out {
		out[c] /= total
	}
	return out
}
