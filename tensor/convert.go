package tensor

import "unsafe"

// isNative reports whether elements of d are stored as T.
func isNative[T number](d Dtype) bool {
	var zero T
	switch any(zero).(type) {
	case float32:
		return d == Float32
	case float64:
		return d == Float64
	default:
		return d == Int64
	}
}

// loader returns the function that converts stored elements of d to T.
func loader[T number](d Dtype) func(dst []T, src unsafe.Pointer) {
	if f, ok := any(vectorLoader(d)).(func(dst []T, src unsafe.Pointer)); ok && f != nil {
		return f
	}
	switch d {
	case Float32:
		return load[T, float32]
	case Float64:
		return load[T, float64]
	case Int64:
		return load[T, int64]
	case Int32:
		return load[T, int32]
	case Int16:
		return load[T, int16]
	case Int8:
		return load[T, int8]
	case Uint8, Bool:
		return load[T, uint8]
	case Float16:
		return loadFloat16[T]
	case BFloat16:
		return loadBFloat16[T]
	case Float8E4M3:
		return loadFloat8[T](&e4m3Values)
	case Float8E5M2:
		return loadFloat8[T](&e5m2Values)
	}
	panic("tensor: no conversion from " + d.String())
}

// storer returns the function that converts T to stored elements of d. Small
// floats are reached through float32, as in PyTorch.
func storer[T number](d Dtype) func(dst unsafe.Pointer, src []T) {
	if f, ok := any(vectorStorer(d)).(func(dst unsafe.Pointer, src []T)); ok && f != nil {
		return f
	}
	switch d {
	case Float32:
		return store[float32, T]
	case Float64:
		return store[float64, T]
	case Int64:
		return store[int64, T]
	case Int32:
		return storeInteger[int32, T]
	case Int16:
		return storeInteger[int16, T]
	case Int8:
		return storeInteger[int8, T]
	case Uint8:
		return storeInteger[uint8, T]
	case Bool:
		return storeBool[T]
	case Float16:
		return storeFloat16[T]
	case BFloat16:
		return storeBFloat16[T]
	case Float8E4M3:
		return storeFloat8[T](e4m3Codes())
	case Float8E5M2:
		return storeFloat8[T](e5m2Codes())
	}
	panic("tensor: no conversion to " + d.String())
}

func load[T number, S number | int32 | int16 | int8 | uint8](dst []T, src unsafe.Pointer) {
	from := unsafe.Slice((*S)(src), len(dst))
	for i := range dst {
		dst[i] = T(from[i])
	}
}

func store[S number, T number](dst unsafe.Pointer, src []T) {
	to := unsafe.Slice((*S)(dst), len(src))
	for i := range src {
		to[i] = S(src[i])
	}
}

// storeInteger keeps the low bits of a number that is too large, as a cast in
// C does; fractions are cut.
func storeInteger[S int32 | int16 | int8 | uint8, T number](dst unsafe.Pointer, src []T) {
	to := unsafe.Slice((*S)(dst), len(src))
	for i := range src {
		to[i] = S(int64(src[i]))
	}
}

// storeBool stores whether a number differs from zero; NaN does.
func storeBool[T number](dst unsafe.Pointer, src []T) {
	to := unsafe.Slice((*uint8)(dst), len(src))
	for i := range src {
		to[i] = 0
		if src[i] != 0 {
			to[i] = 1
		}
	}
}
