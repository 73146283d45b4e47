package tensor

import (
	"fmt"
	"math"

	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Largest and smallest elements, and where they are. NaN counts as larger and as
// smaller than everything: a result that includes one is NaN.

// d max(x)/dx = 1/k at the k elements that equal the maximum, or are NaN like it, else 0
var opMax, opMin opOf[reduced]

func init() {
	define(&opMax.op, extreme(&opMax, loops.Foldings{
		Name: "max",
		F32:  loops.VectorExtreme(loops.MaxFolding(float32(math.Inf(-1))), loops.Vectors32.Maximum, loops.Vectors32.Highest, 1),
		F64:  loops.VectorExtreme(loops.MaxFolding(math.Inf(-1)), loops.Vectors64.Maximum, loops.Vectors64.Highest, 1),
		I64:  loops.Whole(loops.MaxFolding(int64(math.MinInt64)), loops.Vectors32.HighestInts, 0, loops.AnyTrue),
	}))
	define(&opMin.op, extreme(&opMin, loops.Foldings{
		Name: "min",
		F32:  loops.VectorExtreme(loops.MinFolding(float32(math.Inf(1))), loops.Vectors32.Minimum, loops.Vectors32.Lowest, -1),
		F64:  loops.VectorExtreme(loops.MinFolding(math.Inf(1)), loops.Vectors64.Minimum, loops.Vectors64.Lowest, -1),
		I64:  loops.Whole(loops.MinFolding(int64(math.MaxInt64)), loops.Vectors32.LowestInts, -1, loops.AllTrue),
	}))
}

func extreme(o *opOf[reduced], f loops.Foldings) op {
	return op{
		name: f.Name,
		forward: func(c *call) *Tensor {
			x, r := c.input(), o.given(c)
			r.needElements(c.op.name, x)
			return reduceAs(x, r, wideSum(computeDtype(x.dtype)), f).To(x.dtype)
		},
		gradients: []gradient{{readsInput | readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			r, x := o.given(c), c.input()
			hit := x.Eq(r.back(c.out, x))
			if r.whole && c.out.has(math.IsNaN) { // as in PyTorch, where NaN over axes makes all NaN
				hit = x.IsNaN()
			}
			ties := hit.Sum(append(r.list(), KeepDim)...)
			return r.back(g, x).MaskedFill(hit.Not(), 0).Div(ties) // not a product: an infinite g times 0 would be NaN
		}}},
		flops: inputElements,
	}
}

// inputElements counts one FLOP for each element that is reduced.
func inputElements(c *call, _ *Tensor) int { return c.input().Len() }

// Max returns the largest element over axes, or over all if none is named; NaN if
// there is one. Elements that share the maximum share its gradient. If it is NaN, so is
// the gradient of all elements, but with no axis named the NaNs share it. It panics if
// there is no such axis, or no element to choose from.
func (t *Tensor) Max(axes ...int) *Tensor { return opMax.apply(t.reductionOver("max", axes), t) }

// Min returns the smallest element over axes; see [Tensor.Max].
func (t *Tensor) Min(axes ...int) *Tensor { return opMin.apply(t.reductionOver("min", axes), t) }

// computeDtype is the dtype in which elements of d are computed.
func computeDtype(d Dtype) Dtype {
	if !d.IsFloat() {
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

// needElements panics if there are results to compute, but no elements to compute them from.
func (r reduced) needElements(op string, x *Tensor) {
	if r.count == 0 && layout.Product(r.shape(x.layout.Shape, false)) > 0 {
		fail(ErrShape, op, describe(x), "there is no element to choose from", "")
	}
}

var opArgmax, opArgmin opOf[reduced]

func init() {
	define(&opArgmax.op, op{name: "argmax", forward: positionForward(&opArgmax, true), flops: inputElements})
	define(&opArgmin.op, op{name: "argmin", forward: positionForward(&opArgmin, false), flops: inputElements})
}

// Argmax returns the position of the largest element along one axis, or within
// all elements in row-major order if none is named, as int64: the first of several, or
// the first NaN if there is one. It panics if more than one axis is named, if there is
// no such axis, or if there is no element to choose from.
func (t *Tensor) Argmax(axis ...int) *Tensor { return position(t, &opArgmax, axis) }

// Argmin returns the position of the smallest element; see [Tensor.Argmax].
func (t *Tensor) Argmin(axis ...int) *Tensor { return position(t, &opArgmin, axis) }

func position(t *Tensor, o *opOf[reduced], axis []int) *Tensor {
	r := t.reductionOver(o.name, axis)
	if named := len(axis); named > 2 || named == 2 && !r.keep {
		fail(ErrIndex, o.name, describe(t), "more than one axis is named", "name one axis, or none for all elements")
	}
	return o.apply(r, t)
}

// MaxAt returns the largest elements along an axis and their positions, which are
// int64. The whole gradient goes to those positions. KeepDim may follow the axis.
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

func positionForward(o *opOf[reduced], largest bool) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		x, r := c.input(), o.given(c)
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
		loops.Positions(plain[int64](out), r.lastAxes(x).array(), r.count, largest)
		return out
	}
}

var opAll, opAny opOf[reduced]

func init() {
	truthOf := func(o *opOf[reduced], name string, f loops.Folding[int64]) func(c *call) *Tensor {
		return func(c *call) *Tensor {
			x, r := c.input(), o.given(c)
			if x.dtype != Bool && x.dtype != Uint8 { // which are 0 where their smallest or largest element is
				x = x.Detach().Ne(0)
			}
			return reduceAs(x, r, Int64, loops.Foldings{Name: name, I64: f}).converted(Bool)
		}
	}
	define(&opAll.op, op{name: "all", forward: truthOf(&opAll, "min", loops.Whole(loops.MinFolding(int64(1)), nil, 0, loops.AllTrue))})
	define(&opAny.op, op{name: "any", forward: truthOf(&opAny, "max", loops.Whole(loops.MaxFolding(int64(0)), nil, 0, loops.AnyTrue))})
}

// All returns a bool tensor: whether all elements along axes, or along all axes if
// none is named, differ from 0. It is true where there are no elements.
func (t *Tensor) All(axes ...int) *Tensor { return opAll.apply(t.reductionOver("all", axes), t) }

// Any returns a bool tensor: whether any element along axes, or along all axes if none
// is named, differs from 0.
func (t *Tensor) Any(axes ...int) *Tensor { return opAny.apply(t.reductionOver("any", axes), t) }
