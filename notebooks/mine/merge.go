// Exercise 01.4, by Lectern. (49000367df2b)

package mine

// Merge is your function merge.
func Merge(ids []int, left, right, id int) []int {
	var merged []int
	for i := 0; i < len(ids); i++ {
		if i+1 < len(ids) && ids[i] == left && ids[i+1] == right {
			merged = append(merged, id)
			i++ // right is used up, too
			continue
		}
		merged = append(merged, ids[i])
	}
	return merged
}
