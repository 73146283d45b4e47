// Exercise 00.5, by Lectern. (ce7c4b0010f5)

package mine

import "math"

// GpusFor is your function gpusFor.
func GpusFor(parameters, tokens, days float64) int {
	alone := TrainingTime(parameters, tokens, 1, 1979e12, 0.5)
	forSpeed := math.Ceil(alone / days)
	forMemory := math.Ceil(16 * parameters / 80e9)
	return int(max(forSpeed, forMemory))
}
