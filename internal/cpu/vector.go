package cpu

import (
	"math"
	"math/bits"
	"unsafe"
)

// Vectors are loops over slices in the instructions of one level. The first slice gives the length; the others must not
// be shorter. A field is nil if the level has no such loop; then the caller's own loop in Go takes its place.
//
// If a loop replaces a function of package math, its error is stated in units in the last place of the
// result (ULP), as tested over all float32.
type Vectors[T float32 | float64] struct {
	Add, Sub, Mul, Div                       func(dst, x, y []T)
	Neg, Abs, Square, Reciprocal, Sqrt, Relu func(dst, x []T)
	Rsqrt                                    func(dst, x []T) // 1/√x, 1.6 ULP
	Floor, Ceil, Trunc, Round                func(dst, x []T) // Round: to the nearest, ties to even

	Maximum, Minimum func(dst, x, y []T)                  // NaN if either is; +0 is larger than -0
	Clamp            func(dst, x []T, low, high T)        // high wins where it is below low; bounds must be numbers
	Sign             func(dst, x []T)                     // -1, 0 or 1; 0 for NaN
	Cube             func(dst, x []T)                     // x²·x
	Lerp             func(dst, x, y, z []T)               // x + (y - x)·z where |z| is less than a half, y - (y - x)·(1 - z) elsewhere
	Replace          func(dst, x []T, nan, plus, minus T) // in place of NaN, +Inf and -Inf

	// Only for float32: int32 in the places of numbers, and x mod y with the sign of x, or of y for a remainder.
	AddInts, SubInts, MulInts func(dst, x, y []T)
	EqualInts, LessInts       func(dst, x, y []T) // 1 and 0, as numbers
	MaxInts, MinInts          func(dst, x, y []T)
	AndInts, OrInts, XorInts  func(dst, x, y []T)
	NegInts, AbsInts          func(dst, x []T)
	SignInts, NotInts         func(dst, x []T)
	ClampInts                 func(dst, x []T, low, high T) // high wins
	HighestInts               func(x []T) T                 // of nothing: not the least
	SumShorts                 func(x []T) T                 // of two in each place; the sum has 32 bits
	LowestInts                func(x []T) T                 // the same of every bit inverted
	Cut                       func(dst, x []T)              // to int32; the fraction is cut; MinInt32 where there is none
	FromInts                  func(dst, x []T)
	SumLow, SumHigh           func(x []T) T       // Σ of the lower 16 bits of int32, or of the upper ones and the sign, as int32
	FmodNear, RemainderNear   func(dst, x, y []T) // NaN where |x/y| ≥ 2²³, too
	QuotientInts, FloorInts   func(dst, x, y []T) // int32 divided, with the fraction cut and rounded down, where y is not 0
	RestInts, ModInts         func(dst, x, y []T) // what is left of either

	Equal, Differ, Less, AtMost func(dst, x, y []T) // 1 where that is so, 0 elsewhere
	Pass                        func(dst, x, y []T) // x where y is not 0, 0 elsewhere
	Infinite, Finite            func(dst, x []T)    // 1 where that is so, 0 elsewhere

	Fill  func(dst []T, x T)
	Leaky func(dst, x []T, slope T) // x where it is above 0, x·slope elsewhere
	Elu   func(dst, x []T, by T)    // x where it is above 0, (eˣ-1)·by elsewhere; only for float32

	// Rounded at each step, in this order:
	Forth       func(dst, x, y []T, by T)         // x + (y - x)·by
	Back        func(dst, x, y []T, by T)         // y - (y - x)·by
	AddProduct  func(dst, x, y, z []T, by T)      // x + y·by·z
	AddQuotient func(dst, x, y, z []T, by T)      // x + y/z·by
	AddSquares  func(dst, w, x, y, z []T, less T) // dst + (w - less)² + (x - less)² + (y - less)² + (z - less)²

	MulFour          func(dst, w, x, y, z []T) // the product of dst and these, rounded after each
	MinFour, MaxFour func(dst, w, x, y, z []T) // the smallest and the largest of these and dst; NaN if one is

	Plus   func(dst, x []T, by T)          // x + by
	Scale  func(dst, x []T, by T)          // x·by
	Affine func(dst, x []T, less, times T) // (x - less)·times

	// By fused multiply-adds, in this order:
	AddScaled func(dst, x []T, by T)                  // dst + x·by
	AddFour   func(dst, w, x, y, z []T, a, b, c, d T) // dst + w·a + x·b + y·c + z·d

	Normalize func(dst, x, y, z []T, less, times T)     // (x - less)·times·y + z
	LessTimes func(dst, x, y []T, less, share, times T) // (x - less - y·share)·times

	// Steps of optimizers, in one pass through their memory, with d = sign·g + decay·x:
	//
	//	Descend         x -= lr·d
	//	Momentum        buffer = momentum·buffer + rate·d;  x -= lr·buffer
	//	Nesterov        the same buffer;  x -= lr·(d + ahead·buffer)
	//	Adagrad         sum += d²;  x -= lr·d/(√sum + eps)
	//	AdagradInside   sum += (sign·g)²;  x -= lr·sign·g/√(sum + eps)
	//	Rmsprop         squares = alpha·squares + rest·d²;  x -= lr·d/(√squares + eps)
	//	RmspropMomentum buffer = momentum·buffer + what lr multiplies in Rmsprop;  x -= lr·buffer
	//	RmspropCentered mean = alpha·mean + rest·d, and squares - mean² in place of squares under the root
	//	Adam            m = b1·m + r1·d;  v = b2·v + r2·d²;  x = keep·x - m/((√v + floor)·times)
	//	Amsgrad         largest = max(largest, v), which takes the place of v under the root
	Descend                 func(x, g []T, lr, decay, sign T)
	Momentum                func(x, g, buffer []T, lr, decay, sign, momentum, rate T)
	Nesterov                func(x, g, buffer []T, lr, decay, sign, momentum, rate, ahead T)
	Adagrad                 func(x, g, sum []T, lr, decay, sign, eps T)
	AdagradInside           func(x, g, sum []T, lr, sign, eps T)
	Rmsprop                 func(x, g, squares []T, lr, decay, sign, eps, alpha, rest T)
	RmspropMomentum         func(x, g, squares, buffer []T, lr, decay, sign, eps, alpha, rest, momentum T)
	RmspropCentered         func(x, g, squares, mean []T, lr, decay, sign, eps, alpha, rest T)
	RmspropCenteredMomentum func(x, g, squares, mean, buffer []T, lr, decay, sign, eps, alpha, rest, momentum T)
	Adam                    func(x, g, m, v []T, decay, sign, b1, r1, b2, r2, keep, floor, times T)
	Amsgrad                 func(x, g, m, v, largest []T, decay, sign, b1, r1, b2, r2, keep, floor, times T)

	// Sums are made in SumLanes lanes, to which the elements are dealt out in turn; then the upper half of the lanes
	// is added to the lower half until one is left.
	Sum     func(x []T) T         // Σ x
	Product func(x []T) T         // Π x, in the same lanes
	Dot     func(x, y []T) T      // Σ x·y
	Squares func(x []T, less T) T // Σ (x - less)²
	Largest func(x []T) T         // -Inf of nothing; NaN may be skipped
	Highest func(x []T) T         // the same, but NaN counts as +Inf; a zero may have either sign
	Lowest  func(x []T) T         // that of -x
	Widest  func(x []T) T         // that of |x|

	Exp      func(dst, x []T)               // eˣ, 1.1 ULP
	ExpSum   func(dst, x []T, less T) (s T) // eˣ⁻ˡᵉˢˢ and its sum
	Expm1    func(dst, x []T)               // eˣ-1, 2 ULP
	Log      func(dst, x []T)               // ln x, 1 ULP
	Log2     func(dst, x []T)               // 2 ULP
	Log1p    func(dst, x []T)               // ln(1+x), 1.2 ULP
	Sin, Cos func(dst, x []T)               // 2 ULP
	Tanh     func(dst, x []T)               // 2 ULP
	Sigmoid  func(dst, x []T)               // 1/(1+e⁻ˣ), 3.2 ULP
	Silu     func(dst, x []T)               // x/(1+e⁻ˣ), 4 ULP, and -0 for -Inf
	Erf      func(dst, x []T)               // 3 ULP
	Gelu     func(dst, x []T)               // x·Φ(x), 7 ULP, and -0 for -Inf
	GeluTanh func(dst, x []T)               // see tensor.GELUTanh

	// Only for float64: 64-bit integers in the places of numbers.
	AndBits, OrBits, XorBits func(dst, x, y []T)
	XorBitsOf                func(dst, x []T, with T)
	Outside                  func(x []T, last T) T // the first bit is set if one is negative or more than last
	Shifted                  func(x []T, by T) T   // the bits that are set in one of x + by

	AddWhole, SubWhole, MaxWhole, MinWhole func(dst, x, y []T)
	SumBytes                               func(x []T, turn T) T       // of eight in each place, whose bits are flipped
	MaxBytes, MaxShorts                    func(dst, x, y []T, turn T) // of eight or four in each place, whose bits are flipped
	HighestBytes, HighestShorts            func(x []T, turn T) T       // of a multiple of 8 places; its bits stay flipped
	EqualWhole, LessWhole                  func(dst, x, y []T)         // 1 and 0, as integers
	NegWhole, AbsWhole, SignWhole          func(dst, x []T)
	ClampWhole                             func(dst, x []T, low, high T) // high wins
	SumWhole                               func(x []T) T

	// If [Near] is true for all: quotients, truncated and rounded down, the remainder of either, and
	// conversions from and to numbers, whose fractions are dropped.
	QuotientNear, FloorNear, RestNear, ModNear func(dst, x, y []T)
	FromNear, ToNear                           func(dst, x []T)

	// Only for float64, for random numbers: 64-bit integers in the places of numbers. Philox computes a block of 128
	// bits for each x, to which first is added: the first half goes to a, the second to b. Normals makes two normal
	// numbers from these halves; Uniforms and Uniforms24 make numbers from 0 to 1 from the first 53 or 24 bits, scaled
	// and shifted. NormalPairs is Philox and Normals in one: it puts two float32 into the place of each of pairs.
	Philox               func(a, b, x []T, key0, key1, stream0, stream1, first T)
	Normals              func(x, y, a, b []T, add, times T)
	NormalPairs          func(pairs, x []T, key0, key1, stream0, stream1, first, add, times T)
	Uniforms, Uniforms24 func(dst, x []T, add, times T)

	// What Sin and Cos are made of: NaN where |x| ≥ 2¹⁷.
	SinNear, CosNear func(dst, x []T)
}

