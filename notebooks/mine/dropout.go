// Exercise 15.5, by Lectern. (a419bd44915f)

package mine

// Dropout is your function dropout.
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
