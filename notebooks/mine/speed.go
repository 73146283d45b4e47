// Exercise 10.4, by Lectern. (5e39858fd4af)

package mine

import "slices"

// Speed is the function speed of exercise 10.4.
func Speed(m, k, n int, seconds []float64, warmUp int) float64 {
	if len(seconds) <= warmUp {
		return 0
	}
	runs := slices.Sorted(slices.Values(seconds[warmUp:]))
	half := len(runs) / 2
	median := runs[half]
	if len(runs)%2 == 0 {
		median = (runs[half-1] + runs[half]) / 2
	}
	return 2 * float64(m) * float64(k) * float64(n) / median
}
