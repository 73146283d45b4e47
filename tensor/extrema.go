package tensor

import (
	"fmt"
	"math"

	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Largest and smallest elements, and where they are. NaN counts as larger and
// smaller than everything: a result that saw one is NaN.

// d max(x)/dx = 1/k at the k elements that equal the maximum, else 0
var opMax, opMin op

func init() {
	define(&opMax, op{
		name:      "max",
		forward:   extremeForward(foldings{"max", vectorExtreme(maxFolding(float32(math.Inf(-1))), vectors32.Maximum), vectorExtreme(maxFolding(math.Inf(-1)), vectors64.Maximum), maxFolding(int64(math.MinInt64))}),
		gradients: []gradient{{readsInput | readsOutput, extremeBackward}},
		flops:     inputElements,
	})
	define(&opMin, op{
		name:      "min",
		forward:   extremeForward(foldings{"min", vectorExtreme(minFolding(float32(math.Inf(1))), vectors32.Minimum), vectorExtreme(minFolding(math.Inf(1)), vectors64.Minimum), minFolding(int64(math.MaxInt64))}),
		gradients: []gradient{{readsInput | readsOutput, extremeBackward}},
		flops:     inputElements,
	})
}

// inputElements counts one FLOP for each element that is reduced.
func inputElements(c *call, _ *Tensor) int { return c.input().Len() }

// Max returns the largest element over axes, or over all if none is named; NaN
// if there is one. Elements that share the maximum share its gradient. It panics
// if there is no such axis, or nothing to choose from.
func (t *Tensor) Max(axes ...int) *Tensor { return apply(&opMax, t.reductionOver("max", axes), t) }

// Min returns the smallest element over axes; see [Tensor.Max].
func (t *Tensor) Min(axes ...int) *Tensor { return apply(&opMin, t.reductionOver("min", axes), t) }

func extremeForward(f foldings) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		x, r := c.input(), c.attr.(reduced)
		r.needElements(c.op.name, x)
		return reduceAs(x, r, wideSum(computeDtype(x.dtype)), f).To(x.dtype)
	}
}

func extremeBackward(c *call, g *Tensor, _ int) *Tensor {
	r, x := c.attr.(reduced), c.input()
	hit := x.Eq(r.back(c.out, x))
	ties := hit.Sum(append(r.list(), KeepDim)...)
	return r.back(g, x).Mul(hit).Div(ties)
}

// computeDtype is the stored dtype that computing with d happens in.
func computeDtype(d Dtype) Dtype {
	if formats[d].arithmetic == inInt64 {
		return Int64
	}
	return d
}

// list returns the reduced axes.
func (r reduced) list() []int {
	axes := make([]int, 0, len(r.axes)+1)
	for a, gone := range r.axes {
		if gone {
			axes = append(axes, a)
		}
	}
	return axes
}

// needElements panics if results are asked for that no element stands behind.
func (r reduced) needElements(op string, x *Tensor) {
	if r.count == 0 && layout.Product(r.shape(x.layout.Shape, false)) > 0 {
		fail(ErrShape, op, describe(x), "there is no element to choose from", "")
	}
}

func maxFolding[T numbers.Number](start T) folding[T] {
	return folding[T]{start, func(x []T) T {
		best := x[0]
		for _, v := range x[1:] {
			best = max(best, v)
		}
		return best
	}, func(a, b T) T { return max(a, b) }, func(sums, x []T) {
		for i, v := range x {
			sums[i] = max(sums[i], v)
		}
	}, 1}
}

func minFolding[T numbers.Number](start T) folding[T] {
	return folding[T]{start, func(x []T) T {
		best := x[0]
		for _, v := range x[1:] {
			best = min(best, v)
		}
		return best
	}, func(a, b T) T { return min(a, b) }, func(sums, x []T) {
		for i, v := range x {
			sums[i] = min(sums[i], v)
		}
	}, 1}
}

// vectorExtreme is a folding of extremes with its loops in vector instructions, if there
// are any: choose is the larger, or smaller, of two.
func vectorExtreme[T float32 | float64](f folding[T], choose func(dst, x, y []T)) folding[T] {
	if choose == nil {
		return f
	}
	few := f.block
	f.block = func(x []T) T {
		const width = 64
		if len(x) < 2*width {
			return few(x)
		}
		var room [width]T
		best := room[:]
		choose(best, x[:width], x[width:2*width])
		for x = x[2*width:]; len(x) >= width; x = x[width:] {
			choose(best, best, x[:width])
		}
		for n := width / 2; n >= 8; n /= 2 {
			choose(best[:n], best[:n], best[n:2*n])
		}
		top := few(best[:8])
		if len(x) > 0 {
			top = f.join(top, few(x))
		}
		return top
	}
	f.step = func(sums, x []T) { choose(sums[:len(x)], sums, x) }
	return f
}

var opArgmax, opArgmin op

