// Exercise 07.5, by Lectern. (f66a80af6430)

package mine

// AddTile is the function addTile of exercise 07.5.
func AddTile(c, a, b []float64, n, i0, j0, k0, t int) []float64 {
	for i := i0; i < min(i0+t, n); i++ {
		for k := k0; k < min(k0+t, n); k++ {
			for j := j0; j < min(j0+t, n); j++ {
				c[i*n+j] += a[i*n+k] * b[k*n+j]
			}
		}
	}
	return c
}
