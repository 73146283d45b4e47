// Exercise 16.4, by Lectern. (f0779cccc1e9)

package mine

// GetBatch is the function getBatch of exercise 16.4.
func GetBatch(ids []int, L int, u []float64) (x, y [][]int) {
	starts := len(ids) - L
	for _, draw := range u {
		s := int(draw * float64(starts))
		x = append(x, ids[s:s+L])
		y = append(y, ids[s+1:s+1+L])
	}
	return x, y
}
