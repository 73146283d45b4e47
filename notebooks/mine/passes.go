// Exercise 28.5, by Lectern. (d2436e589419)

package mine

// Passes is the function passes of exercise 28.5.
func Passes(rank, step, ranks int) int {
	return (rank - 1 - step + 2*ranks) % ranks
}
