// Exercise 19.5, by Lectern. (54f749e45e85)

package mine

import "math"

// Rate is the function rate of exercise 19.5.
func Rate(t, warmup, steps int, peak, final float64) float64 {
	if t < warmup {
		return peak * float64(t) / float64(warmup)
	}
	done := float64(t-warmup) / float64(steps-warmup)
	return final + (peak-final)*(1+math.Cos(math.Pi*done))/2
}
