// Exercise 14.4, by Lectern. (9449b6826078)

package mine

// Linear is your function linear.
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
