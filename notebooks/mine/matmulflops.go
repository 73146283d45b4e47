// Exercise 09.4, by Lectern. (1856e8c0d7d6)

package mine

// MatmulFLOPs is the function matmulFLOPs of exercise 09.4.
func MatmulFLOPs(a, b []int) int {
	n := 2 * b[len(b)-1]
	for _, size := range a {
		n *= size
	}
	return n
}
