// Exercise 05.6, by Lectern. (82e412a16a6c)

package mine

// Read is the function read of exercise 05.6.
func Read(storage []float64, start int, shape, strides []int) []float64 {
	if len(shape) == 0 {
		return storage[start : start+1]
	}
	var all []float64
	for i := range shape[0] {
		// the i-th element along the first axis is a tensor itself
		all = append(all, Read(storage, start+i*strides[0],
			shape[1:], strides[1:])...)
	}
	return all
}
