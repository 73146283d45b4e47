// Exercise 22.4, by Lectern. (279399058a88)

package mine

// Intensity is your function intensity.
func Intensity(m, k, n, element int) float64 {
	flops := m * n * (2*k - 1)
	bytes := element * (m*k + k*n + m*n)
	return float64(flops) / float64(bytes)
}
