// Exercise 01.5, by Lectern. (7854c3fab150)

package mine

// TrainBPE is the function train of exercise 01.5.
func TrainBPE(text string, merges int) [][2]int {
	var ids []int
	for _, b := range []byte(text) {
		ids = append(ids, int(b))
	}
	var learned [][2]int
	for len(learned) < merges && len(ids) > 1 {
		counts := map[[2]int]int{}
		for i := range len(ids) - 1 {
			counts[[2]int{ids[i], ids[i+1]}]++
		}
		best := [2]int{ids[0], ids[1]}
		for i := range len(ids) - 1 { // in order, so that the first wins
			if pair := [2]int{ids[i], ids[i+1]}; counts[pair] > counts[best] {
				best = pair
			}
		}
		ids = Merge(ids, best[0], best[1], 256+len(learned))
		learned = append(learned, best)
	}
	return learned
}
