// Exercise 12.4, by Lectern. (936e8bd48e6d)

package mine

func zeros(rows, cols int) [][]float64 {
	m := make([][]float64, rows)
	for i := range m {
		m[i] = make([]float64, cols)
	}
	return m
}

// Gradients is the function gradients of exercise 12.4.
func Gradients(a, b, g [][]float64) (da, db [][]float64) {
	da, db = zeros(len(a), len(b)), zeros(len(b), len(b[0]))
	for i := range a {
		for d := range b {
			for k := range b[d] {
				da[i][d] += g[i][k] * b[d][k]
				db[d][k] += a[i][d] * g[i][k]
			}
		}
	}
	return da, db
}
