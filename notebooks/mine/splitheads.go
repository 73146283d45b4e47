// Exercise 08.5, by Lectern. (55196df071a0)

package mine

import "slices"

// SplitHeads is the function splitHeads of exercise 08.5.
func SplitHeads(tokens [][]float64, heads int) [][][]float64 {
	parts := make([][][]float64, heads)
	for h := range parts {
		for _, row := range tokens {
			hidden := len(row) / heads
			part := row[h*hidden : (h+1)*hidden]
			parts[h] = append(parts[h], slices.Clone(part))
		}
	}
	return parts
}
