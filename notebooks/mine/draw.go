// Exercise 30.4, by Lectern. (a5c9d81e3e8f)

package mine

import (
	"math"
	"slices"
)

// Draw is the function draw of exercise 30.4.
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
