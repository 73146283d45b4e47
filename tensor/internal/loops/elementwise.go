package loops

import (
	"math"
	"sync"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// Add computes x + y.
func Add[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

// Sub computes x - y.
func Sub[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] - y[i]
	}
}

// Mul computes x·y.
func Mul[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

// Quotients are the loops of x/y.
var Quotients = BinaryKernels{F32: Vector2(Vectors32.Div, div[float32]), F64: Vector2(Vectors64.Div, div[float64])}

func div[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] / y[i]
	}
}

// PowFloat64 computes x^y.
func PowFloat64(dst, x, y []float64) {
	for i := range dst {
		dst[i] = math.Pow(x[i], y[i])
	}
}

// PowInt64 computes x^y by squaring.
func PowInt64(dst, x, y []int64) {
	for i := range dst {
		power, base := int64(1), x[i]
		for n := y[i]; n > 0; n >>= 1 {
			if n&1 == 1 {
				power *= base
			}
			base *= base
		}
		dst[i] = power
	}
}

// Neg computes -x.
func Neg[T numbers.Number](dst, x []T) {
	for i := range dst {
		dst[i] = -x[i]
	}
}

// Abs computes |x|.
func Abs[T numbers.Number](dst, x []T) {
	for i, v := range x {
		dst[i] = max(v, -v)
	}
}

// Sign is -1, 0 or 1, like the sign of x; NaN stays NaN.
func Sign[T numbers.Number](dst, x []T) {
	for i, v := range x {
		dst[i] = 0
		if v > 0 {
			dst[i] = 1
		} else if v < 0 {
			dst[i] = -1
		}
	}
}

// Square computes x².
func Square[T numbers.Number](dst, x []T) {
	for i := range dst {
		dst[i] = x[i] * x[i]
	}
}

// Reciprocal computes 1/x.
func Reciprocal[T numbers.Number](dst, x []T) {
	for i := range dst {
		dst[i] = 1 / x[i]
	}
}

// Eq is 1 where x = y, else 0.
func Eq[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = Truth[T](x[i] == y[i])
	}
}

// Ne is 1 where x ≠ y, else 0.
func Ne[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = Truth[T](x[i] != y[i])
	}
}

// Lt is 1 where x < y, else 0.
func Lt[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = Truth[T](x[i] < y[i])
	}
}

// Le is 1 where x ≤ y, else 0.
func Le[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = Truth[T](x[i] <= y[i])
	}
}

// Gt is 1 where x > y, else 0.
func Gt[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = Truth[T](x[i] > y[i])
	}
}

// Ge is 1 where x ≥ y, else 0.
func Ge[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = Truth[T](x[i] >= y[i])
	}
}

// Truth is 1 for true and 0 for false. Setting a byte compiles without a branch, and which elements meet a
// condition can't be predicted.
func Truth[T numbers.Number](b bool) T {
	var one uint8
	if b {
		one = 1
	}
	return T(one)
}

// AtMostInts and DifferInts compare int32 in the places of float32, as package cpu does for
// equal and less; nil where it has no such loops.
var (
	AtMostInts = opposite(Swapped(Vectors32.LessInts, nil))
	DifferInts = opposite(Vectors32.EqualInts)
)

// opposite is 0 where f is 1, and 1 where it is 0.
func opposite(f func(dst, x, y []float32)) func(dst, x, y []float32) {
	if f == nil {
		return nil
	}
	return func(dst, x, y []float32) {
		f(dst, x, y)
		Vectors32.Affine(dst, dst, 1, -1)
	}
}

