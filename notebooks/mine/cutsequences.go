// Exercise 16.5, by Lectern. (b53c19cf4cf8)

package mine

// CutSequences is your function cut.
func CutSequences(ids []int, L int) (x, y [][]int) {
	for s := 0; s+L < len(ids); s += L {
		x = append(x, ids[s:s+L])
		y = append(y, ids[s+1:s+1+L])
	}
	return x, y
}
