// Exercise 0.2, by Lectern. (7cb7bcf3e906)

package mine

// Mean is your function mean.
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