// Close makes the loop that is 1 where x is y, both are NaN, or x is within absolute + relative·|y| of a finite y. dst
// may be x.
func Close(relative, absolute float64) func(dst, x, y []float64) {
	v := Vectors64
	if v.Widest == nil || v.Abs == nil || v.AtMost == nil || !(relative >= 0 && absolute >= 0) {
		return func(dst, x, y []float64) { closeSlowly(dst, x, y, relative, absolute) }
	}
	return func(dst, x, y []float64) {
		room := borrow[float64, stretches[float64]](&rooms)
		defer giveBack[float64](&rooms, room)
		for len(dst) > 0 {
			n := min(len(dst), len(room[0]))
			far, allowed := room[0][:n], room[1][:n]
			if max(v.Widest(x[:n]), v.Widest(y[:n])) <= math.MaxFloat64 {
				v.Sub(far, x[:n], y[:n])
				v.Abs(far, far)
				v.Abs(allowed, y[:n])
				v.Scale(allowed, allowed, relative)
				v.Plus(allowed, allowed, absolute)
				v.AtMost(dst[:n], far, allowed)
			} else { // infinities or NaN
				closeSlowly(dst[:n], x[:n], y[:n], relative, absolute)
			}
			dst, x, y = dst[n:], x[n:], y[n:]
		}
	}
}

func closeSlowly(dst, x, y []float64, relative, absolute float64) {
	for i, v := range x[:len(dst)] {
		w, size := y[i], math.Abs(y[i])
		near := math.Abs(v-w) <= absolute+relative*size && size <= math.MaxFloat64
		dst[i] = Truth[float64](near || v == w || v != v && w != w)
	}
}

// IsInf reports whether x is infinite.
func IsInf(x float64) bool { return math.IsInf(x, 0) }

// IsFinite reports whether x is neither infinite nor NaN.
func IsFinite(x float64) bool { return x-x == 0 }

// TestKernels makes loops that are 1 where f holds, else 0; vector loops take their place, if there are any.
func TestKernels(f func(float64) bool, f32 func(dst, x []float32), f64 func(dst, x []float64)) UnaryKernels {
	return UnaryKernels{F32: Vector1(f32, TestKernel[float32](f)), F64: Vector1(f64, TestKernel[float64](f)), I64: TestKernel[int64](f)}
}

// TestKernel is one loop of TestKernels.
func TestKernel[T numbers.Number](f func(float64) bool) func(dst, x []T) {
	return func(dst, x []T) {
		for i, v := range x {
			dst[i] = Truth[T](f(float64(v)))
		}
	}
}

// LogicalKernels are the loops of logic, made from one over numbers of each type and a vector loop over truth
// values: 1 for numbers that differ from 0, and 0 for the rest.
func LogicalKernels(f32 func(dst, x, y []float32), f64 func(dst, x, y []float64), i64 func(dst, x, y []int64), vector32 func(dst, x, y []float32), vector64 func(dst, x, y []float64)) BinaryKernels {
	return BinaryKernels{F32: ofTruths(f32, vector32), F64: ofTruths(f64, vector64), I64: i64}
}

// ofTruths runs a vector loop over truth values, or else the portable one.
func ofTruths[T float32 | float64](portable, vector func(dst, x, y []T)) func(dst, x, y []T) {
	differ := vectorsFor[T]().Differ
	if differ == nil || vector == nil {
		return portable
	}
	return func(dst, x, y []T) {
		room := borrow[T, stretches[T]](&rooms)
		defer giveBack[T](&rooms, room)
		right, zeros := room[0][:], room[1][:]
		clear(zeros)
		for len(dst) > 0 {
			n := min(len(dst), len(zeros))
			differ(right[:n], y[:n], zeros[:n]) // before dst, which may be y
			differ(dst[:n], x[:n], zeros[:n])
			vector(dst[:n], dst[:n], right[:n])
			dst, x, y = dst[n:], x[n:], y[n:]
		}
	}
}

// IsZero32 and IsZero64 are LogicalNot in vector instructions, where there are any.
func IsZero32(dst, x []float32) { isZero(dst, x, Vectors32.Equal) }

// IsZero64 is IsZero32 for float64.
func IsZero64(dst, x []float64) { isZero(dst, x, Vectors64.Equal) }

