// Exercise 07.4, by Lectern. (60eefbe44c9b)

package mine

// Matmul is the function matmul of exercise 07.4.
func Matmul(a, b []float64, rows, inner, cols int) []float64 {
	c := make([]float64, rows*cols)
	for i := range rows {
		for k := range inner {
			for j := range cols {
				c[i*cols+j] += a[i*inner+k] * b[k*cols+j]
			}
		}
	}
	return c
}
