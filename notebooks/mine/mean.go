// Exercise 0.2, by Lectern. (409833fb08ca)

package mine

// Mean is the function mean of exercise 0.2.
func Mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
