package tensor

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// Sorting along an axis. NaN sorts as the largest number.

// order is how rows are sorted, and how many of the first positions are asked for.
type order struct {
	axis       int
	descending bool
	first      int
}

var opArgsort op

func init() {
	define(&opArgsort, op{
		name: "argsort",
		forward: func(c *call) *Tensor {
			x, o := c.input(), c.attr.(order)
			shape := slices.Clone(x.layout.Shape)
			if x.Dim() > 0 {
				shape[o.axis] = o.first
			}
			out := c.result(Int64, shape, false)
			if c.device != nil {
				rowsOn("argsort", x.dtype, out, x, o.axis, float64(loops.Truth[int64](o.descending)))
				return out
			}
			switch formats[x.dtype].arithmetic {
			case inFloat32:
				loops.ArgsortRows(out.array(), x.array(), o.axis, o.first, o.descending, loops.Key32, 4)
			case inFloat64:
				loops.ArgsortRows(out.array(), x.array(), o.axis, o.first, o.descending, loops.Key64, 8)
			default:
				loops.ArgsortRows(out.array(), x.array(), o.axis, o.first, o.descending, loops.KeyInt, 8)
			}
			return out
		},
	})
}

// Argsort returns the positions that sort t along an axis, as int64: ascending,
// or descending if asked for. Equal elements keep their order. It panics if
// there is no such axis.
func (t *Tensor) Argsort(axis int, descending bool) *Tensor {
	axis = t.rowAxis("sort", axis)
	n := 1
	if t.Dim() > 0 {
		n = t.layout.Shape[axis]
	}
	return apply(&opArgsort, order{axis, descending, n}, t)
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
func (t *Tensor) TopK(axis, k int) (values, at *Tensor) { return t.firstOf("topk", axis, k, true) }

// BottomK returns the k smallest elements along an axis, smallest first, and their
// positions: PyTorch's topk with largest=False. It panics as TopK does.
func (t *Tensor) BottomK(axis, k int) (values, at *Tensor) {
	return t.firstOf("bottomk", axis, k, false)
}

func (t *Tensor) firstOf(op string, axis, k int, descending bool) (values, at *Tensor) {
	t.exist(op)
	if t.Dim() == 0 {
		t = t.Unsqueeze(0)
	}
	axis = t.axis(op, axis)
	if size := t.layout.Shape[axis]; k < 0 || k > size {
		fail(ErrValue, op, describe(t), fmt.Sprintf("%d elements of an axis of size %d", k, size), "")
	}
	if t.storage.device != nil { // which sorts whole rows
		at = t.Argsort(axis, descending).Narrow(axis, 0, k).Contiguous()
	} else {
		at = apply(&opArgsort, order{axis, descending, k}, t)
	}
	return t.Gather(axis, at), at
}
