// Exercise 05.6, by Lectern. (a8f551f9e138)

package mine

// Read is your function read.
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
