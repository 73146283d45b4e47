// Exercise 00.5, by Lectern. (5c36174d351a)

package mine

import "math"

// GPUsFor is the function gpusFor of exercise 00.5.
func GPUsFor(parameters, tokens, days float64) int {
	alone := TrainingTime(parameters, tokens, 1, 1979e12, 0.5)
	forSpeed := math.Ceil(alone / days)
	forMemory := math.Ceil(16 * parameters / 80e9)
	return int(max(forSpeed, forMemory))
}
