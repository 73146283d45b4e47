// Exercise 02.4, by Lectern. (a65ca6c57f85)

package mine

// FromRows is the function fromRows of exercise 02.4.
func FromRows(rows [][]float64) (values []float64, shape []int, ok bool) {
	shape = []int{len(rows), 0}
	if len(rows) > 0 {
		shape[1] = len(rows[0])
	}
	for _, row := range rows {
		if len(row) != shape[1] {
			return nil, nil, false
		}
		values = append(values, row...)
	}
	return values, shape, true
}
