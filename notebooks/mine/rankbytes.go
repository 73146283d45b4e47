// Exercise 28.3, by Lectern. (3e767cff2ab1)

package mine

// RankBytes is the function stepBytes of exercise 28.3.
func RankBytes(stage, ranks, bytes int) int {
	rounds := 2
	if stage == 3 {
		rounds = 3
	}
	return rounds * (ranks - 1) * bytes / ranks
}
