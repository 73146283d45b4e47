// Exercise 21.4, by Lectern. (bf128756a5eb)

package mine

// Scaler is the function scaler of exercise 21.4.
func Scaler(largest []float64, scale float64, interval int) (float64, int) {
	skipped, good := 0, 0
	for _, g := range largest {
		if g*scale > 65504 {
			scale /= 2
			skipped++
			good = 0
			continue
		}
		if good++; good == interval {
			scale *= 2
			good = 0
		}
	}
	return scale, skipped
}
