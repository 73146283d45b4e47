// Exercise 02.5, by Lectern. (debf03e2d2a6)

package mine

import "math"

// Arange is the function arange of exercise 02.5.
func Arange(start, stop, step float64) []float64 {
	n := int(math.Ceil((stop - start) / step))
	var list []float64
	for i := range max(n, 0) {
		list = append(list, start+float64(i)*step)
	}
	return list
}
