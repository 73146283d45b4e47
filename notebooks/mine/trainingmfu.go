// Exercise 10.5, by Lectern. (9374c1544b9e)

package mine

// TrainingMFU is your function trainingMFU.
func TrainingMFU(parameters, tokens, days, gpus, peak float64) float64 {
	needed := 6 * parameters * tokens
	possible := days * 86400 * gpus * peak
	return needed / possible
}
