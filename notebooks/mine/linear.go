// Exercise 14.4, by Lectern. (fa5fc456a986)

package mine

// Linear is the function linear of exercise 14.4.
func Linear(x, w [][]float64, bias []float64) [][]float64 {
	y := make([][]float64, len(x))
	for b, row := range x {
		y[b] = make([]float64, len(w[0]))
		copy(y[b], bias)
		for i, xi := range row {
			for o := range y[b] {
				y[b][o] += xi * w[i][o]
			}
		}
	}
	return y
}
