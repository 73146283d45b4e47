// Exercise 23.5, by Lectern. (b8f142787496)

package mine

// BlocksHeld is the function blocksHeld of exercise 23.5.
func BlocksHeld(depth, k int) int {
	most := 0
	checkpoints := 0 // in front of this segment; the batch is free
	for first := 0; first < depth; first += k {
		blocks := min(k, depth-first)
		most = max(most, checkpoints+blocks)
		checkpoints++
	}
	return most
}
