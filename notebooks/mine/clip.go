// Exercise 30.3, by Lectern. (931b18555204)

package mine

import "math"

// Clip is the function clip of exercise 30.3.
func Clip(gradient [][]float64, most float64) (
	clipped [][]float64, norm float64) {

	for _, row := range gradient {
		for _, x := range row {
			norm += x * x
		}
	}
	norm = math.Sqrt(norm)
	scale := 1.0
	if norm > most {
		scale = most / norm
	}
	for _, row := range gradient {
		scaled := make([]float64, len(row))
		for k, x := range row {
			scaled[k] = scale * x
		}
		clipped = append(clipped, scaled)
	}
	return clipped, norm
}
