package tensor

import (
	"fmt"
	"math"
)

// Numbers at a share of the sorted rows. A row with NaN gives NaN.

// Quantile returns the number below which the share q of each row along an axis lies,
// without that axis: 0 gives the smallest, 1 the largest, and what falls between two
// elements is in proportion to both. It panics if t is not of floating-point numbers,
// the axis is empty or q is not from 0 to 1.
func (t *Tensor) Quantile(axis int, q float64) *Tensor {
	if !t.exist("quantile").dtype.IsFloat() {
		fail(ErrDtype, "quantile", describe(t), "quantiles lie between elements, and whole numbers don't", "convert with To(tensor.Float32)")
	}
	if !(q >= 0 && q <= 1) {
		fail(ErrValue, "quantile", describe(t), fmt.Sprintf("%g is no share", q), "give a number from 0 to 1")
	}
	sorted, _, n := t.sortedRows("quantile", axis)
	place := q * float64(n-1)
	low := int(place)
	v := sorted.Select(-1, low)
	if part := place - math.Floor(place); part > 0 {
		v = v.Add(sorted.Select(-1, low+1).Sub(v).Mul(part))
	}
	last := sorted.Select(-1, n-1)
	return Where(last.IsNaN(), last, v)
}

// Median returns the element in the middle of each row along an axis, without that
// axis, and its position: of an even number the lower of both, as PyTorch does. It
// panics if the axis is empty.
func (t *Tensor) Median(axis int) (values, at *Tensor) {
	sorted, from, n := t.exist("median").sortedRows("median", axis)
	middle, last := (n-1)/2, sorted.Select(-1, n-1)
	missing := last.IsNaN()
	return Where(missing, last, sorted.Select(-1, middle)), Where(missing, from.Select(-1, n-1), from.Select(-1, middle))
}

// sortedRows sorts along an axis, which becomes the last, and returns its size.
func (t *Tensor) sortedRows(op string, axis int) (sorted, from *Tensor, n int) {
	axis = t.rowAxis(op, axis)
	if t.Dim() == 0 {
		t = t.Reshape(1)
	}
	n = t.layout.Shape[axis]
	if n == 0 {
		fail(ErrShape, op, describe(t), fmt.Sprintf("axis %d is empty", axis), "")
	}
	sorted, from = t.Movedim(axis, -1).Sort(-1, false)
	return sorted, from, n
}
