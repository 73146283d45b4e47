package numbers

import (
	"math"
	"unsafe"
)

// bfloat16 is the upper half of a float32: 1 sign bit, 8 exponent bits, 7
// mantissa bits. It has float32's range and two to three decimal digits.

// BFloat16Value returns the value of a bfloat16 code.
func BFloat16Value(code uint16) float32 { return math.Float32frombits(uint32(code) << 16) }

// BFloat16Code returns the bfloat16 nearest to x, ties to even: it adds just less than
// half of the last place kept, or exactly half if that place is odd, and truncates. A
// carry runs into the exponent, as it should.
func BFloat16Code(x float32) uint16 {
	bits := math.Float32bits(x)
	if x != x {
		return uint16(bits>>16) | 0x40 // truncating must not turn NaN into infinity
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

func loadBFloat16[T Number](dst []T, src unsafe.Pointer) {
	for i, code := range unsafe.Slice((*uint16)(src), len(dst)) {
		dst[i] = T(BFloat16Value(code))
	}
}

func storeBFloat16[T Number](dst unsafe.Pointer, src []T) {
	to := unsafe.Slice((*uint16)(dst), len(src))
	for i, x := range src {
		to[i] = BFloat16Code(float32(x))
	}
}
