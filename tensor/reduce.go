package tensor

import (
	"slices"
	"strconv"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// KeepDim, given among the axes of a reduction, keeps the reduced axes with
// size 1: x.Sum(-1, tensor.KeepDim).
const KeepDim = layout.KeepDim

// reduced says over which axes a reduction goes.
type reduced struct {
	axes  []bool // for each axis of the input
	keep  bool
	whole bool // no axis was named
	count int  // elements for each result
}

// reductionOver reads the axes that a method was given; none means all.
func (t *Tensor) reductionOver(op string, axes []int) reduced {
	t.exist(op)
	r := reduced{axes: make([]bool, len(t.layout.Shape)), count: 1}
	all := true
	for _, a := range axes {
		if a == KeepDim {
			r.keep = true
			continue
		}
		if t.Dim() == 0 && (a == 0 || a == -1) {
			continue // a single number may be treated as a row of one
		}
		all = false
		a = t.axis(op, a)
		if r.axes[a] {
			fail(ErrIndex, op, describe(t), "axis "+strconv.Itoa(a)+" is named twice", "")
		}
		r.axes[a] = true
	}
	r.whole = all
	for i, size := range t.layout.Shape {
		r.axes[i] = r.axes[i] || all
		if r.axes[i] {
			r.count *= size
		}
	}
	return r
}

// shape returns the shape of the result, with or without the reduced axes.
func (r reduced) shape(in []int, keep bool) []int {
	shape := make([]int, 0, len(in))
	for i, size := range in {
		switch {
		case !r.axes[i]:
			shape = append(shape, size)
		case keep:
			shape = append(shape, 1)
		}
	}
	return shape
}

// back expands the gradient of a reduction's result to the shape of its input.
func (r reduced) back(g *Tensor, in *Tensor) *Tensor {
	return g.Reshape(r.shape(in.layout.Shape, true)...).Expand(in.layout.Shape...)
}

// lastAxes returns t with the reduced axes moved to the end, so that the elements for
// each result follow each other.
func (r reduced) lastAxes(t *Tensor) *Tensor {
	var kept, gone []int
	for i := range t.layout.Shape {
		if r.axes[i] {
			gone = append(gone, i)
		} else {
			kept = append(kept, i)
		}
	}
	l, err := t.layout.Permute(slices.Concat(kept, gone)...)
	t.must("reduce", err)
	return t.alias(l)
}

// d(Σx)/dx = 1
var opSum opOf[reduced]

func init() {
	define(&opSum.op, op{
		name:    "sum",
		cast:    castWide,
		forward: sumForward,
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
			return opSum.given(c).back(g, c.input())
		}}},
		flops: inputElements,
	})
}

// Sum returns the sum over axes, or over all elements if none is named. Sums of
// integers and bools are int64. Floats are added pairwise in blocks, in an
// order that depends on the sizes alone. It panics if there is no such axis.
func (t *Tensor) Sum(axes ...int) *Tensor {
	return opSum.apply(t.reductionOver("sum", axes), t)
}

// d(mean x)/dx = 1/n
var opMean opOf[reduced]

func init() {
	define(&opMean.op, op{
		name: "mean",
		cast: castWide,
		forward: func(c *call) *Tensor {
			x := c.input()
			x.needFloats("mean", "the mean of integers is not an integer")
			sum := reduceAs(x, opMean.given(c), wideSum(x.dtype), loops.Sums)
			zipAs("div", sum.dtype, sum, sum, scalar(float64(opMean.given(c).count), Float64).expanded(sum.layout.Shape), loops.Quotients)
			return sum.To(x.dtype)
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
			r := opMean.given(c)
			return r.back(g.Div(r.count), c.input())
		}}},
		flops: func(c *call, out *Tensor) int { return c.input().Len() + out.Len() }, // a sum and a quotient
	})
}

// Mean returns the mean over axes, or over all elements if none is named. It
// panics unless t is floating point, or if there is no such axis.
func (t *Tensor) Mean(axes ...int) *Tensor {
	return opMean.apply(t.reductionOver("mean", axes), t)
}

func sumForward(c *call) *Tensor {
	x := c.input()
	dtype := x.dtype
	if !dtype.IsFloat() {
		dtype = Int64
	}
	return reduceAs(x, opSum.given(c), wideSum(dtype), loops.Sums).To(dtype)
}

// wideSum is the dtype that sums of d are held in until they are rounded once.
func wideSum(d Dtype) Dtype {
	if d.IsFloat() && d != Float64 {
		return Float32
	}
	return d
}

// reduceAs folds the elements for each result; out has dtype, and the shape that r
// calls for.
func reduceAs(x *Tensor, r reduced, dtype Dtype, f loops.Foldings) *Tensor {
	out := x.beside(dtype, r.shape(x.layout.Shape, r.keep), false)
	if out.storage.Device != nil {
		if r.count == 0 {
			out.fill(nothingOf(&f, dtype))
		} else {
			reduceOn(f.Name, dtype, out, r.lastAxes(x), r.count)
		}
		return out
	}
	switch computeType(dtype) {
	case device.Float32:
		reduceInto(plain[float32](out), x, r, f.F32)
	case device.Float64:
		reduceInto(plain[float64](out), x, r, f.F64)
	default:
		reduceInto(plain[int64](out), x, r, f.I64)
	}
	return out
}

// nothingOf is the result of reducing no elements.
func nothingOf(f *loops.Foldings, dtype Dtype) float64 {
	switch computeType(dtype) {
	case device.Float32:
		return float64(f.F32.Start)
	case device.Float64:
		return f.F64.Start
	}
	return float64(f.I64.Start)
}

func reduceInto[T numbers.Number](out []T, x *Tensor, r reduced, f loops.Folding[T]) {
	if f.AnyOrder && r.count == x.Len() && !x.IsContiguous() { // into one number, in the order of memory
		order, axes := x.layout.MemoryOrder(), make([]bool, x.Dim())
		for i, axis := range order {
			axes[i] = r.axes[axis]
		}
		x, r.axes = x.alias(x.permuted(order)), axes
	}
	if column, width := r.columnAxis(x); width > 0 {
		loops.FoldColumns(out, x.array(), r.axes, r.count, column, f)
		return
	}
	needRoom("reduce", x.layout.Shape, 8*(r.count+loops.BlockLen-1)/loops.BlockLen) // x may be an expanded view
	loops.Fold(out, r.lastAxes(x).array(), r.count, f)
}

// columnAxis returns the last axis that stays, and its size, if its elements follow
// each other in memory and those of the reduced axes don't: then it is better to go
// through memory once and keep many sums than to go through it once for each sum.
func (r reduced) columnAxis(x *Tensor) (axis, width int) {
	for axis = x.Dim() - 1; axis >= 0 && r.axes[axis]; axis-- {
		if x.layout.Strides[axis] == 1 && x.layout.Shape[axis] > 1 {
			return axis, 0
		}
	}
	if axis < 0 || r.count <= 1 || x.layout.Strides[axis] != 1 || x.layout.Shape[axis] < 16 || x.Len() == 0 {
		return axis, 0
	}
	return axis, x.layout.Shape[axis]
}
