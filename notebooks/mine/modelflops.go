// Exercise 09.5, by Lectern. (16d01576bee0)

package mine

// ModelFLOPs is the function modelFLOPs of exercise 09.5.
func ModelFLOPs(tokens int, sizes []int) int {
	n := 0
	for i := 1; i < len(sizes); i++ {
		in, out := sizes[i-1], sizes[i]
		n += MatmulFLOPs([]int{tokens, in}, []int{in, out})
		n += tokens * out // bias
		if i < len(sizes)-1 {
			n += tokens * out // ReLU
		}
	}
	return n
}