func init() {
	define(&opArgmax, op{name: "argmax", forward: positionForward(true), flops: inputElements})
	define(&opArgmin, op{name: "argmin", forward: positionForward(false), flops: inputElements})
}

// Argmax returns the position of the largest element along one axis, or within
// all elements in row-major order if none is named, as int64: the first of
// several, and that of the first NaN if there is one. It panics if more than one
// axis is named, there is no such axis, or nothing to choose from.
func (t *Tensor) Argmax(axis ...int) *Tensor { return t.position(&opArgmax, axis) }

// Argmin returns the position of the smallest element; see [Tensor.Argmax].
func (t *Tensor) Argmin(axis ...int) *Tensor { return t.position(&opArgmin, axis) }

func (t *Tensor) position(o *op, axis []int) *Tensor {
	r := t.reductionOver(o.name, axis)
	if named := len(axis); named > 2 || named == 2 && !r.keep {
		fail(ErrIndex, o.name, describe(t), "more than one axis is named", "name one axis, or none for all elements")
	}
	return apply(o, r, t)
}

// MaxAt returns the largest elements along an axis and their positions, which
// are int64. The whole gradient goes to that position. KeepDim may follow.
func (t *Tensor) MaxAt(axis int, keep ...int) (values, at *Tensor) {
	return t.pick("max at", t.Argmax, axis, keep)
}

// MinAt returns the smallest elements along an axis and their positions; see
// [Tensor.MaxAt].
func (t *Tensor) MinAt(axis int, keep ...int) (values, at *Tensor) {
	return t.pick("min at", t.Argmin, axis, keep)
}

func (t *Tensor) pick(op string, position func(axes ...int) *Tensor, axis int, keep []int) (values, positions *Tensor) {
	for _, k := range keep {
		if k != KeepDim {
			name := fmt.Sprint(k)
			if k == Biased {
				name = "tensor.Biased"
			}
			fail(ErrValue, op, describe(t), name+" follows the axis", "only tensor.KeepDim may; one axis is reduced at a time")
		}
	}
	at := position(axis, KeepDim)
	if t.Dim() == 0 {
		return t.Clone(), at
	}
	values = t.Gather(axis, at)
	if len(keep) > 0 && keep[0] == KeepDim {
		return values, at
	}
	return values.Squeeze(axis), at.Squeeze(axis)
}

func positionForward(largest bool) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		x, r := c.input(), c.attr.(reduced)
		r.needElements(c.op.name, x)
		if len(r.list()) > 1 && layout.Product(r.shape(x.layout.Shape, true)) == 1 {
			r.count = x.Len()
			if r.count == 0 {
				fail(ErrShape, c.op.name, describe(x), "there is no element to choose from", "")
			}
		}
		out := c.result(Int64, r.shape(x.layout.Shape, r.keep), false)
		if c.device != nil {
			reduceOn(c.op.name, x.dtype, out, r.lastAxes(x), r.count)
			return out
		}
		positions := plain[int64](out)
		x = r.lastAxes(x)
		switch formats[x.dtype].arithmetic {
		case inFloat32:
			positionsOf[float32](positions, x, r.count, largest)
		case inFloat64:
			positionsOf[float64](positions, x, r.count, largest)
		default:
			positionsOf[int64](positions, x, r.count, largest)
		}
		return out
	}
}

// positionsOf finds the extreme of each run of count elements.
func positionsOf[T numbers.Number](out []int64, x *Tensor, count int, largest bool) {
	parallelRows(len(out), parallelFrom/max(count, 1), func(start, end int) {
		r := newReader[T](x)
		for i := start; i < end; i++ {
			at, first := 0, true
			var best T
			inBlocks(0, count, func(from, n int) {
				for j, v := range r.block(i*count+from, n) {
					if best != best { // the first NaN stays
						return
					}
					if first || v != v || largest && v > best || !largest && v < best {
						best, at, first = v, from+j, false
					}
				}
			})
			out[i] = int64(at)
		}
	})
}

var opAll, opAny op

func init() {
	truthOf := func(name string, f folding[int64]) func(c *call) *Tensor {
		return func(c *call) *Tensor {
			x, r := c.input(), c.attr.(reduced)
			if x.dtype != Bool {
				x = x.Detach().Ne(0)
			}
			return reduceAs(x, r, Int64, foldings{name: name, i64: f}).converted(Bool)
		}
	}
	define(&opAll, op{name: "all", forward: truthOf("min", minFolding(int64(1)))})
	define(&opAny, op{name: "any", forward: truthOf("max", maxFolding(int64(0)))})
}

// All returns a bool tensor: whether all elements over axes, or over all axes if
// none is named, differ from 0. It is true where there are no elements.
func (t *Tensor) All(axes ...int) *Tensor { return apply(&opAll, t.reductionOver("all", axes), t) }

// Any returns a bool tensor: whether an element over axes, or over all axes if
// none is named, differs from 0.
func (t *Tensor) Any(axes ...int) *Tensor { return apply(&opAny, t.reductionOver("any", axes), t) }
