// Exercise 24.6, by Lectern. (98f5fbbe535a)

package mine

// MultiHead is the function multiHead of exercise 24.6.
func MultiHead(q, k, v [][]float64, heads int) [][]float64 {
	part := func(rows [][]float64, h int) [][]float64 {
		d := len(rows[0]) / heads
		cut := make([][]float64, len(rows))
		for t, row := range rows {
			cut[t] = row[h*d : (h+1)*d]
		}
		return cut
	}
	out := make([][]float64, len(q))
	for h := range heads {
		queries, keys, values := part(q, h), part(k, h), part(v, h)
		for t := range out {
			out[t] = append(out[t],
				Attend(queries[t], keys[:t+1], values[:t+1])...)
		}
	}
	return out
}
