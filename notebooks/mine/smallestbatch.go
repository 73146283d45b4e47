// Exercise 22.6, by Lectern. (b87daedd6cec)

package mine

// SmallestBatch is the function smallestBatch of exercise 22.6.
func SmallestBatch(k, n, element int, machine float64) int {
	for b := 1; b <= 100_000; b++ {
		if Intensity(b, k, n, element) >= machine {
			return b
		}
	}
	return 0
}
