// Exercise 28.4, by Lectern. (26e8c4e536d1)

package mine

import (
	"math"
	"slices"
)

// Draw is your function draw.
func Draw(logits []float64, temperature, u float64) int {
	largest, total := slices.Max(logits), 0.0
	if temperature == 0 {
		return slices.Index(logits, largest)
	}
	weights := make([]float64, len(logits))
	for k, z := range logits {
		weights[k] = math.Exp((z - largest) / temperature)
		total += weights[k]
	}
	u *= total
	for k, weight := range weights {
		if u -= weight; u < 0 {
			return k
		}
	}
	return len(logits) - 1
}
