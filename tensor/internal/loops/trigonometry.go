package loops

import "math"

// Functions of angles for which those of package math are not accurate enough.

// Tan keeps its digits near 0, where math.Tan replaces tan x by x a little too soon.
func Tan(x float64) float64 {
	if math.Abs(x) < 1e-6 {
		return x + x*x*x/3
	}
	return math.Tan(x)
}

// Asin keeps its digits near ±1, where math.Asin takes a root of 1-x².
func Asin(x float64) float64 { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }

// Acos keeps its digits near 1, where math.Acos subtracts from π/2.
func Acos(x float64) float64 { return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x)) }

// Sinh is math.Sinh, also where eˣ overflows and half of it doesn't.
func Sinh(x float64) float64 {
	if math.Abs(x) > 709 {
		half := math.Exp(math.Abs(x) / 2)
		return math.Copysign(half/2*half, x)
	}
	return math.Sinh(x)
}

// Cosh is math.Cosh, also where eˣ overflows and half of it doesn't.
func Cosh(x float64) float64 {
	if math.Abs(x) > 709 {
		return math.Abs(Sinh(x))
	}
	return math.Cosh(x)
}

// Atan2 is math.Atan2, which treats a y/x that is rounded to 0 as if y were positive.
func Atan2(y, x float64) float64 { return math.Copysign(math.Atan2(y, x), y) }
