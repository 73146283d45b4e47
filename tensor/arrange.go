package tensor

import (
	"fmt"
	"slices"
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
			fail(ErrShape, "meshgrid", describe(vectors...), fmt.Sprintf("tensor %d has %d axes, not 1", i, v.Dim()), "flatten it with View(-1)")
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
