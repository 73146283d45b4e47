// Exercise 01.4, by Lectern. (88fcc6324bbc)

package mine

// Merge is the function merge of exercise 01.4.
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
