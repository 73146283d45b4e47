// Exercise 08.5, by Lectern. (026c56791e53)

package mine

import (
	"math"
	"slices"
)

// Attend is the function attend of exercise 08.5.
func Attend(q, k, v [][]float64) [][]float64 {
	scores := AllScores([][][]float64{q}, [][][]float64{k})[0]
	mixed := make([][]float64, len(q))
	for i, row := range scores {
		most, sum := slices.Max(row), 0.0
		root := math.Sqrt(float64(len(q[i])))
		for j := range row {
			row[j] = math.Exp((row[j] - most) / root)
			sum += row[j]
		}
		mixed[i] = make([]float64, len(v[0]))
		for j, share := range row {
			for h := range v[j] {
				mixed[i][h] += share / sum * v[j][h]
			}
		}
	}
	return mixed
}
