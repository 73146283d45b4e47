// Exercise 00.4, by Lectern. (3f71c5504a14)

package mine

// TrainingTime is the function trainingTime of exercise 00.4.
func TrainingTime(parameters, tokens, gpus, sheet, mfu float64) float64 {
	work := 6 * parameters * tokens
	perSecond := gpus * sheet / 2 * mfu
	return work / perSecond / 86400
}
