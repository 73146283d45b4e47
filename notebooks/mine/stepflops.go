// Exercise 12.5, by Lectern. (b098b3c791c8)

package mine

// StepFLOPs is the function step of exercise 12.5.
func StepFLOPs(batch int, sizes []int, trained []bool) (forward, backward int) {
	asked := false // does anything in front of this layer ask?
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
