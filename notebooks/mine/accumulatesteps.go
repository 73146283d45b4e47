// Exercise 29.6, by Lectern. (d479999f7468)

package mine

// AccumulateSteps is the function accumulate of exercise 29.6.
func AccumulateSteps(tokens, context, gpus, fit int) int {
	sequences, once := tokens/context, gpus*fit
	return (sequences + once - 1) / once
}
