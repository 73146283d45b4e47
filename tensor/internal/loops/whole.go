package loops

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
)

// Loops over int64. For vector instructions, these are in the places of float64.

// whole1 returns a vector loop as one over int64, or else the one in Go.
func whole1(vector func(dst, x []float64), portable func(dst, x []int64)) func(dst, x []int64) {
	if vector == nil {
		return portable
	}
	return func(dst, x []int64) { vector(sameBits[float64](dst), sameBits[float64](x)) }
}

// whole2 is whole1 for two operands.
func whole2(vector func(dst, x, y []float64), portable func(dst, x, y []int64)) func(dst, x, y []int64) {
	if vector == nil {
		return portable
	}
	return func(dst, x, y []int64) {
		vector(sameBits[float64](dst), sameBits[float64](x), sameBits[float64](y))
	}
}

// The loops of arithmetic and of comparisons, which are 1 and 0.
var (
	AddWhole  = whole2(Vectors64.AddWhole, Add[int64])
	SubWhole  = whole2(Vectors64.SubWhole, Sub[int64])
	MaxWhole  = whole2(Vectors64.MaxWhole, Maximum[int64])
	MinWhole  = whole2(Vectors64.MinWhole, Minimum[int64])
	NegWhole  = whole1(Vectors64.NegWhole, Neg[int64])
	AbsWhole  = whole1(Vectors64.AbsWhole, Abs[int64])
	SignWhole = whole1(Vectors64.SignWhole, Sign[int64])

	EqWhole = whole2(Vectors64.EqualWhole, Eq[int64])
	LtWhole = whole2(Vectors64.LessWhole, Lt[int64])
	GtWhole = whole2(Swapped(Vectors64.LessWhole, nil), Gt[int64])
	NeWhole = whole2(notWhole(Vectors64.EqualWhole), Ne[int64])
	LeWhole = whole2(notWhole(Swapped(Vectors64.LessWhole, nil)), Le[int64])
	GeWhole = whole2(notWhole(Vectors64.LessWhole), Ge[int64])

	AndWhole = whole2(Vectors64.AndBits, And)
	OrWhole  = whole2(Vectors64.OrBits, Or)
	XorWhole = whole2(Vectors64.XorBits, Xor)
	NotWhole = whole1(withBits(math.MaxUint64), Not)
)

// notWhole is 0 where f is 1, and 1 where it is 0.
func notWhole(f func(dst, x, y []float64)) func(dst, x, y []float64) {
	if f == nil {
		return nil
	}
	return func(dst, x, y []float64) {
		f(dst, x, y)
		Vectors64.XorBitsOf(dst, dst, math.Float64frombits(1))
	}
}

// withBits inverts some bits of every number; nil where there are no such instructions.
func withBits(bits uint64) func(dst, x []float64) {
	if Vectors64.XorBitsOf == nil {
		return nil
	}
	return func(dst, x []float64) { Vectors64.XorBitsOf(dst, x, math.Float64frombits(bits)) }
}

// SquareInts computes x² for int32 in the places of float32; nil where there are no such instructions.
var SquareInts = func() func(dst, x []float32) {
	mul := Vectors32.MulInts
	if mul == nil {
		return nil
	}
	return func(dst, x []float32) { mul(dst, x, x) }
}()

// ClampWhole clamps x to [low, high]; high wins.
func ClampWhole(dst, x []int64, low, high int64) {
	if clamp := Vectors64.ClampWhole; clamp != nil {
		clamp(sameBits[float64](dst), sameBits[float64](x), math.Float64frombits(uint64(low)), math.Float64frombits(uint64(high)))
		return
	}
	for i, v := range x {
		dst[i] = min(max(v, low), high)
	}
}

// The loops of division, for divisors that are not 0.
var (
	TruncWhole = nearWhole(Vectors64.QuotientNear, truncWhole)
	FloorWhole = nearWhole(Vectors64.FloorNear, floorWhole)
	FmodWhole  = nearWhole(Vectors64.RestNear, fmodWhole)
	ModWhole   = nearWhole(Vectors64.ModNear, modWhole)
)

// nearWhole runs a vector loop over blocks whose numbers are small enough for it, and the other loop over the rest.
func nearWhole(near func(dst, x, y []float64), far func(dst, x, y []int64)) func(dst, x, y []int64) {
	if near == nil {
		return far
	}
	return func(dst, x, y []int64) {
		InBlocks(0, len(dst), func(at, n int) {
			to, a, b := dst[at:][:n], x[at:][:n], y[at:][:n]
			if cpu.Near(a) && cpu.Near(b) {
				near(sameBits[float64](to), sameBits[float64](a), sameBits[float64](b))
				return
			}
			far(to, a, b)
		})
	}
}

func truncWhole(dst, x, y []int64) {
	for i := range dst {
		dst[i] = x[i] / y[i]
	}
}

func floorWhole(dst, x, y []int64) {
	for i := range dst {
		a, b := x[i], y[i]
		dst[i] = a / b
		if a%b != 0 && (a < 0) != (b < 0) {
			dst[i]--
		}
	}
}

func fmodWhole(dst, x, y []int64) {
	for i := range dst {
		dst[i] = x[i] % y[i]
	}
}

func modWhole(dst, x, y []int64) {
	for i := range dst {
		b := y[i] // dst may be an operand
		dst[i] = x[i] % b
		if dst[i] != 0 && (dst[i] < 0) != (b < 0) {
			dst[i] += b
		}
	}
}

// AnyZero reports whether any integer is 0.
func AnyZero(x Array) bool {
	var found atomic.Bool
	if x.Width == 4 && x.IsContiguous() {
		all := Stored[uint32](x)
		Parallel(len(all), ParallelFrom, func(start, end int) {
			if anyZero(all[start:end]) {
				found.Store(true)
			}
		})
		return found.Load()
	}
	Parallel(x.Len(), ParallelFrom, func(start, end int) {
		r := NewReader[int64](x)
		defer r.Done()
		InBlocks(start, end, func(at, n int) {
			if anyZero(sameBits[uint64](r.Block(at, n))) {
				found.Store(true)
			}
		})
	})
	return found.Load()
}

// anyZero finds a zero as the only number without its first bit from which subtracting 1 sets that bit.
func anyZero[S uint32 | uint64](x []S) bool {
	var some S
	for _, v := range x {
		some |= (v - 1) &^ v
	}
	return some>>(8*unsafe.Sizeof(some)-1) != 0
}

// MultiplyWhole computes a product of integer matrices and writes it to out, from element at on.
func MultiplyWhole(out Array, at int, a, b Array) {
	m, k, n := a.Layout.Shape[0], a.Layout.Shape[1], b.Layout.Shape[1]
	right := make([]int64, k*n)
	NewReader[int64](b).Copy(right, 0)
	ParallelRows(m, ParallelFrom/max(1, n*k), func(first, last int) {
		r, w := NewReader[int64](a), NewWriter[int64](out)
		defer r.Done()
		defer w.Done()
		row, sums := make([]int64, k), make([]int64, n)
		for i := first; i < last; i++ {
			r.Copy(row, i*k)
			multiplyRow(sums, row, right)
			w.Copy(sums, at+i*n)
		}
	})
}

// multiplyRow computes one row of a product: the sum of the rows of b, each times one number of row.
func multiplyRow(dst, row, b []int64) {
	clear(dst)
	n := len(dst)
	for k, factor := range row {
		line := b[k*n : (k+1)*n]
		for j := range dst {
			dst[j] += factor * line[j]
		}
	}
}
