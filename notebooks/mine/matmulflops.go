// Exercise 09.4, by Lectern. (74067f0cf506)

package mine

// MatmulFLOPs is your function matmulFLOPs.
func MatmulFLOPs(a, b []int) int {
	n := 2 * b[len(b)-1]
	for _, size := range a {
		n *= size
	}
	return n
}
