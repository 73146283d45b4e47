// Exercise 23.5, by Lectern. (12691cef3624)

package mine

// BlocksHeld is the function blocksHeld of exercise 23.5.
func BlocksHeld(depth, k int) int {
	most := 0
	checkpoints := 0 // before this segment; the batch is free
	for first := 0; first < depth; first += k {
		blocks := min(k, depth-first)
		most = max(most, checkpoints+blocks)
		checkpoints++
	}
	return most
}
