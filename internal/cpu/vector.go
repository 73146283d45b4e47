package cpu

import "unsafe"

// Vectors are loops over slices in the instructions of one level. The first slice gives the length; the others must not
// be shorter. A field is nil where the level has no such loop, and the caller's own loop in Go takes its place.
//
// Where a loop stands for a function of package math, its error is stated in units in the last place of the result (ULP),
// as tested over all float32.
type Vectors[T float32 | float64] struct {
	Add, Sub, Mul, Div                       func(dst, x, y []T)
	Neg, Abs, Square, Reciprocal, Sqrt, Relu func(dst, x []T)
	Rsqrt                                    func(dst, x []T) // 1/√x, 1.6 ULP

	Scale  func(dst, x []T, by T)          // x·by
	Affine func(dst, x []T, less, times T) // (x - less)·times

	// Adam does a step of the optimizer, one pass through its memory, with d = sign·g + decay·x:
	//
	//	m = b1·m + r1·d;  v = b2·v + r2·d²;  x = keep·x - m/((√v + floor)·times)
	Adam func(x, g, m, v []T, b1, r1, b2, r2, floor, times, keep, sign, decay T)

	// Sums are made in SumLanes lanes, to which the elements are dealt out in turn; then lanes of the upper half are joined to
	// those of the lower half until one is left.
	Sum     func(x []T) T         // Σ x
	Dot     func(x, y []T) T      // Σ x·y
	Squares func(x []T, less T) T // Σ (x - less)²
	Largest func(x []T) T         // -Inf of nothing; NaN may be passed over

	Exp      func(dst, x []T)               // eˣ, 1.1 ULP
	ExpSum   func(dst, x []T, less T) (s T) // eˣ⁻ˡᵉˢˢ and its sum
	Tanh     func(dst, x []T)               // 2 ULP
	Sigmoid  func(dst, x []T)               // 1/(1+e⁻ˣ), 3 ULP
	Silu     func(dst, x []T)               // x/(1+e⁻ˣ), 3.5 ULP, and -0 for -Inf
	Erf      func(dst, x []T)               // 3 ULP
	Gelu     func(dst, x []T)               // x·Φ(x), 8 ULP, and -0 for -Inf
	GeluTanh func(dst, x []T)               // see tensor.GELUTanh
}

// SumLanes is the number of lanes of a sum, at every level.
const SumLanes = 32

// Float32s returns the loops over float32 of the chosen level.
func Float32s() *Vectors[float32] { return vectorsOf(vectorsF32[:]) }

// Float64s returns the loops over float64 of the chosen level.
func Float64s() *Vectors[float64] { return vectorsOf(vectorsF64[:]) }

func vectorsOf[T float32 | float64](all []Vectors[T]) *Vectors[T] {
	if int(level) < len(all) {
		return &all[level]
	}
	return new(Vectors[T])
}

// Conversions are loops between float32 and formats of 16 bits in memory; nil where the level has none.
type Conversions struct {
	FromBFloat16, FromFloat16 func(dst []float32, src unsafe.Pointer)
	ToBFloat16, ToFloat16     func(dst unsafe.Pointer, src []float32)
}
