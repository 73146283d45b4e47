// Exercise 07.6, by Lectern. (c7c94c289f32)

package mine

import "slices"

// ShapeOf is the function shapeOf of exercise 07.6.
func ShapeOf(a, b []int) []int {
	for len(a) < len(b) {
		a = append([]int{1}, a...)
	}
	for len(b) < len(a) {
		b = append([]int{1}, b...)
	}
	last := len(a) - 1
	if a[last] != b[last-1] {
		return nil
	}
	shape := append(slices.Clone(a[:last]), b[last])
	for i := range last - 1 { // the batch axes
		if a[i] == 1 {
			shape[i] = b[i]
		} else if b[i] != 1 && b[i] != a[i] {
			return nil
		}
	}
	return shape
}
