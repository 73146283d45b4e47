// Exercise 03.5, by Lectern. (6880bf2372a1)

package mine

import "math"

// RoundFloat is the function round of exercise 03.5.
func RoundFloat(x float64, exponentBits, mantissaBits int) float64 {
	_, n := math.Frexp(x)               // x is a number from ½ to 1, times 2ⁿ
	smallest := 2 - 1<<(exponentBits-1) // 1 − bias
	step := math.Ldexp(1, max(n-1, smallest)-mantissaBits)
	return math.RoundToEven(x/step) * step
}
