// Exercise 19.5, by Lectern. (3278354028d3)

package mine

import "math"

// Rate is your function rate.
func Rate(t, warmup, steps int, peak, final float64) float64 {
	if t < warmup {
		return peak * float64(t) / float64(warmup)
	}
	done := float64(t-warmup) / float64(steps-warmup)
	return final + (peak-final)*(1+math.Cos(math.Pi*done))/2
}
