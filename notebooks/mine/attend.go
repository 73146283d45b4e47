// Exercise 24.4, by Lectern. (2653b3dd4b46)

package mine

import "math"

// Attend is the function attend of exercise 24.4.
func Attend(query []float64, keys, values [][]float64) []float64 {
	scores := make([]float64, len(keys))
	for j, key := range keys {
		for c, x := range query {
			scores[j] += x * key[c]
		}
		scores[j] /= math.Sqrt(float64(len(query)))
	}
	out := make([]float64, len(values[0]))
	for j, share := range Softmax(scores) {
		for c, x := range values[j] {
			out[c] += share * x
		}
	}
	return out
}
