package tensor

import (
	"cmp"
	"fmt"
	"slices"
)

// Sorting along an axis. NaN sorts as the largest number.

// order is how rows are sorted.
type order struct {
	axis       int
	descending bool
}

var opArgsort op

func init() {
	define(&opArgsort, op{
		name: "argsort",
		forward: func(c *call) *Tensor {
			x, o := c.input(), c.attr.(order)
			out := c.result(Int64, x.layout.shape, false)
			if c.device != nil {
				rowsOn("argsort", x.dtype, out, x, o.axis, float64(truth[int64](o.descending)))
				return out
			}
			switch formats[x.dtype].arithmetic {
			case inFloat32:
				argsortRows[float32](out, x, o)
			case inFloat64:
				argsortRows[float64](out, x, o)
			default:
				argsortRows[int64](out, x, o)
			}
			return out
		},
	})
}

// Argsort returns the positions that sort t along an axis, as int64: ascending,
// or descending if asked for. Equal elements keep their order. It panics if
// there is no such axis.
func (t *Tensor) Argsort(axis int, descending bool) *Tensor {
	return apply(&opArgsort, order{t.rowAxis("sort", axis), descending}, t)
}

// Sort returns a sorted copy along an axis, and the positions that its elements
// came from; see [Tensor.Argsort]. Gradients go back to those positions.
func (t *Tensor) Sort(axis int, descending bool) (sorted, from *Tensor) {
	from = t.Argsort(axis, descending)
	if t.Dim() == 0 {
		return t.Clone(), from
	}
	return t.Gather(axis, from), from
}

// TopK returns the k largest elements along an axis, largest first, and their
// positions. It panics if k is negative or more than there are.
func (t *Tensor) TopK(axis, k int) (values, at *Tensor) {
	t.exist("topk")
	if t.Dim() == 0 {
		t = t.Unsqueeze(0)
	}
	axis = t.axis("topk", axis)
	if size := t.layout.shape[axis]; k < 0 || k > size {
		fail(ErrValue, "topk", describe(t), fmt.Sprintf("%d elements of an axis of size %d", k, size), "")
	}
	at = t.Argsort(axis, true).Narrow(axis, 0, k).Contiguous()
	return t.Gather(axis, at), at
}

func argsortRows[T number](out, x *Tensor, o order) {
	// NaN is the smallest number to package cmp and the largest here.
	compare := func(a, b T) int {
		if c := cmp.Compare(truth[T](a != a), truth[T](b != b)); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	}
	axis := o.axis
	if x.Dim() == 0 {
		plain[int64](out)[0] = 0
		return
	}
	n := x.layout.shape[axis]
	if x.Len() == 0 {
		return
	}
	out, x = rowsLast(out, x, axis)
	parallelRows(x.Len()/n, parallelFrom/8/n, func(start, end int) {
		r, w := newReader[T](x), newWriter[int64](out)
		row, at := make([]T, n), make([]int64, n)
		for i := start; i < end; i++ {
			r.copy(row, i*n)
			for j := range at {
				at[j] = int64(j)
			}
			slices.SortStableFunc(at, func(a, b int64) int {
				if o.descending {
					a, b = b, a
				}
				return compare(row[a], row[b])
			})
			w.copy(at, i*n)
		}
	})
}
