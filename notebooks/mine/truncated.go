// Exercise 13.5, by Lectern. (cac8b2fc8a1e)

package mine

import "math"

// Truncated is your function truncated.
func Truncated(draws []float64, n int, std, bound float64) []float64 {
	var weight []float64
	for _, z := range draws {
		if len(weight) == n {
			break
		}
		if math.Abs(z) <= bound {
			weight = append(weight, std*z)
		}
	}
	return weight
}
