// Exercise 16.5, by Lectern. (34fd62b1a33e)

package mine

// CutSequences is the function cut of exercise 16.5.
func CutSequences(ids []int, L int) (x, y [][]int) {
	for s := 0; s+L < len(ids); s += L {
		x = append(x, ids[s:s+L])
		y = append(y, ids[s+1:s+1+L])
	}
	return x, y
}
