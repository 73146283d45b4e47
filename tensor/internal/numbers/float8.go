package numbers

import (
	"math"
	"sync"
	"unsafe"
)

// The two 8-bit floats of the OCP specification (and of Micikevicius et al., "FP8
// Formats for Deep Learning", 2022):
//
//	E4M3  bias 7, no infinity, NaN is S.1111.111, largest 448
//	E5M2  bias 15, as IEEE 754 would have it, largest 57344
//
// Numbers are rounded to nearest, ties to even, on a grid without an upper end;
// results above the largest value overflow: to NaN in E4M3, to infinity in E5M2, or to
// the largest value when saturating.

const (
	e4m3Max, E4M3NaN             = 0x7e, 0x7f
	e5m2Max, e5m2Inf, e5m2NaN    = 0x7b, 0x7c, 0x7e
	e4m3Mantissa, e4m3Bias       = 3, 7
	e5m2Mantissa, e5m2Bias       = 2, 15
	float32Mantissa, float32Bias = 23, 127
)

// E4M3Values and E5M2Values hold the value of each code.
var E4M3Values, E5M2Values [256]float32

func init() {
	for code := range 256 {
		E4M3Values[code] = float8Value(code, e4m3Mantissa, e4m3Bias)
		E5M2Values[code] = float8Value(code, e5m2Mantissa, e5m2Bias)
		switch magnitude := code & 0x7f; {
		case magnitude == e5m2Inf:
			E5M2Values[code] = float32(math.Inf(1 - code>>7*2))
		case magnitude > e5m2Inf:
			E5M2Values[code] = float32(math.NaN())
		}
	}
	E4M3Values[E4M3NaN] = float32(math.NaN())
	E4M3Values[0x80|E4M3NaN] = float32(math.NaN())
}

// float8Value reads a code as a number: (1 + m/2ⁿ)·2^(e-bias), or without the 1
// if e is 0.
func float8Value(code, mantissa, bias int) float32 {
	exponent, fraction := code&0x7f>>mantissa, float64(code&(1<<mantissa-1))/float64(int(1)<<mantissa)
	value := math.Ldexp(1+fraction, exponent-bias)
	if exponent == 0 {
		value = math.Ldexp(fraction, 1-bias)
	}
	if code >= 0x80 {
		value = -value
	}
	return float32(value)
}

// float8Code rounds the magnitude of x, which is not NaN, to a code without sign. The
// result may be larger than any code: the caller handles overflow.
func float8Code(bits uint32, mantissa, bias uint32) uint32 {
	if bits < (float32Bias+1-bias)<<float32Mantissa { // subnormal
		// The last place of magic is that of the subnormals, so the addition rounds to it.
		magic := math.Float32frombits((float32Bias + 1 - bias + float32Mantissa - mantissa) << float32Mantissa)
		return math.Float32bits(math.Float32frombits(bits)+magic) - math.Float32bits(magic)
	}
	cut := float32Mantissa - mantissa
	odd := bits >> cut & 1
	return (bits - (float32Bias-bias)<<float32Mantissa + 1<<(cut-1) - 1 + odd) >> cut
}

// E4M3Code returns the E4M3 nearest to x, ties to even; an x that is too large becomes NaN, or the largest
// number.
func E4M3Code(x float32, saturate bool) uint8 {
	bits := math.Float32bits(x)
	sign := uint8(bits >> 24 & 0x80)
	if x != x {
		return sign | E4M3NaN
	}
	code := float8Code(bits&0x7fffffff, e4m3Mantissa, e4m3Bias)
	switch {
	case code <= e4m3Max:
		return sign | uint8(code)
	case saturate:
		return sign | e4m3Max
	}
	return sign | E4M3NaN
}

// E5M2Code returns the E5M2 nearest to x, ties to even; an x that is too large becomes infinite, or the
// largest number.
func E5M2Code(x float32, saturate bool) uint8 {
	bits := math.Float32bits(x)
	sign := uint8(bits >> 24 & 0x80)
	if x != x {
		return sign | e5m2NaN
	}
	code := float8Code(bits&0x7fffffff, e5m2Mantissa, e5m2Bias)
	switch {
	case code <= e5m2Max:
		return sign | uint8(code)
	case saturate:
		return sign | e5m2Max
	}
	return sign | e5m2Inf
}

func loadFloat8[T Number](values *[256]float32) func(dst []T, src unsafe.Pointer) {
	return func(dst []T, src unsafe.Pointer) {
		for i, code := range unsafe.Slice((*uint8)(src), len(dst)) {
			dst[i] = T(values[code])
		}
	}
}

// float8Codes holds the code of every float32 whose lower half is 0, by its
// upper half. The formats keep at most 3 of the 7 mantissa bits in there, so a lower
// half that is not 0 matters only as "a little more", which setting the last bit
// expresses just as well.
type float8Codes [1 << 16]uint8

func codesOf(encode func(x float32, saturate bool) uint8) func() *float8Codes {
	return sync.OnceValue(func() *float8Codes {
		codes := new(float8Codes)
		for upper := range codes {
			codes[upper] = encode(math.Float32frombits(uint32(upper)<<16), false)
		}
		return codes
	})
}

var e4m3Codes, e5m2Codes = codesOf(E4M3Code), codesOf(E5M2Code)

// storeFloat8 asks for the codes when it needs them: preparing a matmul for every type must not wait for them.
func storeFloat8[T Number](ask func() *float8Codes) func(dst unsafe.Pointer, src []T) {
	return func(dst unsafe.Pointer, src []T) {
		codes := ask()
		to := unsafe.Slice((*uint8)(dst), len(src))
		for i, x := range src {
			bits := math.Float32bits(float32(x))
			more := (bits&0xffff + 0xffff) >> 16 // 1 unless the lower half is 0
			to[i] = codes[bits>>16|more]
		}
	}
}
