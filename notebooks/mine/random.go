// Exercise 15.4, by Lectern. (2feec8232620)

package mine

// Random is the function random of exercise 15.4.
func Random(seed uint64, n int) []float64 {
	numbers := make([]float64, 0, n)
	s := seed
	for range n {
		s = (1664525*s + 1013904223) % (1 << 32)
		numbers = append(numbers, float64(s)/(1<<32))
	}
	return numbers
}
