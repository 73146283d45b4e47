// Exercise 27.3, by Lectern. (7500e6598d20)

package mine

// RankBytes is your function stepBytes.
func RankBytes(stage, ranks, bytes int) int {
	rounds := 2
	if stage == 3 {
		rounds = 3
	}
	return rounds * (ranks - 1) * bytes / ranks
}
