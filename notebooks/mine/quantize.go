// Exercise 03.6, by Lectern. (5c711a154fdd)

package mine

import "math"

// Quantize is the function quantize of exercise 03.6.
func Quantize(block []float64) (scale float64, values []float64) {
	for _, x := range block {
		scale = max(scale, math.Abs(x)/6)
	}
	values = make([]float64, len(block))
	for i, x := range block {
		if scale == 0 {
			break
		}
		nearest := 0.0
		for _, g := range []float64{0.5, 1, 1.5, 2, 3, 4, 6} {
			if math.Abs(math.Abs(x)/scale-g) <
				math.Abs(math.Abs(x)/scale-nearest) {
				nearest = g
			}
		}
		values[i] = math.Copysign(nearest*scale, x)
	}
	return scale, values
}
