// Exercise 29.3, by Lectern. (2baf0a3b9dc8)

package mine

// AccumulateSteps is the function accumulate of exercise 29.3.
func AccumulateSteps(tokens, context, gpus, fit int) int {
	sequences, once := tokens/context, gpus*fit
	return (sequences + once - 1) / once
}
