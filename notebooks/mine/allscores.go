// Exercise 08.4, by Lectern. (776344f5a84f)

package mine

// AllScores is your function allScores.
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