func init() {
	for i := range vectorsF32 {
		if v := &vectorsF32[i]; v.SinNear != nil {
			v.Sin = nearAndFar(v.SinNear, v.Sum, math.Sin)
			v.Cos = nearAndFar(v.CosNear, v.Sum, math.Cos)
		}
	}
}

// nearAndFar combines two functions: one that gives NaN for large numbers, and one for those.
func nearAndFar(near func(dst, x []float32), sum func(x []float32) float32, far func(float64) float64) func(dst, x []float32) {
	const part = 1024
	return func(dst, x []float32) {
		var saved [part]float32
		for len(dst) > 0 {
			n := min(part, len(dst))
			from := x[:n]
			if &dst[0] == &x[0] {
				from = saved[:copy(saved[:], from)]
			}
			near(dst[:n], x[:n])
			if s := sum(dst[:n]); s != s {
				for i, v := range dst[:n] {
					if v != v {
						dst[i] = float32(far(float64(from[i])))
					}
				}
			}
			dst, x = dst[n:], x[n:]
		}
	}
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

// Transpose transposes a matrix with the given numbers of rows and columns, in words of 4 or 8 bytes:
// word j of row i goes to word i of row j of dst. Strides of both are in words. It returns how many rows
// it did, in whole vectors; the caller does the rest.
func Transpose[T uint32 | uint64](dst []T, dstStride int, src []T, srcStride, rows, columns int) (done int) {
	size := int(unsafe.Sizeof(T(0)))
	done = rows &^ (32/size - 1)
	if level != AVX2 && level != AVX512 || columns < 32/size || done == 0 {
		return 0
	}
	_, _ = dst[(columns-1)*dstStride+done-1], src[(done-1)*srcStride+columns-1]
	transpose(unsafe.Pointer(&dst[0]), dstStride, unsafe.Pointer(&src[0]), srcStride*size, done, columns, size)
	return done
}

// Reverse returns the loop of the chosen level that writes words in reverse order, nil if it
// has none. dst must not be x.
func Reverse() func(dst, x []uint32) { return reverseAt(level) }

// SortedRun is the length of the runs in which words are sorted.
const SortedRun = 32

// Sorting returns two loops over words that, as float64, are positive and finite, nil where the chosen level has none:
// one that sorts each run of SortedRun words in a number of whole runs, and one that merges x and y, both in order and
// with a multiple of 8 words.
func Sorting() (runs func(words []uint64), merge func(dst, x, y []uint64)) { return sortingAt(level) }

// Search writes how many of the sorted words are less than each key to out, which has as many elements as keys. Each
// step of a search halves what is left, and no branch has to be predicted.
func Search(out []int64, sorted, keys []uint64) { search(out[:len(keys)], sorted, keys) }

func searchEach(out []int64, sorted, keys []uint64) {
	for i, key := range keys {
		at := 0
		for n := len(sorted); n > 0; {
			half := (n + 1) / 2
			_, less := bits.Sub64(sorted[at+half-1], key, 0)
			at += half & -int(less)
			n -= half
		}
		out[i] = int64(at)
	}
}

// WhereSet writes the numbers of the bools in x that are true, stored as 0 and 1 and counted from first, and returns
// how many there are. dst has room for all of them, and nothing is written past its end.
func WhereSet(dst []int64, x []uint8, first int) (n int) { return whereSetAt(dst, x, first) }

func whereSetEach(dst []int64, x []uint8, first int) (n int) {
	for i, set := range x {
		if n == len(dst) {
			break
		}
		dst[n] = int64(first + i)
		n += int(set & 1) // one more is written than stays, and no branch has to be predicted
	}
	return n
}

// Near reports whether all of x are from -2⁵⁰ to 2⁵⁰-1, where the loops of [Vectors] with Near in their names are
// right. It is for levels that have these.
func Near(x []int64) bool {
	bits := Float64s().Shifted(unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)), math.Float64frombits(1<<50))
	return math.Float64bits(bits)>>51 == 0
}

