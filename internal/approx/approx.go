// Package approx says when one number is as good as another, in one place for all code that compares numbers.
package approx

import "math"

// Equal reports whether got is want, or differs from it by at most a fraction of want, or by at most a distance. NaN
// equals NaN, and an infinity equals only itself: a fraction of it would allow every number.
func Equal(got, want, share, distance float64) bool {
	switch {
	case got == want, math.IsNaN(got) && math.IsNaN(want):
		return true
	case math.IsInf(got, 0), math.IsInf(want, 0):
		return false
	}
	return math.Abs(got-want) <= max(share*math.Abs(want), distance) // false for NaN
}
