// Exercise 05.5, by Lectern. (7f695e8bf857)

package mine

// Strides is the function strides of exercise 05.5.
func Strides(shape []int) []int {
	s := make([]int, len(shape))
	step := 1
	for axis := len(shape) - 1; axis >= 0; axis-- {
		s[axis] = step
		step *= shape[axis]
	}
	return s
}