// Conversions are loops between float32 and formats of 8 and 16 bits in memory; nil if the level has none.
type Conversions struct {
	FromBFloat16, FromFloat16 func(dst []float32, src unsafe.Pointer)
	ToBFloat16, ToFloat16     func(dst unsafe.Pointer, src []float32)

	FromUint8          func(dst []float32, src unsafe.Pointer) // also of bools
	FromE4M3, FromE5M2 func(dst []float32, src unsafe.Pointer) // see tensor.Float8E4M3
	ToE4M3, ToE5M2     func(dst unsafe.Pointer, src []float32) // numbers that are too large become NaN or infinite
	ToBool             func(dst unsafe.Pointer, src []float32) // 1 for numbers that are not 0

	// Of int64:
	WholeToFloat32, WholeToInt32, WholeToBool       func(dst unsafe.Pointer, src []int64) // to float32: where [Near] is true
	WholeFromFloat32, WholeFromInt32, WholeFromByte func(dst []int64, src unsafe.Pointer) // from float32: below 2⁵⁰

	// Of float64:
	DoubleFromFloat32, DoubleFromInt32 func(dst []float64, src unsafe.Pointer)
	DoubleToFloat32                    func(dst unsafe.Pointer, src []float64)
}

// Ramp returns the chosen level's loop for (x + first)·step + start, rounded at each step, nil if it has none.
func Ramp() func(dst []float32, x []float64, start, step, first float64) { return rampAt(level) }

// Powers returns the chosen level's loop for x to the power of y, nil if it has none: NaN unless x is positive and
// finite and |y| is at most 2²⁰; 0.51 ULP.
func Powers() func(dst, x, y []float32) { return powersAt(level) }
