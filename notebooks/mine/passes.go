// Exercise 27.5, by Lectern. (b37f79ab9c9a)

package mine

// Passes is your function passes.
func Passes(rank, step, ranks int) int {
	return (rank - 1 - step + 2*ranks) % ranks
}
