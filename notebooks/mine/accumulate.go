// Exercise 23.4, by Lectern. (4a918953f3e9)

package mine

// Accumulate is your function accumulate.
func Accumulate(gradients [][]float64, sizes []int) []float64 {
	examples := 0
	for _, n := range sizes {
		examples += n
	}
	sum := make([]float64, len(gradients[0]))
	for i, g := range gradients {
		for j := range g {
			sum[j] += g[j] * float64(sizes[i]) / float64(examples)
		}
	}
	return sum
}
