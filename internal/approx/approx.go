// Package approx says when one number is as good as another, once for all that compare.
package approx

import "math"

// Equal reports whether got is want, or is no further from it than a share of want, or than a distance. NaN is NaN, and
// an infinity is that infinity alone: a share of it would take every number.
func Equal(got, want, share, distance float64) bool {
	switch {
	case got == want, math.IsNaN(got) && math.IsNaN(want):
		return true
	case math.IsInf(got, 0), math.IsInf(want, 0):
		return false
	}
	return math.Abs(got-want) <= max(share*math.Abs(want), distance) // false for NaN
}
