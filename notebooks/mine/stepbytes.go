// Exercise 18.4, by Lectern. (eb63a09375e2)

package mine

// StepBytes is the function stepBytes of exercise 18.4.
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
