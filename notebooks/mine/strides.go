// Exercise 05.5, by Lectern. (24a0458497de)

package mine

// Strides is your function strides.
func Strides(shape []int) []int {
	s := make([]int, len(shape))
	step := 1
	for axis := len(shape) - 1; axis >= 0; axis-- {
		s[axis] = step
		step *= shape[axis]
	}
	return s
}
