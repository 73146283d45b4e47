// Exercise 18.5, by Lectern. (f801ddf09c78)

package mine

// LargestBatch is the function largestBatch of exercise 18.5.
func LargestBatch(widths []int, state, memory int) int {
	fixed := StepBytes(widths, 0, state)
	perExample := StepBytes(widths, 1, state) - fixed
	return max(0, (memory-fixed)/perExample)
}
