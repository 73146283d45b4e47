package numbers

import (
	"math"
	"unsafe"
)

// float16 is IEEE 754 binary16: 1 sign bit, 5 exponent bits (bias 15), 10 mantissa bits. Scalars go through
// x448/float16 (see code.go); these loops are for slices, and tests compare the two over all codes.

// Float16Value returns the value of a float16 code. Shifting the code left puts exponent and mantissa
// where float32 has them; the exponent's bias is then 112 too small. Subnormal codes have no leading
// 1: float32 subtraction normalizes them.
func Float16Value(code uint16) float32 {
	const (
		exponent = 0x7c00 << 13
		rebias   = (127 - 15) << 23
		smallest = 113 << 23 // bits of 2⁻¹⁴, the smallest normal float16
	)
	bits := uint32(code&0x7fff) << 13
	switch bits & exponent {
	case exponent: // infinity and NaN
		bits += rebias + (128-16)<<23
	case 0: // zero and subnormal
		bits = math.Float32bits(math.Float32frombits(bits+smallest) - math.Float32frombits(smallest))
	default:
		bits += rebias
	}
	return math.Float32frombits(bits | uint32(code&0x8000)<<16)
}

// Float16Code returns the float16 nearest to x, ties to even; numbers from 65520 on become infinite.
func Float16Code(x float32) uint16 {
	const (
		one13    = 0xfff                   // just below half of the last place kept
		rebias   = (127 - 15) << 23        // between the exponents' biases
		infinite = (127 + 16) << 23        // 2¹⁶
		normal   = (127 - 14) << 23        // 2⁻¹⁴
		magic    = float32(1.0 / (1 << 1)) // its last place is 2⁻²⁴, that of float16's subnormals
	)
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	switch {
	case bits > 0x7f800000:
		return sign | 0x7e00
	case bits >= infinite:
		return sign | 0x7c00
	case bits < normal: // adding magic makes float32 round to the right place
		rounded := math.Float32frombits(bits) + magic
		return sign | uint16(math.Float32bits(rounded)-math.Float32bits(magic))
	}
	odd := bits >> 13 & 1
	return sign | uint16((bits-rebias+one13+odd)>>13)
}

func loadFloat16[T Number](dst []T, src unsafe.Pointer) {
	for i, code := range unsafe.Slice((*uint16)(src), len(dst)) {
		dst[i] = T(Float16Value(code))
	}
}

func storeFloat16[T Number](dst unsafe.Pointer, src []T) {
	to := unsafe.Slice((*uint16)(dst), len(src))
	for i, x := range src {
		to[i] = Float16Code(float32(x))
	}
}
