// Exercise 22.6, by Lectern. (491dca97040b)

package mine

// SmallestBatch is your function smallestBatch.
func SmallestBatch(k, n, element int, machine float64) int {
	for b := 1; b <= 100_000; b++ {
		if Intensity(b, k, n, element) >= machine {
			return b
		}
	}
	return 0
}
