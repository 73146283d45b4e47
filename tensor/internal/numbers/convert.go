// Package numbers has the codes of the small floats, and loops that convert stored
// elements to the types that are computed in, and back.
package numbers

import (
	"strconv"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/device"
)

// Number is a type that elements are computed in.
type Number interface{ float32 | float64 | int64 }

// vectors are loops in vector instructions; those that the processor lacks are nil.
var vectors = cpu.Float32s()

// toInt32 is storeInteger in vector instructions, for numbers that fit.
func toInt32(dst unsafe.Pointer, src []float32) {
	if vectors.Widest(src) < 1<<31 {
		vectors.Cut(unsafe.Slice((*float32)(dst), len(src)), src)
		return
	}
	storeInteger[int32](dst, src)
}

// converters are loops in vector instructions, nil where the processor has none.
var converters = cpu.Converters()

// IsNative reports whether elements of d are stored as T.
func IsNative[T Number](d device.Type) bool {
	var zero T
	switch any(zero).(type) {
	case float32:
		return d == device.Float32
	case float64:
		return d == device.Float64
	default:
		return d == device.Int64
	}
}

// Loader returns the function that converts stored elements of d to T.
func Loader[T Number](d device.Type) func(dst []T, src unsafe.Pointer) {
	if f, ok := any(vectorLoader(d)).(func(dst []T, src unsafe.Pointer)); ok && f != nil {
		return f
	}
	if f, ok := any(wholeLoader(d)).(func(dst []T, src unsafe.Pointer)); ok && f != nil {
		return f
	}
	if f, ok := any(doubleLoader(d)).(func(dst []T, src unsafe.Pointer)); ok && f != nil {
		return f
	}
	switch d {
	case device.Float32:
		return load[T, float32]
	case device.Float64:
		return load[T, float64]
	case device.Int64:
		return load[T, int64]
	case device.Int32:
		return load[T, int32]
	case device.Int16:
		return load[T, int16]
	case device.Int8:
		return load[T, int8]
	case device.Uint8, device.Bool:
		return load[T, uint8]
	case device.Float16:
		return loadFloat16[T]
	case device.BFloat16:
		return loadBFloat16[T]
	case device.Float8E4M3:
		return loadFloat8[T](&E4M3Values)
	case device.Float8E5M2:
		return loadFloat8[T](&E5M2Values)
	}
	panic("tensor: no conversion from type " + strconv.Itoa(int(d)))
}

// Storer returns the function that converts T to stored elements of d. Small
// floats are reached through float32, as in PyTorch.
func Storer[T Number](d device.Type) func(dst unsafe.Pointer, src []T) {
	if f, ok := any(vectorStorer(d)).(func(dst unsafe.Pointer, src []T)); ok && f != nil {
		return f
	}
	if f, ok := any(wholeStorer(d)).(func(dst unsafe.Pointer, src []T)); ok && f != nil {
		return f
	}
	if f, ok := any(doubleStorer(d)).(func(dst unsafe.Pointer, src []T)); ok && f != nil {
		return f
	}
	switch d {
	case device.Float32:
		return store[float32, T]
	case device.Float64:
		return store[float64, T]
	case device.Int64:
		return store[int64, T]
	case device.Int32:
		return storeInteger[int32, T]
	case device.Int16:
		return storeInteger[int16, T]
	case device.Int8:
		return storeInteger[int8, T]
	case device.Uint8:
		return storeInteger[uint8, T]
	case device.Bool:
		return storeBool[T]
	case device.Float16:
		return storeFloat16[T]
	case device.BFloat16:
		return storeBFloat16[T]
	case device.Float8E4M3:
		return storeFloat8[T](e4m3Codes)
	case device.Float8E5M2:
		return storeFloat8[T](e5m2Codes)
	}
	panic("tensor: no conversion to type " + strconv.Itoa(int(d)))
}

func load[T Number, S Number | int32 | int16 | int8 | uint8](dst []T, src unsafe.Pointer) {
	from := unsafe.Slice((*S)(src), len(dst))
	for i := range dst {
		dst[i] = T(from[i])
	}
}

func store[S Number, T Number](dst unsafe.Pointer, src []T) {
	to := unsafe.Slice((*S)(dst), len(src))
	for i := range src {
		to[i] = S(src[i])
	}
}

