// Exercise 02.5, by Lectern. (cea7d0a60bdc)

package mine

import "math"

// Arange is your function arange.
func Arange(start, stop, step float64) []float64 {
	n := int(math.Ceil((stop - start) / step))
	var list []float64
	for i := range max(n, 0) {
		list = append(list, start+float64(i)*step)
	}
	return list
}
