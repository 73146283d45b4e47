// Exercise 15.5, by Lectern. (263538e7e6e8)

package mine

// Dropout is the function dropout of exercise 15.5.
func Dropout(x, draws []float64, p float64, training bool) []float64 {
	if !training {
		return x
	}
	out := make([]float64, len(x))
	for i := range x {
		if draws[i] >= p {
			out[i] = x[i] / (1 - p)
		}
	}
	return out
}
