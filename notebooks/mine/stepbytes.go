// Exercise 18.4, by Lectern. (c23290714faa)

package mine

// StepBytes is your function stepBytes.
func StepBytes(widths []int, batch, state int) int {
	parameters, activations := 0, 0
	for i := 1; i < len(widths); i++ {
		parameters += widths[i-1] * widths[i]
		if i < len(widths)-1 {
			activations += batch * widths[i]
		}
	}
	return 4 * (parameters*(2+state) + activations)
}
