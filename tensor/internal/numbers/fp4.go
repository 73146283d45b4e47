package numbers

import "math"

// FP4 is E2M1: 1 sign bit, 2 exponent bits (bias 1), 1 mantissa bit. Its numbers are 0, 0.5, 1, 1.5, 2, 3, 4, 6 and
// their negatives: far too few for a tensor, but enough for a short block of one with its own scale.

// FP4Values holds the value of each code.
var FP4Values = [16]float32{0, 0.5, 1, 1.5, 2, 3, 4, 6, float32(math.Copysign(0, -1)), -0.5, -1, -1.5, -2, -3, -4, -6}

// FP4Max is the largest of them.
const FP4Max = 6

// FP4Code returns the code nearest to x, ties to even, saturating; x is not NaN.
func FP4Code(x float32) uint8 {
	var sign uint8
	if math.Signbit(float64(x)) {
		sign, x = 8, -x
	}
	// Each bound lies halfway between two numbers, and belongs to the even code.
	switch {
	case x <= 0.25:
		return sign
	case x < 0.75:
		return sign | 1
	case x <= 1.25:
		return sign | 2
	case x < 1.75:
		return sign | 3
	case x <= 2.5:
		return sign | 4
	case x < 3.5:
		return sign | 5
	case x <= 5:
		return sign | 6
	}
	return sign | 7
}

// A BlockScale divides the numbers of a block, so that they fit FP4.
type BlockScale struct {
	// Powers says that scales are powers of two, stored as exponents (E8M0). Others are E4M3 numbers times Global.
	Powers bool
	Global float32
}

// GlobalScale returns the scale of a whole tensor that brings the scales of its blocks into the
// range of E4M3; 1 if no number needs one.
func GlobalScale(values []float32) float32 {
	largest, finite := magnitude(values)
	if !(largest > 0) || !finite {
		return 1
	}
	global := largest / (FP4Max * 448)
	if global == 0 || math.IsInf(float64(1/global), 0) { // too small to divide by
		return 0x1p-126
	}
	return global
}

const mxBias, mxNaN = 127, 0xff

// Of chooses the scale of a block: the number to divide by, and its code.
func (s BlockScale) Of(block []float32) (scale float32, code uint8) {
	largest, finite := magnitude(block)
	if !s.Powers {
		code = E4M3Code(largest/FP4Max/s.Global, true)
		if !finite {
			code = E4M3NaN
		}
		return s.Value(code), code
	}
	if !finite {
		return float32(math.NaN()), mxNaN
	}
	exponent := -mxBias
	if largest > 0 {
		_, e := math.Frexp(float64(largest)) // largest = m·2ᵉ with m in [0.5, 1)
		exponent = max(e-1-2, -mxBias)       // 6 = 1.5·2²
	}
	code = uint8(exponent + mxBias)
	return s.Value(code), code
}

// Value returns the number that a code divides by.
func (s BlockScale) Value(code uint8) float32 {
	switch {
	case !s.Powers:
		return E4M3Values[code] * s.Global
	case code == mxNaN:
		return float32(math.NaN())
	}
	return float32(math.Ldexp(1, int(code)-mxBias))
}

// magnitude returns the largest absolute value among the finite ones, and
// whether all are finite.
func magnitude(values []float32) (largest float32, finite bool) {
	finite = true
	for _, x := range values {
		x = float32(math.Abs(float64(x)))
		if x <= math.MaxFloat32 {
			largest = max(largest, x)
		} else {
			finite = false
		}
	}
	return largest, finite
}
