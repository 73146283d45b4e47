// Exercise 30.3, by Lectern. (a9ee12fac6da)

package mine

// linearBackwardZeros makes a matrix of one flat slice: its rows are views, as in lesson 5.
func linearBackwardZeros(rows, columns int) [][]float64 {
	flat := make([]float64, rows*columns)
	m := make([][]float64, rows)
	for i := range m {
		m[i] = flat[i*columns : (i+1)*columns]
	}
	return m
}

// LinearBackward is the function backward of exercise 30.3.
func LinearBackward(w, x, gy [][]float64) (gw, gx [][]float64) {
	gw, gx = linearBackwardZeros(len(w), len(w[0])), linearBackwardZeros(len(x), len(w[0]))
	for i := range x {
		for o, g := range gy[i] {
			for k := range w[o] {
				gw[o][k] += g * x[i][k]
				gx[i][k] += g * w[o][k]
			}
		}
	}
	return gw, gx
}
