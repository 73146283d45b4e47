// Exercise 18.5, by Lectern. (f130520279d2)

package mine

// LargestBatch is your function largestBatch.
func LargestBatch(widths []int, state, memory int) int {
	fixed := StepBytes(widths, 0, state)
	perExample := StepBytes(widths, 1, state) - fixed
	return max(0, (memory-fixed)/perExample)
}
