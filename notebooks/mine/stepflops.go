// Exercise 12.5, by Lectern. (88592e1a598c)

package mine

// StepFLOPs is the function step of exercise 12.5.
func StepFLOPs(batch int, sizes []int, trained []bool) (forward, backward int) {
	asked := false // does anything before this layer ask?
	for i := range trained {
		product := 2 * batch * sizes[i] * sizes[i+1]
		forward += product
		if trained[i] {
			backward += product // the gradient of the weight
		}
		if asked {
			backward += product // the gradient of the input
		}
		asked = asked || trained[i]
	}
	return forward, backward
}
