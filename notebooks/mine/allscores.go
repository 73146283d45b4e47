// Exercise 08.4, by Lectern. (b81458a716b8)

package mine

// AllScores is the function allScores of exercise 08.4.
func AllScores(q, k [][][]float64) [][][]float64 {
	s := make([][][]float64, len(q))
	for b := range q {
		s[b] = make([][]float64, len(q[b]))
		for i := range q[b] {
			s[b][i] = make([]float64, len(k[b]))
			for j := range k[b] {
				for h := range q[b][i] { // missing from the result: summed
					s[b][i][j] += q[b][i][h] * k[b][j][h]
				}
			}
		}
	}
	return s
}