func isZero[T numbers.Number](dst, x []T, equal func(dst, x, y []T)) {
	if equal == nil {
		LogicalNot(dst, x)
		return
	}
	room := borrow[T, stretches[T]](&rooms)
	defer giveBack[T](&rooms, room)
	zeros := room[0][:]
	clear(zeros)
	for len(dst) > 0 {
		n := min(len(dst), len(zeros))
		equal(dst[:n], x[:n], zeros[:n])
		dst, x = dst[n:], x[n:]
	}
}

// LogicalAnd is 1 where both differ from 0, else 0.
func LogicalAnd[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = Truth[T](x[i] != 0 && y[i] != 0)
	}
}

// LogicalOr is 1 where one or both differ from 0, else 0.
func LogicalOr[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = Truth[T](x[i] != 0 || y[i] != 0)
	}
}

// LogicalXor is 1 where exactly one of them differs from 0, else 0.
func LogicalXor[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = Truth[T]((x[i] != 0) != (y[i] != 0))
	}
}

// LogicalNot is 1 where x is 0, else 0.
func LogicalNot[T numbers.Number](dst, x []T) {
	for i, v := range x {
		dst[i] = Truth[T](v == 0)
	}
}

// And computes x & y.
func And(dst, x, y []int64) {
	for i := range dst {
		dst[i] = x[i] & y[i]
	}
}

// Or computes x | y.
func Or(dst, x, y []int64) {
	for i := range dst {
		dst[i] = x[i] | y[i]
	}
}

// Xor computes x ^ y.
func Xor(dst, x, y []int64) {
	for i := range dst {
		dst[i] = x[i] ^ y[i]
	}
}

// Not inverts every bit of x.
func Not(dst, x []int64) {
	for i, v := range x {
		dst[i] = ^v
	}
}

// FloorDiv subtracts the remainder first, so that the quotient is exact when it
// is rounded.
func FloorDiv[T float32 | float64](dst, x, y []T) {
	for i := range dst {
		a, b := float64(x[i]), float64(y[i])
		if b == 0 {
			dst[i] = T(a / b)
			continue
		}
		rest := Mod(a, b)
		quotient := (a - rest) / b
		if rest != 0 && (rest < 0) != (b < 0) {
			quotient--
		}
		dst[i] = T(math.Round(quotient))
	}
}

// NearFloorDiv is FloorDiv in vector instructions, for quotients that are small enough; nil where there are none. x
// minus the remainder is a multiple of y, except for rounding.
var NearFloorDiv = func() func(dst, x, y []float32) {
	v := Vectors32
	if v.RemainderNear == nil {
		return nil
	}
	return func(dst, x, y []float32) {
		v.RemainderNear(dst, x, y)
		v.Sub(dst, x, dst)
		v.Div(dst, dst, y)
		v.Round(dst, dst)
	}
}()

// TruncDiv computes x/y without its fraction.
func TruncDiv[T float32 | float64](dst, x, y []T) {
	v := vectorsFor[T]()
	if v.Div != nil && v.Trunc != nil {
		v.Div(dst, x, y)
		v.Trunc(dst, dst)
		return
	}
	for i := range dst {
		dst[i] = T(math.Trunc(float64(x[i] / y[i])))
	}
}

// OneFloorDiv is FloorDiv of two numbers.
func OneFloorDiv(a, b float64) float64 {
	var dst [1]float64
	FloorDiv(dst[:], []float64{a}, []float64{b})
	return dst[0]
}

// NearAndFar computes remainders in vector instructions, where there are any, and by far
// what those leave as NaN.
func NearAndFar(near func(dst, x, y []float32), far func(a, b float64) float64) func(dst, x, y []float32) {
	return func(dst, x, y []float32) {
		if near == nil {
			for i := range dst {
				dst[i] = float32(far(float64(x[i]), float64(y[i])))
			}
			return
		}
		room := borrow[float32, stretches[float32]](&rooms) // dst may be an operand
		defer giveBack[float32](&rooms, room)
		for len(x) > 0 {
			n := min(len(x), len(room[0]))
			rest := room[0][:n]
			near(rest, x[:n], y[:n])
			if s := Vectors32.Sum(rest); s != s {
				for i, v := range rest {
					if v != v {
						rest[i] = float32(far(float64(x[i]), float64(y[i])))
					}
				}
			}
			copy(dst, rest)
			dst, x, y = dst[n:], x[n:], y[n:]
		}
	}
}

