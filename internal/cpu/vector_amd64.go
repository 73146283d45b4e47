package cpu

import "unsafe"

// Converters returns the conversions of the chosen level.
func Converters() Conversions {
	switch level {
	case AVX512:
		return Conversions{
			FromBFloat16: widening(fromBFloat16F32AVX512, 1), FromFloat16: widening(fromFloat16F32AVX512, 1),
			ToBFloat16: narrowing(toBFloat16F32AVX512, 1), ToFloat16: narrowing(toFloat16F32AVX512, 1),
			FromUint8: widening(fromUint8F32AVX512, 1), ToBool: narrowing(toBoolF32AVX512, 1),
			FromE4M3: widening(fromE4M3F32AVX512, 1), FromE5M2: widening(fromE5M2F32AVX512, 1),
			WholeToFloat32: fromWhole(wholeToF32F64AVX512, 1), WholeToInt32: fromWhole(wholeToIntsF64AVX512, 1), WholeToBool: fromWhole(wholeToBoolF64AVX512, 1),
			WholeFromFloat32: toWhole(f32ToWholeF64AVX512, 1), WholeFromInt32: toWhole(intsToWholeF64AVX512, 1), WholeFromByte: toWhole(bytesToWholeF64AVX512, 1),
		}
	case AVX2:
		return Conversions{
			FromBFloat16: widening(fromBFloat16F32AVX2, 8), FromFloat16: widening(fromFloat16F32AVX2, 8),
			ToBFloat16: narrowing(toBFloat16F32AVX2, 8), ToFloat16: narrowing(toFloat16F32AVX2, 8),
			FromUint8: widening(fromUint8F32AVX2, 8), ToBool: narrowing(toBoolF32AVX2, 8),
			FromE4M3: widening(fromE4M3F32AVX2, 8), FromE5M2: widening(fromE5M2F32AVX2, 8),
			WholeToFloat32: fromWhole(wholeToF32F64AVX2, 8), WholeToInt32: fromWhole(wholeToIntsF64AVX2, 8), WholeToBool: fromWhole(wholeToBoolF64AVX2, 8),
			WholeFromFloat32: toWhole(f32ToWholeF64AVX2, 8), WholeFromInt32: toWhole(intsToWholeF64AVX2, 8), WholeFromByte: toWhole(bytesToWholeF64AVX2, 8),
		}
	}
	return Conversions{}
}

// widening runs a kernel over whole units, and over what is left by way of a copy as long as a unit.
func widening[S uint8 | uint16](kernel func(dst *float32, src *S, n int), unit int) func(dst []float32, src unsafe.Pointer) {
	return func(dst []float32, src unsafe.Pointer) {
		n := len(dst) / unit * unit
		if n > 0 {
			kernel(&dst[0], (*S)(src), n)
		}
		if n == len(dst) {
			return
		}
		var from [8]S
		var to [8]float32
		copy(from[:], unsafe.Slice((*S)(src), len(dst))[n:])
		kernel(&to[0], &from[0], unit)
		copy(dst[n:], to[:])
	}
}

func narrowing[S uint8 | uint16](kernel func(dst *S, src *float32, n int), unit int) func(dst unsafe.Pointer, src []float32) {
	return func(dst unsafe.Pointer, src []float32) {
		n := len(src) / unit * unit
		if n > 0 {
			kernel((*S)(dst), &src[0], n)
		}
		if n == len(src) {
			return
		}
		var from [8]float32
		var to [8]S
		copy(from[:], src[n:])
		kernel(&to[0], &from[0], unit)
		copy(unsafe.Slice((*S)(dst), len(src))[n:], to[:])
	}
}

// toWhole is widening to int64, in the places of float64.
func toWhole[S uint8 | float32](kernel func(dst *float64, src *S, n int), unit int) func(dst []int64, src unsafe.Pointer) {
	return func(dst []int64, src unsafe.Pointer) {
		n := len(dst) / unit * unit
		if n > 0 {
			kernel((*float64)(unsafe.Pointer(&dst[0])), (*S)(src), n)
		}
		if n == len(dst) {
			return
		}
		var from [8]S
		var to [8]int64
		copy(from[:], unsafe.Slice((*S)(src), len(dst))[n:])
		kernel((*float64)(unsafe.Pointer(&to[0])), &from[0], unit)
		copy(dst[n:], to[:])
	}
}

// fromWhole is narrowing of int64, in the places of float64.
func fromWhole[S uint8 | float32](kernel func(dst *S, src *float64, n int), unit int) func(dst unsafe.Pointer, src []int64) {
	return func(dst unsafe.Pointer, src []int64) {
		n := len(src) / unit * unit
		if n > 0 {
			kernel((*S)(dst), (*float64)(unsafe.Pointer(&src[0])), n)
		}
		if n == len(src) {
			return
		}
		var from [8]int64
		var to [8]S
		copy(from[:], src[n:])
		kernel(&to[0], (*float64)(unsafe.Pointer(&from[0])), unit)
		copy(unsafe.Slice((*S)(dst), len(src))[n:], to[:])
	}
}

func powersAt(level Level) func(dst, x, y []float32) {
	switch level {
	case AVX512:
		return func(dst, x, y []float32) {
			if len(dst) > 0 {
				powersF64AVX512(&dst[0], &x[:len(dst)][0], &y[:len(dst)][0], len(dst))
			}
		}
	case AVX2:
		return func(dst, x, y []float32) {
			n := len(dst) &^ 7
			if n > 0 {
				powersF64AVX2(&dst[0], &x[:n][0], &y[:n][0], n)
			}
			var few [3][8]float32
			copy(few[1][:], x[n:len(dst)])
			copy(few[2][:], y[n:len(dst)])
			powersF64AVX2(&few[0][0], &few[1][0], &few[2][0], 8)
			copy(dst[n:], few[0][:])
		}
	}
	return nil
}

func reverseAt(level Level) func(dst, x []uint32) {
	if level != AVX2 && level != AVX512 {
		return nil
	}
	return func(dst, x []uint32) {
		x = x[:len(dst)]
		n := len(dst) &^ 7
		if n > 0 {
			reverseWords(&dst[0], &x[len(x)-n], n)
		}
		for i := n; i < len(dst); i++ {
			dst[i] = x[len(x)-1-i]
		}
	}
}
