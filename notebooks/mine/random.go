// Exercise 15.4, by Lectern. (bbe3ca3befb9)

package mine

// Random is your function random.
func Random(seed uint64, n int) []float64 {
	numbers := make([]float64, 0, n)
	s := seed
	for range n {
		s = (1664525*s + 1013904223) % (1 << 32)
		numbers = append(numbers, float64(s)/(1<<32))
	}
	return numbers
}
