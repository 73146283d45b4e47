// Exercise 10.5, by Lectern. (cce51922da88)

package mine

// TrainingMFU is the function trainingMFU of exercise 10.5.
func TrainingMFU(parameters, tokens, days, gpus, peak float64) float64 {
	needed := 6 * parameters * tokens
	possible := days * 86400 * gpus * peak
	return needed / possible
}
