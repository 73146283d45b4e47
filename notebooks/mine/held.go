// Exercise 28.4, by Lectern. (28d760bda164)

package mine

// Held is the function held of exercise 28.4.
func Held(stage, ranks, parameters int) int {
	piece := parameters / ranks
	weights, gradients, moments := parameters, parameters, parameters
	if stage >= 1 {
		moments = piece
	}
	if stage >= 2 {
		gradients = piece
	}
	if stage == 3 {
		weights = piece
	}
	return 4*weights + 4*gradients + 8*moments
}