// PythonMod is a mod b with the sign of b.
func PythonMod(a, b float64) float64 {
	m := Mod(a, b)
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

// Mod is math.Mod, just as exact, in a division and a fused multiply-add if the quotient has at most 52 bits:
// rounding can only make it one too large, and a - q·b is a float64 in either case.
func Mod(a, b float64) float64 {
	q := math.Trunc(a / b)
	if !(math.Abs(q) < 1<<52) || math.Abs(b) > math.MaxFloat64 || b == 0 {
		return math.Mod(a, b)
	}
	rest := math.FMA(-q, b, a)
	if rest != 0 && (rest < 0) != (a < 0) {
		rest += math.Copysign(b, a)
	}
	return math.Copysign(rest, a)
}

// Lerp starts from the nearer end, so that rounding keeps both ends exact.
func Lerp[T float32 | float64](dst, a, b, w []T) {
	if lerp := vectorsFor[T]().Lerp; lerp != nil {
		lerp(dst, a, b, w)
		return
	}
	for i := range dst {
		way := b[i] - a[i]
		if w := w[i]; w > -0.5 && w < 0.5 {
			dst[i] = a[i] + T(w*way)
		} else {
			dst[i] = b[i] - T(way*(1-w))
		}
	}
}

// LerpAlike is lerp where all weights are the same.
func LerpAlike[T float32 | float64](dst, a, b, w []T) {
	v := vectorsFor[T]()
	switch {
	case v.Forth == nil || len(w) == 0:
		Lerp(dst, a, b, w)
	case w[0] > -0.5 && w[0] < 0.5:
		v.Forth(dst, a, b, w[0])
	default:
		v.Back(dst, a, b, 1-w[0])
	}
}

// Addcmul returns the loop of t + v·a·b.
func Addcmul[T numbers.Number](v T) func(dst, t, a, b []T) {
	return func(dst, t, a, b []T) {
		switch value := any(v).(type) {
		case float32:
			if add := Vectors32.AddProduct; add != nil {
				add(any(dst).([]float32), any(t).([]float32), any(a).([]float32), any(b).([]float32), value)
				return
			}
		case float64:
			if add := Vectors64.AddProduct; add != nil {
				add(any(dst).([]float64), any(t).([]float64), any(a).([]float64), any(b).([]float64), value)
				return
			}
		}
		for i := range dst {
			dst[i] = t[i] + T(T(v*a[i])*b[i])
		}
	}
}

// Addcdiv returns the loop of t + v·a/b.
func Addcdiv[T float32 | float64](v T) func(dst, t, a, b []T) {
	return func(dst, t, a, b []T) {
		if add := vectorsFor[T]().AddQuotient; add != nil {
			add(dst, t, a, b, v)
			return
		}
		for i := range dst {
			dst[i] = t[i] + T(v*T(a[i]/b[i]))
		}
	}
}

// Logaddexp computes ln(exp a + exp b).
func Logaddexp[T float32 | float64](dst, a, b []T) {
	for i := range dst {
		x, y := float64(a[i]), float64(b[i])
		if x == y { // which may be infinite
			dst[i] = T(x + math.Ln2)
			continue
		}
		dst[i] = T(max(x, y) + math.Log1p(math.Exp(-math.Abs(x-y))))
	}
}

// Logaddexp32 is logaddexp in vector instructions, where there are any.
func Logaddexp32(dst, a, b []float32) {
	v := Vectors32
	if v.Sub == nil || v.Abs == nil || v.Neg == nil || v.Exp == nil || v.Log1p == nil || v.Add == nil {
		Logaddexp(dst, a, b)
		return
	}
	room := borrow[float32, stretches[float32]](&rooms) // dst may be an operand
	defer giveBack[float32](&rooms, room)
	larger32 := Vector2(v.Maximum, Maximum[float32])
	for len(a) > 0 {
		n := min(len(a), len(room[0]))
		rest, top := room[0][:n], room[1][:n]
		v.Sub(rest, a[:n], b[:n])
		v.Abs(rest, rest)
		for i := range rest {
			if rest[i] != rest[i] && a[i] == b[i] { // ∞ - ∞
				rest[i] = 0
			}
		}
		v.Neg(rest, rest)
		v.Exp(rest, rest)
		v.Log1p(rest, rest)
		larger32(top, a[:n], b[:n])
		v.Add(dst[:n], top, rest)
		dst, a, b = dst[n:], a[n:], b[n:]
	}
}

// chosen writes x where c is not 0, else y.
func chosen[T numbers.Number](dst, x, y []T, c []uint8) {
	switch dst := any(dst).(type) {
	case []float32:
		choose32(sameBits[uint32](dst), sameBits[uint32](any(x).([]float32)), sameBits[uint32](any(y).([]float32)), c)
	case []float64:
		choose64(sameBits[uint64](dst), sameBits[uint64](any(x).([]float64)), sameBits[uint64](any(y).([]float64)), c)
	case []int64:
		choose64(sameBits[uint64](dst), sameBits[uint64](any(x).([]int64)), sameBits[uint64](any(y).([]int64)), c)
	}
}

// sameBits returns the memory of numbers as another type of the same size.
func sameBits[S, T any](x []T) []S {
	return unsafe.Slice((*S)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

func choose32(dst, x, y []uint32, c []uint8) {
	x, y, c = x[:len(dst)], y[:len(dst)], c[:len(dst)]
	for i := range dst {
		set := uint32(-int32(c[i]) >> 31)
		dst[i] = y[i] ^ (x[i]^y[i])&set
	}
}

func choose64(dst, x, y []uint64, c []uint8) {
	x, y, c = x[:len(dst)], y[:len(dst)], c[:len(dst)]
	for i := range dst {
		set := uint64(-int64(c[i]) >> 63)
		dst[i] = y[i] ^ (x[i]^y[i])&set
	}
}

// eights returns bools, each a byte of 0 or 1, as words.
func eights(x []uint8) []uint64 {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&x[0])), len(x)/8)
}