// storeInteger keeps the low bits of a number that is too large, as a cast in C does;
// fractions are dropped.
func storeInteger[S int32 | int16 | int8 | uint8, T Number](dst unsafe.Pointer, src []T) {
	to := unsafe.Slice((*S)(dst), len(src))
	for i := range src {
		to[i] = S(int64(src[i]))
	}
}

// storeBool stores whether a number differs from zero; NaN does.
func storeBool[T Number](dst unsafe.Pointer, src []T) {
	to := unsafe.Slice((*uint8)(dst), len(src))
	for i := range src {
		var one uint8 // without a branch, as which are set can't be predicted
		if src[i] != 0 {
			one = 1
		}
		to[i] = one
	}
}

// wholeLoader is vectorLoader to int64.
func wholeLoader(d device.Type) func(dst []int64, src unsafe.Pointer) {
	switch d {
	case device.Int32:
		return converters.WholeFromInt32
	case device.Uint8, device.Bool:
		return converters.WholeFromByte
	case device.Float32:
		if converters.WholeFromFloat32 != nil {
			return func(dst []int64, src unsafe.Pointer) {
				float32ToWhole(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Slice((*float32)(src), len(dst)))
			}
		}
	}
	return nil
}

// wholeStorer is the inverse of wholeLoader.
func wholeStorer(d device.Type) func(dst unsafe.Pointer, src []int64) {
	switch d {
	case device.Int32:
		return converters.WholeToInt32
	case device.Bool:
		return converters.WholeToBool
	case device.Float32:
		if converters.WholeToFloat32 != nil {
			return wholeToFloat32
		}
	}
	return nil
}

// doubleLoader is vectorLoader to float64.
func doubleLoader(d device.Type) func(dst []float64, src unsafe.Pointer) {
	switch d {
	case device.Float32:
		return converters.DoubleFromFloat32
	case device.Int32:
		return converters.DoubleFromInt32
	}
	return nil
}

// doubleStorer is the inverse of doubleLoader.
func doubleStorer(d device.Type) func(dst unsafe.Pointer, src []float64) {
	if d == device.Float32 {
		return converters.DoubleToFloat32
	}
	return nil
}

// wholeToFloat32 stores with vector instructions, for numbers that they convert correctly.
func wholeToFloat32(dst unsafe.Pointer, src []int64) {
	if cpu.Near(src) {
		converters.WholeToFloat32(dst, src)
		return
	}
	store[float32](dst, src)
}

// float32ToWhole is the inverse of wholeToFloat32.
func float32ToWhole(dst unsafe.Pointer, src []float32) {
	if vectors.Widest(src) < 1<<50 {
		converters.WholeFromFloat32(unsafe.Slice((*int64)(dst), len(src)), unsafe.Pointer(unsafe.SliceData(src)))
		return
	}
	store[int64](dst, src)
}

// vectorLoader returns the vector loop that converts stored elements of d to
// float32, nil if there is none.
func vectorLoader(d device.Type) func(dst []float32, src unsafe.Pointer) {
	switch d {
	case device.Float16:
		return converters.FromFloat16
	case device.BFloat16:
		return converters.FromBFloat16
	case device.Float8E4M3:
		return converters.FromE4M3
	case device.Float8E5M2:
		return converters.FromE5M2
	case device.Uint8, device.Bool:
		return converters.FromUint8
	case device.Int32:
		if vectors.FromInts != nil {
			return func(dst []float32, src unsafe.Pointer) {
				vectors.FromInts(dst, unsafe.Slice((*float32)(src), len(dst)))
			}
		}
	}
	return nil
}

// vectorStorer is the inverse of vectorLoader.
func vectorStorer(d device.Type) func(dst unsafe.Pointer, src []float32) {
	switch d {
	case device.Float16:
		return converters.ToFloat16
	case device.BFloat16:
		return converters.ToBFloat16
	case device.Float8E4M3:
		return converters.ToE4M3
	case device.Float8E5M2:
		return converters.ToE5M2
	case device.Bool:
		return converters.ToBool
	case device.Int32:
		if vectors.Cut != nil {
			return toInt32
		}
	case device.Int64:
		if converters.WholeFromFloat32 != nil {
			return float32ToWhole
		}
	}
	return nil
}
