package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// What values there are, how often, and where one would stand.

// Bincount returns how often each of the numbers 0, 1, 2, ... is in t, whole numbers of
// any shape: an int64 vector up to the largest of them, and of at least atLeast
// elements. It panics if t is not of whole numbers, or one is negative.
func (t *Tensor) Bincount(atLeast int) *Tensor {
	if formats[t.exist("bincount").dtype].class != classInt {
		fail(ErrDtype, "bincount", describe(t), "only whole numbers can be counted", "convert with To(tensor.Int64)")
	}
	values := t.Ints()
	length := int64(max(atLeast, 0))
	for i, v := range values {
		if v < 0 {
			fail(ErrValue, "bincount", describe(t), fmt.Sprintf("element %d is %d", i, v), "numbers to count are at least 0")
		}
		length = max(length, min(v, math.MaxInt64-1)+1) // which newTensor refuses
	}
	out := newTensor(Int64, []int{int(length)}, true)
	counts := plain[int64](out)
	for _, v := range values {
		counts[v]++
	}
	return out.To(t.Device())
}

// Unique returns the values in t, each once and in ascending order, as a vector; where
// each element of t stands in it, int64 in t's shape; and how often each value occurs.
// NaN differs from NaN. None has a gradient.
func (t *Tensor) Unique() (values, positions, counts *Tensor) {
	sorted, from := t.exist("unique").Detach().Reshape(-1).Sort(0, false)
	at := newTensor(Int64, t.Shape(), false)
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
// into t, an ascending vector, to keep it in order: before equal elements, or behind
// them if right is set. The result is int64 in the shape of values. NaN is larger than
// any number. Nothing checks the order of t. It panics if t is not a vector.
func (t *Tensor) Searchsorted(values any, right bool) *Tensor {
	v := operand("searchsorted", values)
	t.existBeside("searchsorted", v)
	if t.Dim() != 1 {
		fail(ErrShape, "searchsorted", describe(t, v), fmt.Sprintf("the sorted numbers have %d axes, not 1", t.Dim()), "")
	}
	out := newTensor(Int64, v.Shape(), false)
	if t.dtype.IsFloat() || v.dtype.IsFloat() {
		loops.Search(plain[int64](out), t.Detach().Floats(), v.Detach().Floats(), right)
	} else {
		loops.Search(plain[int64](out), t.Ints(), v.Ints(), right)
	}
	return out.To(t.Device())
}