// InWords runs a vector loop over words, and reports whether there is one.
func InWords(loop func(dst, x, y []float64), dst, x, y []uint64) bool {
	if loop == nil {
		return false
	}
	loop(sameBits[float64](dst), sameBits[float64](x), sameBits[float64](y))
	return true
}

// EachTrue is eight bools, all true.
const EachTrue = 0x0101010101010101

// IsNaN32 and IsNaN64 test in vector instructions, where there are any.
func IsNaN32(dst, x []float32) { differs(dst, x, Vectors32.Differ, TestKernel[float32](math.IsNaN)) }

// IsNaN64 is IsNaN32 for float64.
func IsNaN64(dst, x []float64) { differs(dst, x, Vectors64.Differ, TestKernel[float64](math.IsNaN)) }

func differs[T numbers.Number](dst, x []T, differ func(dst, x, y []T), portable func(dst, x []T)) {
	if differ == nil {
		portable(dst, x)
		return
	}
	differ(dst, x, x)
}

// LargeCopy is the size from which a copy does not fit in a cache, so it is cut into
// pieces that the runtime writes around the caches.
const (
	LargeCopy = 64 << 20
	CopyPiece = 4 << 20
)

// CopyLarge copies on all threads.
func CopyLarge(dst, src []byte) {
	cpu.Parallel((len(dst)+CopyPiece-1)/CopyPiece, func(piece int) {
		end := min((piece+1)*CopyPiece, len(dst))
		copy(dst[piece*CopyPiece:end], src[piece*CopyPiece:end])
	})
}

// Identity copies.
func Identity[T numbers.Number](dst, x []T) { copy(dst, x) }

