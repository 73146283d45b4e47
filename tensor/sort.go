package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// Sorting along an axis. NaN sorts as the largest number.

// order says how rows are sorted, and how many of the first positions are wanted.
type order struct {
	axis       int
	descending bool
	first      int
}

var opArgsort opOf[order]

func init() {
	define(&opArgsort.op, op{
		name: "argsort",
		forward: func(c *call) *Tensor {
			x, o := c.input(), opArgsort.given(c)
			shape := slices.Clone(x.layout.Shape)
			if x.Dim() > 0 {
				shape[o.axis] = o.first
			}
			out := c.result(Int64, shape, false)
			if c.device != nil {
				rowsOn("argsort", x.dtype, out, x, o.axis, float64(loops.Truth[int64](o.descending)))
				return out
			}
			switch computeType(x.dtype) {
			case device.Float32:
				loops.ArgsortRows(out.array(), x.array(), o.axis, o.first, o.descending, loops.Key32, 4)
			case device.Float64:
				loops.ArgsortRows(out.array(), x.array(), o.axis, o.first, o.descending, loops.Key64, 8)
			default:
				if x.dtype.Size() <= 4 {
					loops.ArgsortRows(out.array(), x.array(), o.axis, o.first, o.descending, loops.KeyInt32, 4)
					return out
				}
				loops.ArgsortRows(out.array(), x.array(), o.axis, o.first, o.descending, loops.KeyInt, 8)
			}
			return out
		},
	})
}

// Argsort returns the positions that sort t along an axis, as int64: ascending, or
// descending if that is set. Equal elements keep their order. It panics if there is no
// such axis.
func (t *Tensor) Argsort(axis int, descending bool) *Tensor {
	axis = t.rowAxis("sort", axis)
	n := 1
	if t.Dim() > 0 {
		n = t.layout.Shape[axis]
	}
	return opArgsort.apply(order{axis, descending, n}, t)
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
		fail(ErrValue, op, describe(t), fmt.Sprintf("%s of an axis of size %d", humanize.Count(k, "element"), size), "")
	}
	if t.storage.Device != nil { // which sorts whole rows
		at = t.Argsort(axis, descending).Narrow(axis, 0, k).Contiguous()
	} else {
		at = opArgsort.apply(order{axis, descending, k}, t)
	}
	return t.Gather(axis, at), at
}

// Quantiles of rows. A row with NaN gives NaN.

// Quantile returns the number below which the fraction q of each row along an axis
// lies, without that axis: 0 gives the smallest element, 1 the largest, and between
// two elements it interpolates linearly. It panics if t is not floating point, if the
// axis is empty, or if q is not from 0 to 1.
func (t *Tensor) Quantile(axis int, q float64) *Tensor {
	if !t.exist("quantile").dtype.IsFloat() {
		fail(ErrDtype, "quantile", describe(t), "quantiles lie between elements, and integers don't", "convert with To(tensor.Float32)")
	}
	if !(q >= 0 && q <= 1) {
		fail(ErrValue, "quantile", describe(t), fmt.Sprintf("%g is not a fraction", q), "give a number from 0 to 1")
	}
	rows, n := t.rowsToSort("quantile", axis)
	place := q * float64(n-1)
	low, part := int(place), place-math.Floor(place)
	if part == 0 {
		return rows.Gather(-1, rows.ranked(low)).Squeeze(-1)
	}
	both := rows.Gather(-1, rows.ranked(low, low+1))
	v := both.Select(-1, 0)
	return v.Add(both.Select(-1, 1).Sub(v).Mul(part))
}

// Median returns the element in the middle of each row along an axis, without that
// axis, and its position; of an even number of elements, the lower of the two in the
// middle, as in PyTorch. It panics if the axis is empty.
func (t *Tensor) Median(axis int) (values, at *Tensor) {
	rows, n := t.exist("median").rowsToSort("median", axis)
	at = rows.ranked((n - 1) / 2)
	return rows.Gather(-1, at).Squeeze(-1), at.Squeeze(-1)
}

// ranked returns where the elements of the given ranks are in each row along the last axis; in a row with NaN, where
// the last NaN is.
func (t *Tensor) ranked(ranks ...int) *Tensor {
	n := t.Size(-1)
	if t.storage.Device == nil && t.dtype == Float32 && n < loops.MostRanked {
		shape := t.Shape()
		shape[len(shape)-1] = len(ranks)
		at := newTensor(Int64, shape, false)
		loops.RankRows(plain[int64](at), t.array(), n, ranks...)
		return at
	}
	from := t.Detach().Argsort(-1, false)
	last := from.Narrow(-1, n-1, 1) // where NaN would be
	isNaN := t.Detach().Gather(-1, last).IsNaN()
	at := make([]*Tensor, len(ranks))
	for i, rank := range ranks {
		at[i] = Where(isNaN, last, from.Narrow(-1, rank, 1))
	}
	return Cat(-1, at...)
}

