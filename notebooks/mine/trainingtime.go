// Exercise 00.4, by Lectern. (f85a66a72af3)

package mine

// TrainingTime is your function trainingTime.
func TrainingTime(parameters, tokens, gpus, sheet, mfu float64) float64 {
	work := 6 * parameters * tokens
	perSecond := gpus * sheet / 2 * mfu
	return work / perSecond / 86400
}
