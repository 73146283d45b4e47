package tensor

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Putting axes and positions in another order.

// Roll returns a copy with the positions of an axis moved up by shift; those that
// leave at the end come back at the start. A negative shift moves down. It panics if
// there is no such axis.
func (t *Tensor) Roll(axis, shift int) *Tensor {
	axis = t.exist("roll").axis("roll", axis)
	n := t.layout.Shape[axis]
	if n == 0 {
		return t.Clone()
	}
	cut := n - ((shift%n)+n)%n
	return Cat(axis, t.Narrow(axis, cut, n-cut), t.Narrow(axis, 0, cut))
}

// Pad returns a copy with positions of value before and behind those of an axis. It
// panics if there is no such axis or a width is negative.
func (t *Tensor) Pad(axis, before, behind int, value float64) *Tensor {
	axis = t.exist("pad").axis("pad", axis)
	if before < 0 || behind < 0 {
		fail(ErrValue, "pad", describe(t), fmt.Sprintf("the widths %d and %d are not both at least 0", before, behind), "cut with Narrow")
	}
	edge := func(width int) *Tensor {
		shape := t.Shape()
		shape[axis] = width
		return With(t.dtype, t.Device()).Full(value, shape...)
	}
	return Cat(axis, edge(before), t, edge(behind))
}

// Movedim returns a view in which axis from stands at place to; the others keep their
// order. It panics if there is no such axis.
func (t *Tensor) Movedim(from, to int) *Tensor {
	from, to = t.exist("movedim").axis("movedim", from), t.axis("movedim", to)
	order := make([]int, 0, t.Dim())
	for a := range t.Dim() {
		if a != from {
			order = append(order, a)
		}
	}
	return t.Permute(slices.Insert(order, to, from)...)
}

// Unflatten returns a view in which an axis is split into several of the sizes given,
// one of which may be -1: the reverse of [Tensor.Flatten]. It panics if there is no
// such axis or the sizes don't multiply to its own.
func (t *Tensor) Unflatten(axis int, sizes ...int) *Tensor {
	axis = t.exist("unflatten").axis("unflatten", axis)
	part, err := ContiguousLayout(t.layout.Shape[axis]).InferShape(sizes)
	t.must("unflatten", err)
	return t.View(slices.Concat(t.layout.Shape[:axis], part, t.layout.Shape[axis+1:])...)
}

// Meshgrid returns, for vectors of n, m, ... elements, as many views of shape
// [n m ...]: the i-th varies along axis i alone and has there the elements of vector
// i. It panics if one is not a vector.
func Meshgrid(vectors ...*Tensor) []*Tensor {
	shape, grids := make([]int, len(vectors)), make([]*Tensor, len(vectors))
	for i, v := range vectors {
		if v.exist("meshgrid").Dim() != 1 {
			fail(ErrShape, "meshgrid", describe(vectors...), fmt.Sprintf("tensor %d has %s, not 1", i, humanize.Count(v.Dim(), "axis")), "flatten it with View(-1)")
		}
		shape[i] = v.Len()
	}
	for i, v := range vectors {
		column := slices.Repeat([]int{1}, len(vectors))
		column[i] = v.Len()
		grids[i] = v.Reshape(column...).Expand(shape...)
	}
	return grids
}

// Parts of matrices, and matrices backwards.

// The part of a matrix above or below a diagonal is linear: the gradient is the
// same part of the gradient.
var opTril, opTriu opOf[int]

func init() {
	part := func(o *opOf[int], name string, lower bool, again func(g *Tensor, diagonal int) *Tensor) {
		forward := func(c *call) *Tensor {
			x, diagonal := c.input(), o.given(c)
			out := c.result(x.dtype, x.layout.Shape, false)
			if c.device != nil {
				rowsOn(name, x.dtype, out, x, x.Dim()-1, float64(diagonal))
				return out
			}
			if out.Len() == 0 {
				return out
			}
			x = x.Detach()
			if !x.IsContiguous() {
				x = x.converted(x.dtype)
			}
			loops.KeepPart(out.array(), x.array(), diagonal, lower)
			return out
		}
		define(&o.op, op{name: name, forward: forward, gradients: []gradient{
			{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return again(g, o.given(c)) }},
		}})
	}
	part(&opTril, "tril", true, (*Tensor).Tril)
	part(&opTriu, "triu", false, (*Tensor).Triu)
}

// Tril returns a copy of the matrices in the last two axes with zeros above a
// diagonal: 0 is the main one, positive ones lie above it. It panics if there
// are fewer than two axes.
func (t *Tensor) Tril(diagonal int) *Tensor {
	t.exist("tril")
	return t.triangle(&opTril, diagonal)
}

// Triu returns a copy of the matrices in the last two axes with zeros below a
// diagonal; see [Tensor.Tril]. Triu(1) of ones is the mask of what a causal model
// must not see.
func (t *Tensor) Triu(diagonal int) *Tensor {
	t.exist("triu")
	return t.triangle(&opTriu, diagonal)
}

func (t *Tensor) triangle(o *opOf[int], diagonal int) *Tensor {
	if t.Dim() < 2 {
		fail(ErrShape, o.name, describe(t), "a triangle needs two axes", "")
	}
	return o.apply(diagonal, t)
}

// Reversing twice is doing nothing: the gradient is reversed back.
var opFlip opOf[int]

func init() {
	define(&opFlip.op, op{
		name: "flip",
		forward: func(c *call) *Tensor {
			axis := opFlip.given(c)
			whole := c.outOfOrder()
			if whole == nil {
				return flipped(c, axis)
			}
			order := whole.layout.MemoryOrder()
			turned := &call{op: c.op, attr: slices.Index(order, axis), device: c.device}
			turned.in = append(turned.few[:0], whole.alias(whole.permuted(order)))
			out := flipped(turned, opFlip.given(turned))
			out.layout = out.permuted(inverse(order))
			return out
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return g.Flip(opFlip.given(c)) }}},
	})
}

func flipped(c *call, axis int) *Tensor {
	x := c.input()
	if c.device != nil {
		return flippedOn(x, axis)
	}
	if x.IsContiguous() {
		out := c.result(x.dtype, x.layout.Shape, false)
		inner := layout.Product(x.layout.Shape[axis+1:]) * x.dtype.Size()
		loops.ReverseParts(out.memory(), x.memory(), x.layout.Shape[axis], inner)
		return out
	}
	return flipRows(c)
}

var flipRows = rowForward(&opFlip, loops.UnaryKernels{F32: loops.Reverse[float32], F64: loops.Reverse[float64], I64: loops.Reverse[int64]}, sameDtype)

// Flip returns a copy with the order of elements reversed along each of the
// axes. It panics if there is no such axis, or one is named twice.
func (t *Tensor) Flip(axes ...int) *Tensor {
	t.exist("flip")
	if t.layout.NamesNumber(axes...) {
		return t.Clone()
	}
	seen := make([]bool, t.Dim())
	out := t
	for _, a := range axes {
		a = t.axis("flip", a)
		if seen[a] {
			fail(ErrIndex, "flip", describe(t), "axis "+strconv.Itoa(a)+" is named twice", "")
		}
		seen[a] = true
		out = opFlip.apply(a, out)
	}
	if out == t {
		return t.Clone()
	}
	return out
}
