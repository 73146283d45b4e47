// Exercise 23.5, by Lectern. (a7d0410be760)

package mine

// BlocksHeld is your function blocksHeld.
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
