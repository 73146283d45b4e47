// Exercise 22.5, by Lectern. (ed62ab522c38)

package mine

// Attainable is the function attainable of exercise 22.5.
func Attainable(flops, bytes, peak, bandwidth float64) float64 {
	if bytes == 0 {
		return peak
	}
	return min(peak, flops/bytes*bandwidth)
}
