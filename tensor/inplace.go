package tensor

import (
	"fmt"
	"slices"
)

// In-place operations write through the layout of their receiver: views that
// share the storage see the change, and a gradient that saved the old value is
// refused by Backward.

// AddInPlace adds other, a tensor that can be broadcast to t's shape or a
// number, to t and returns t. It panics as described at [Tensor.CopyFrom].
func (t *Tensor) AddInPlace(other any) *Tensor { return t.update(&opAdd, other) }

// SubInPlace subtracts other from t and returns t; see [Tensor.AddInPlace].
func (t *Tensor) SubInPlace(other any) *Tensor { return t.update(&opSub, other) }

// MulInPlace multiplies t by other and returns t; see [Tensor.AddInPlace].
func (t *Tensor) MulInPlace(other any) *Tensor { return t.update(&opMul, other) }

// DivInPlace divides t by other and returns t; see [Tensor.AddInPlace].
func (t *Tensor) DivInPlace(other any) *Tensor { return t.update(&opDiv, other) }

// Fill sets every element to value, converted to the dtype, and returns t. It
// panics as described at [Tensor.CopyFrom].
func (t *Tensor) Fill(value float64) *Tensor {
	return t.CopyFrom(scalar(value, Float64))
}

// CopyFrom writes the elements of x, expanded to t's shape and converted to its
// dtype, into t and returns t. x may overlap t.
//
// Like every in-place operation it panics if t is expanded or its elements
// overlap, if t is a leaf that requires a gradient or a view in a graph (unless
// inside [NoGrad]), or if the shapes don't fit.
func (t *Tensor) CopyFrom(x *Tensor) *Tensor {
	t.checkWritable("copy from")
	l, err := x.layout.Expand(t.layout.shape...)
	if err != nil {
		e := err.(*Error)
		fail(e.Kind, "copy from", describe(t, x), e.Reason, e.Hint)
	}
	source := x.alias(l)
	if source.storage == t.storage {
		source = source.Clone()
	}
	t.assign(source)
	t.storage.version.Add(1)
	return t
}

// update computes o(t, other) and puts the result into t.
func (t *Tensor) update(o *op, other any) *Tensor {
	name := o.name + " in place"
	t.checkWritable(name)
	x := operand(name, other)
	result := t.Detach()
	NoGrad(func() { result = apply(o, nil, result, x) })
	if !slices.Equal(result.layout.shape, t.layout.shape) {
		fail(ErrShape, name, describe(t, x), fmt.Sprintf("the result has shape %v, which t can't hold", result.layout.shape), "")
	}
	if formats[result.dtype].class > formats[t.dtype].class {
		fail(ErrDtype, name, fmt.Sprintf("%s x %s", t.dtype, x.dtype),
			fmt.Sprintf("the result is %s, which a %s tensor can't hold", result.dtype, t.dtype), "convert t with To first")
	}
	t.assign(result)
	t.storage.version.Add(1)
	return t
}

// checkWritable panics if t can't be written in place.
func (t *Tensor) checkWritable(op string) {
	if t.layout.mayOverlap() {
		fail(ErrWrite, op, describe(t), "several positions share one element of memory, so a write has no clear meaning", "write to a Clone()")
	}
	if t.node != nil && GradEnabled() {
		fail(ErrWrite, op, describe(t), "the tensor takes part in a gradient", "write inside tensor.NoGrad, or to a Clone()")
	}
}
