// Exercise 01.6, by Lectern. (fedfb1dbc075)

package mine

// Encode is the function encode of exercise 01.6.
func Encode(text string, merges [][2]int) []int {
	var ids []int
	for _, b := range []byte(text) {
		ids = append(ids, int(b))
	}
	for i, pair := range merges {
		ids = Merge(ids, pair[0], pair[1], 256+i)
	}
	return ids
}
