// Exercise 22.4, by Lectern. (b883ea016775)

package mine

// Intensity is the function intensity of exercise 22.4.
func Intensity(m, k, n, element int) float64 {
	flops := m * n * (2*k - 1)
	bytes := element * (m*k + k*n + m*n)
	return float64(flops) / float64(bytes)
}
