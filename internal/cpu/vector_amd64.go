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
			ToE4M3: narrowing(toE4M3F32AVX512, 1), ToE5M2: narrowing(toE5M2F32AVX512, 1),
			DoubleFromFloat32: widening(f32ToF64F64AVX512, 1), DoubleFromInt32: widening(intsToF64F64AVX512, 1), DoubleToFloat32: narrowing(f64ToF32F64AVX512, 1),
			WholeToFloat32: fromWhole(wholeToF32F64AVX512, 1), WholeToInt32: fromWhole(wholeToIntsF64AVX512, 1), WholeToBool: fromWhole(wholeToBoolF64AVX512, 1),
			WholeFromFloat32: toWhole(f32ToWholeF64AVX512, 1), WholeFromInt32: toWhole(intsToWholeF64AVX512, 1), WholeFromByte: toWhole(bytesToWholeF64AVX512, 1),
		}
	case AVX2:
		return Conversions{
			FromBFloat16: widening(fromBFloat16F32AVX2, 8), FromFloat16: widening(fromFloat16F32AVX2, 8),
			ToBFloat16: narrowing(toBFloat16F32AVX2, 8), ToFloat16: narrowing(toFloat16F32AVX2, 8),
			FromUint8: widening(fromUint8F32AVX2, 8), ToBool: narrowing(toBoolF32AVX2, 8),
			FromE4M3: widening(fromE4M3F32AVX2, 8), FromE5M2: widening(fromE5M2F32AVX2, 8),
			ToE4M3: narrowing(toE4M3F32AVX2, 8), ToE5M2: narrowing(toE5M2F32AVX2, 8),
			DoubleFromFloat32: widening(f32ToF64F64AVX2, 8), DoubleFromInt32: widening(intsToF64F64AVX2, 8), DoubleToFloat32: narrowing(f64ToF32F64AVX2, 8),
			WholeToFloat32: fromWhole(wholeToF32F64AVX2, 8), WholeToInt32: fromWhole(wholeToIntsF64AVX2, 8), WholeToBool: fromWhole(wholeToBoolF64AVX2, 8),
			WholeFromFloat32: toWhole(f32ToWholeF64AVX2, 8), WholeFromInt32: toWhole(intsToWholeF64AVX2, 8), WholeFromByte: toWhole(bytesToWholeF64AVX2, 8),
		}
	}
	return Conversions{}
}

// widening runs a kernel over whole units, and over the rest through a copy as long as a unit.
func widening[D, S any](kernel func(dst *D, src *S, n int), unit int) func(dst []D, src unsafe.Pointer) {
	return func(dst []D, src unsafe.Pointer) {
		n := len(dst) / unit * unit
		if n > 0 {
			kernel(&dst[0], (*S)(src), n)
		}
		if n == len(dst) {
			return
		}
		var from [8]S
		var to [8]D
		copy(from[:], unsafe.Slice((*S)(src), len(dst))[n:])
		kernel(&to[0], &from[0], unit)
		copy(dst[n:], to[:])
	}
}

func narrowing[D, S any](kernel func(dst *D, src *S, n int), unit int) func(dst unsafe.Pointer, src []S) {
	return func(dst unsafe.Pointer, src []S) {
		n := len(src) / unit * unit
		if n > 0 {
			kernel((*D)(dst), &src[0], n)
		}
		if n == len(src) {
			return
		}
		var from [8]S
		var to [8]D
		copy(from[:], src[n:])
		kernel(&to[0], &from[0], unit)
		copy(unsafe.Slice((*D)(dst), len(src))[n:], to[:])
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

func init() {
	v := &vectorsF32[AVX2]
	v.QuotientInts, v.FloorInts = inUnits(quotientIntsF64AVX2, 8), inUnits(floorIntsF64AVX2, 8)
	v.RestInts, v.ModInts = inUnits(restIntsF64AVX2, 8), inUnits(modIntsF64AVX2, 8)
	v = &vectorsF32[AVX512]
	v.QuotientInts, v.FloorInts = inUnits(quotientIntsF64AVX512, 1), inUnits(floorIntsF64AVX512, 1)
	v.RestInts, v.ModInts = inUnits(restIntsF64AVX512, 1), inUnits(modIntsF64AVX512, 1)
}

func powersAt(level Level) func(dst, x, y []float32) {
	switch level {
	case AVX512:
		return inUnits(powersF64AVX512, 1)
	case AVX2:
		return inUnits(powersF64AVX2, 8)
	}
	return nil
}

// inUnits is widening for a kernel of two operands.
func inUnits(kernel func(dst, x, y *float32, n int), unit int) func(dst, x, y []float32) {
	return func(dst, x, y []float32) {
		n := len(dst) / unit * unit
		if n > 0 {
			kernel(&dst[0], &x[:n][0], &y[:n][0], n)
		}
		if n == len(dst) {
			return
		}
		var few [3][8]float32
		copy(few[1][:], x[n:len(dst)])
		copy(few[2][:], y[n:len(dst)])
		kernel(&few[0][0], &few[1][0], &few[2][0], unit)
		copy(dst[n:], few[0][:])
	}
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

func sortingAt(level Level) (runs func(words []uint64), merge func(dst, x, y []uint64)) {
	if level != AVX2 && level != AVX512 {
		return nil, nil
	}
	runs = func(words []uint64) {
		if len(words) > 0 {
			sortRuns(&words[0], len(words)/SortedRun)
		}
	}
	merge = func(dst, x, y []uint64) {
		_ = dst[len(x)+len(y)-1]
		mergeRuns(&dst[0], &x[0], len(x), &y[0], len(y))
	}
	return runs, merge
}

func whereSetAt(dst []int64, x []uint8, first int) (n int) {
	done := 0
	if len(dst) >= 8 && len(x) >= 8 && (level == AVX2 || level == AVX512) {
		var stopped [2]int
		whereSet(&dst[0], len(dst), &x[0], len(x)/8, first, &stopped)
		done, n = stopped[0], stopped[1]
	}
	return n + whereSetEach(dst[n:], x[done:], first+done)
}

func search(out []int64, sorted, keys []uint64) {
	whole := len(keys) &^ 3
	if whole > 0 && len(sorted) > 0 {
		searchWords(&out[0], &sorted[0], len(sorted), &keys[0], whole/4)
		out, keys = out[whole:], keys[whole:]
	}
	searchEach(out, sorted, keys)
}

func rampAt(level Level) func(dst []float32, x []float64, start, step, first float64) {
	kernel, unit := rampF64AVX2, 8
	switch level {
	case AVX512:
		kernel, unit = rampF64AVX512, 1
	case AVX2:
	default:
		return nil
	}
	return func(dst []float32, x []float64, start, step, first float64) {
		params := [...]float64{start, step, first}
		narrowing(func(to *float32, from *float64, n int) { kernel(to, from, n, &params[0]) }, unit)(unsafe.Pointer(unsafe.SliceData(dst)), x[:len(dst)])
	}
}
