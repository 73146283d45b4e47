// Exercise 22.5, by Lectern. (d2d03893f385)

package mine

// Attainable is your function attainable.
func Attainable(flops, bytes, peak, bandwidth float64) float64 {
	if bytes == 0 {
		return peak
	}
	return min(peak, flops/bytes*bandwidth)
}
