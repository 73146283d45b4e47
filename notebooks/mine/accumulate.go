// Exercise 23.4, by Lectern. (07913eed1fdc)

package mine

// Accumulate is the function accumulate of exercise 23.4.
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