// FillWhere is the operation that other devices know by its name.
func FillWhere[T numbers.Number](value T) func(dst, x, mask []T) {
	return func(dst, x, mask []T) {
		for i := range dst {
			dst[i] = x[i]
			if mask[i] != 0 {
				dst[i] = value
			}
		}
	}
}

// ClampFloat clamps x to [low, high].
func ClampFloat[T float32 | float64](dst, x []T, low, high T, vector func(dst, x []T, low, high T)) {
	if vector != nil && low == low && high == high {
		vector(dst, x, low, high)
		return
	}
	for i, v := range x {
		dst[i] = min(max(v, low), high)
	}
}

// The built-in max and min have just the right rule for NaN.
func Maximum[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = max(x[i], y[i])
	}
}

// Minimum is the smaller of x and y.
func Minimum[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = min(x[i], y[i])
	}
}

// ClampInts returns the loop that clamps int32, in the places of float32, to [low, high]; nil if there are no such
// instructions.
func ClampInts(low, high int32) func(dst, x []float32) {
	clamp := Vectors32.ClampInts
	if clamp == nil {
		return nil
	}
	return func(dst, x []float32) {
		clamp(dst, x, math.Float32frombits(uint32(low)), math.Float32frombits(uint32(high)))
	}
}

// Sigmoid computes σ(x).
func Sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Exp is math.Exp, which overflows too early on some processors, where its scale factor alone is not a float64.
func Exp(x float64) float64 {
	const high, low = 0x1.62e42feep-1, 0x1.a39ef35793c76p-33 // ln 2; x minus the first is exact for the numbers below
	if x > 708 && x < 710 {
		return math.Exp(x-high) * (2 * (1 - low))
	}
	return math.Exp(x)
}

// SoftplusKernels computes max(x, 0) + ln(1 + e^-|x|), whose exponential can't
// overflow. The formula has a corner at 0 that the function doesn't have: a gradient
// through its steps would be wrong there.
func SoftplusKernels() UnaryKernels {
	k := FloatKernels(func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) })
	v := Vectors32
	if v.Abs == nil || v.Neg == nil || v.Relu == nil || v.Add == nil || v.Exp == nil || v.Log1p == nil {
		return k
	}
	k.F32 = func(dst, x []float32) {
		room := borrow[float32, stretches[float32]](&rooms)
		defer giveBack[float32](&rooms, room)
		for len(x) > 0 {
			n := min(len(x), len(room[0]))
			rest := room[0][:n]
			v.Abs(rest, x[:n])
			v.Neg(rest, rest)
			v.Exp(rest, rest)
			v.Log1p(rest, rest)
			v.Relu(dst[:n], x[:n])
			v.Add(dst[:n], dst[:n], rest)
			dst, x = dst[n:], x[n:]
		}
	}
	return k
}

// LeakyKernels are the loops of x where it is above 0 and x·slope elsewhere.
func LeakyKernels(slope float64) UnaryKernels {
	return UnaryKernels{F32: leaky(Vectors32.Leaky, float32(slope)), F64: leaky(Vectors64.Leaky, slope)}
}

func leaky[T float32 | float64](vector func(dst, x []T, slope T), slope T) func(dst, x []T) {
	if vector != nil {
		return func(dst, x []T) { vector(dst, x, slope) }
	}
	return func(dst, x []T) {
		for i, v := range x {
			dst[i] = v * slope
			if v > 0 {
				dst[i] = v
			}
		}
	}
}

// EluKernels are the loops of x where it is above 0 and (eˣ-1)·alpha elsewhere.
func EluKernels(alpha float64) UnaryKernels {
	k := FloatKernels(func(x float64) float64 {
		if x > 0 {
			return x
		}
		return math.Expm1(x) * alpha
	})
	if Vectors32.Elu != nil {
		k.F32 = func(dst, x []float32) {
			InBlocks(0, len(dst), func(at, n int) {
				if to, from := dst[at:][:n], x[at:][:n]; Vectors32.Lowest(from) < 0 { // all are above 0
					copy(to, from)
				} else {
					Vectors32.Elu(to, from, float32(alpha))
				}
			})
		}
	}
	return k
}

