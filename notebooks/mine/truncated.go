// Exercise 13.5, by Lectern. (cb54c6578c9a)

package mine

import "math"

// Truncated is the function truncated of exercise 13.5.
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