// rowsToSort returns t with an axis as the last one, and its size, which is not 0.
func (t *Tensor) rowsToSort(op string, axis int) (rows *Tensor, n int) {
	axis = t.rowAxis(op, axis)
	if t.Dim() == 0 {
		t = t.Reshape(1)
	}
	n = t.layout.Shape[axis]
	if n == 0 {
		fail(ErrShape, op, describe(t), fmt.Sprintf("axis %d is empty", axis), "")
	}
	return t.Movedim(axis, -1), n
}

// Which values there are, how often, and where one would go.

// Bincount returns how often each of the numbers 0, 1, 2, ... occurs in t, integers of
// any shape: an int64 vector up to the largest of them, with at least atLeast
// elements. It panics if t is not of integers, or if one is negative.
func (t *Tensor) Bincount(atLeast int) *Tensor {
	if formats[t.exist("bincount").dtype].class != classInt {
		fail(ErrDtype, "bincount", describe(t), "only integers can be counted", "convert with To(tensor.Int64)")
	}
	values := plain[int64](t.Detach().onHost().To(Int64).Contiguous())
	low, high := loops.Extremes(values)
	if low < 0 {
		i := slices.IndexFunc(values, func(v int64) bool { return v < 0 })
		fail(ErrValue, "bincount", describe(t), fmt.Sprintf("element %d is %d", i, values[i]), "integers to count must not be negative")
	}
	length := max(0, atLeast, int(min(high, math.MaxInt64-1))+1) // which newTensor refuses
	out := newTensor(Int64, []int{length}, true)
	loops.Count(plain[int64](out), values)
	return out.To(t.Device())
}

// Unique returns the values in t, each once and in ascending order, as a vector; where
// in it each element of t is, int64 in t's shape; and how often each value occurs. NaN
// differs from NaN. None has a gradient.
func (t *Tensor) Unique() (values, positions, counts *Tensor) {
	at := newTensor(Int64, t.exist("unique").Shape(), false)
	if t.dtype != Bool && !t.dtype.IsFloat() {
		if which, times, ok := loops.Counted(t.Ints(), plain[int64](at)); ok {
			return vectorOf(which).To(t.dtype, t.Device()), at.To(t.Device()), vectorOf(times).To(t.Device())
		}
	}
	sorted, from := t.Detach().Reshape(-1).Sort(0, false)
	starts := []int64{}
	if n := sorted.Len(); n > 0 {
		differ := sorted.Narrow(0, 1, n-1).Ne(sorted.Narrow(0, 0, n-1)).Ints()
		for i, place := range from.Ints() {
			if i == 0 || differ[i-1] != 0 {
				starts = append(starts, int64(i))
			}
			plain[int64](at)[place] = int64(len(starts) - 1)
		}
	}
	times := slices.Clone(starts)
	for i := range times {
		end := int64(sorted.Len())
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		times[i] = end - starts[i]
	}
	return sorted.IndexSelect(0, vectorOf(starts)), at.To(t.Device()), vectorOf(times).To(t.Device())
}

// Searchsorted returns where values, a tensor of any shape or a number, would be put
// into t, an ascending vector, to keep it in order: before equal elements, or after
// them if right is set. The result is int64 in the shape of values. NaN is larger than
// any number. The order of t is not checked. It panics if t is not a vector.
func (t *Tensor) Searchsorted(values any, right bool) *Tensor {
	v := operand("searchsorted", values)
	t.existBeside("searchsorted", v)
	if t.Dim() != 1 {
		fail(ErrShape, "searchsorted", describe(t, v), fmt.Sprintf("the sorted numbers have %s, not 1", humanize.Count(t.Dim(), "axis")), "")
	}
	out := newTensor(Int64, v.Shape(), false)
	if t.dtype == Float32 && v.dtype == Float32 {
		loops.Search(plain[int64](out), t.float32s(), v.float32s(), right)
	} else if t.dtype.IsFloat() || v.dtype.IsFloat() {
		loops.Search(plain[int64](out), t.Detach().Floats(), v.Detach().Floats(), right)
	} else {
		loops.Search(plain[int64](out), t.Ints(), v.Ints(), right)
	}
	return out.To(t.Device())
}

// float32s returns the elements of a float32 tensor, in its own memory where they lie there in order.
func (t *Tensor) float32s() []float32 {
	t = t.Detach().onHost()
	if t.IsContiguous() {
		return plain[float32](t)
	}
	values := make([]float32, t.Len())
	newReader[float32](t).Copy(values, 0)
	return values
}