// ReplacingKernels are the loops of x with numbers in place of NaN, +Inf and -Inf, which integers don't have.
func ReplacingKernels(nan, plus, minus float64) UnaryKernels {
	return UnaryKernels{F32: replacing(float32(nan), float32(plus), float32(minus)), F64: replacing(nan, plus, minus), I64: Identity[int64]}
}

func replacing[T float32 | float64](nan, plus, minus T) func(dst, x []T) {
	if replace := vectorsFor[T]().Replace; replace != nil {
		return func(dst, x []T) { replace(dst, x, nan, plus, minus) }
	}
	return func(dst, x []T) {
		for i, v := range x {
			switch {
			case v != v:
				v = nan
			case math.IsInf(float64(v), 1):
				v = plus
			case math.IsInf(float64(v), -1):
				v = minus
			}
			dst[i] = v
		}
	}
}

// Log2 is math.Log2 except near 1, where that adds an exponent to a logarithm of
// nearly the same size.
func Log2(x float64) float64 {
	if x > 0.7 && x < 1.5 {
		return math.Log(x) * math.Log2E
	}
	return math.Log2(x)
}

// RoundingKernels are the loops of a function whose results are integers: integers stay as they are.
func RoundingKernels(f32 func(dst, x []float32), f64 func(dst, x []float64), f func(float64) float64) UnaryKernels {
	k := BothKernels(f32, f64, f)
	k.I64 = Identity[int64]
	return k
}

// SiluTimes computes x·σ(x)·gate.
func SiluTimes[T float32 | float64](dst, x, gate []T) {
	if v := vectorsFor[T](); v.Silu != nil {
		room := borrow[T, stretches[T]](&rooms) // dst may be an operand
		defer giveBack[T](&rooms, room)
		for len(x) > 0 {
			n := min(len(x), len(room[0]))
			v.Silu(room[0][:n], x[:n])
			v.Mul(dst[:n], room[0][:n], gate[:n])
			dst, x, gate = dst[n:], x[n:], gate[n:]
		}
		return
	}
	for i, a := range x {
		dst[i] = T(float64(a)*Sigmoid(float64(a))) * gate[i]
	}
}

// SiluSlope computes g·σ(x)·(1 + x·(1-σ(x))).
func SiluSlope[T float32 | float64](dst, g, x []T) {
	v := vectorsFor[T]()
	room := borrow[T, stretches[T]](&rooms)
	defer giveBack[T](&rooms, room)
	for len(x) > 0 {
		n := min(len(x), len(room[0]))
		s := room[0][:n]
		if v.Sigmoid != nil {
			v.Sigmoid(s, x[:n])
		} else {
			for i := range s {
				s[i] = T(1 / (1 + math.Exp(-float64(x[i]))))
			}
		}
		for i, s := range s {
			dst[i] = g[i] * T(s*(1+T(x[i]*(1-s))))
		}
		dst, g, x = dst[n:], g[n:], x[n:]
	}
}

// Ramp writes start, start + step, start + 2·step and so on, computed in float64 and rounded once more.
func Ramp(dst []float32, start, step float64) {
	ramp := cpu.Ramp()
	Parallel(len(dst), ParallelFrom, func(first, end int) {
		if ramp == nil {
			for i := first; i < end; i++ {
				dst[i] = float32(start + float64(i)*step)
			}
			return
		}
		counts := firstCounts()
		InBlocks(first, end, func(at, n int) { ramp(dst[at:][:n], counts[:n], start, step, float64(at)) })
	})
}

// firstCounts returns 0, 1, 2 and so on, one for each element of a block.
var firstCounts = sync.OnceValue(func() *[BlockLen]float64 {
	counts := new([BlockLen]float64)
	for i := range counts {
		counts[i] = float64(i)
	}
	return counts
})
