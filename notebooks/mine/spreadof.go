// Exercise 13.4, by Lectern. (077df90104ea)

package mine

import "math"

// SpreadOf is your function spreadOf.
func SpreadOf(rule string, in, out int) float64 {
	switch rule {
	case "xavier":
		return math.Sqrt(2 / float64(in+out))
	case "he":
		return math.Sqrt(2 / float64(in))
	}
	return math.Sqrt(1 / float64(in))
}
