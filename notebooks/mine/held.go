// Exercise 27.4, by Lectern. (d1f19e180eac)

package mine

// Held is your function held.
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
