package tensor

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Picking elements by tensors of positions, and the reverse, adding into
// positions. Positions are integers. Negative ones are refused, as in PyTorch: an id
// of -1 is more often a mistake than the last row. Only Index counts them from the
// end.

// checkedPositions returns the elements of an index tensor as positions of an
// axis of t, all at least 0.
func (t *Tensor) checkedPositions(op string, axis int, index *Tensor) []int64 {
	at := make([]int64, index.Len())
	t.checkPositions(op, axis, index, at)
	return at
}

// checkPositions writes the elements of an index tensor into at, as positions of an axis
// of t.
func (t *Tensor) checkPositions(op string, axis int, index *Tensor, at []int64) {
	index.needInts(op, "positions", t, index)
	size := t.layout.Shape[axis]
	newReader[int64](index.onHost()).Copy(at, 0)
	if loops.AllBelow(at, size) {
		return
	}
	for i, p := range at {
		if p < 0 && op == "index" {
			at[i] += int64(size)
		}
		if at[i] < 0 || at[i] >= int64(size) {
			hint := ""
			if p < 0 && p >= -int64(size) {
				hint = "only Index counts negative positions from the end"
			}
			fail(ErrIndex, op, describe(t, index), fmt.Sprintf("position %d is out of range for axis %d of size %d", p, axis, size), hint)
		}
	}
}

// selection is what IndexSelect remembers: the axis, its size and the positions.
type selection struct {
	axis, size int
	at         []int64
}

// y[.., j, ..] = x[.., at[j], ..]: the gradient is added into the positions
var opIndexSelect opOf[selection]

// y[.., at[j], ..] += x[.., j, ..], starting from 0 or from a second input, whose gradient is
// y's; the gradient of x is selected at the positions
var opIndexAdd opOf[selection]

func init() {
	define(&opIndexSelect.op, op{
		name: "index select",
		forward: func(c *call) *Tensor {
			s, x := opIndexSelect.given(c), c.input()
			shape := x.Shape()
			shape[s.axis] = len(s.at)
			out := c.result(x.dtype, shape, false)
			if c.device != nil {
				at := vectorOf(s.at).on(c.device)
				index := at.alias(Layout{Shape: shape, Strides: make([]int, len(shape)), Offset: 0})
				index.layout.Strides[s.axis] = 1
				gatherOn(c.op.name, out, x, s.axis, index)
				return out
			}
			x.contiguously(func(x *Tensor) { loops.Select(out.array(), x.array(), s.axis, s.at) })
			return out
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
			return opIndexAdd.apply(opIndexSelect.given(c), g)
		}}},
		bytes: func(c *call, out *Tensor) int { // of the source, only the rows that are selected
			s := opIndexSelect.given(c)
			some := Layout{Shape: c.input().Shape(), Strides: c.input().layout.Strides, Offset: c.input().layout.Offset}
			some.Shape[s.axis] = loops.Distinct(slices.Values(s.at))
			return c.input().alias(some).distinctBytes() + positionBytes*len(s.at) + out.distinctBytes()
		},
	})
	define(&opIndexAdd.op, op{
		name: "index add",
		forward: func(c *call) *Tensor {
			s, x := opIndexAdd.given(c), c.input()
			shape := x.Shape()
			shape[s.axis] = s.size
			sum := c.startOfSum(shape)
			if c.device != nil {
				scatterOn(c.op.name, sum, x, s.rows(layout.Product(shape[:s.axis])), layout.Product(shape[s.axis+1:]))
				return sum.To(x.dtype)
			}
			loops.AddRows(sum.array(), x.array(), s.axis, s.size, s.at)
			return sum.To(x.dtype)
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
			return opIndexSelect.apply(opIndexAdd.given(c), g)
		}}, {readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }}},
		flops: inputElements,
		bytes: func(c *call, out *Tensor) int {
			return c.inputBytes() + positionBytes*len(opIndexAdd.given(c).at) + out.distinctBytes()
		},
	})
}

// startOfSum returns the tensor that is added to: 0, or a copy of the second input.
func (c *call) startOfSum(shape []int) *Tensor {
	wide := wideSum(computeDtype(c.input().dtype))
	if len(c.in) > 1 {
		return c.in[1].converted(wide)
	}
	return c.result(wide, shape, true)
}

// inputBytes returns how many bytes all inputs take.
func (c *call) inputBytes() (n int) {
	for _, x := range c.in {
		n += x.distinctBytes()
	}
	return n
}

// positionBytes is the size of a position in memory, as an int64.
const positionBytes = 8

// rows returns the positions within each of several outer positions.
func (s selection) rows(outer int) []int64 {
	all := make([]int64, 0, outer*len(s.at))
	for o := range outer {
		for _, at := range s.at {
			all = append(all, int64(o*s.size)+at)
		}
	}
	return all
}

func gatherOn(op string, out, x *Tensor, axis int, index *Tensor) {
	out.fillOn(op, func(on device.Backend) error { return on.Gather(out.view(), x.view(), axis, index.view()) })
}

// vectorOf returns a vector of integers.
func vectorOf(at []int64) *Tensor {
	t := newTensor(Int64, []int{len(at)}, false)
	copy(plain[int64](t), at)
	return t
}

// memory returns the bytes of the elements of a contiguous tensor.
func (t *Tensor) memory() []byte {
	if t.Len() == 0 {
		return nil
	}
	return bytesOf(t.storage)[t.layout.Offset*t.dtype.Size():][:t.Bytes()]
}

// IndexSelect returns a new tensor with the positions of an axis that index, a
// vector of integers or an []int, lists, in that order. It panics if there is no such
// axis or a position is negative or out of range.
func (t *Tensor) IndexSelect(axis int, index any) *Tensor {
	at := positionsGiven("index select", t, index)
	if at.Dim() > 1 {
		fail(ErrShape, "index select", describe(t, at), "the positions are not a vector", "use Index for tensors of positions")
	}
	return t.take("index select", axis, at.Reshape(-1))
}

// take is IndexSelect for positions of any shape; their axes take the place of the
// axis.
func (t *Tensor) take(op string, axis int, index *Tensor) *Tensor {
	axis = t.axis(op, axis)
	s := selection{axis, t.layout.Shape[axis], t.checkedPositions(op, axis, index)}
	out := opIndexSelect.apply(s, t)
	shape := slices.Concat(t.layout.Shape[:axis], index.layout.Shape, t.layout.Shape[axis+1:])
	if slices.Equal(shape, out.layout.Shape) {
		return out
	}
	return out.View(shape...)
}

// Embedding looks up rows of t, a table of vectors, for ids of any shape, a tensor or a slice of ints: the result has
// the shape of ids and one more axis. Gradients of a row that is looked up several times are added. It panics if ids
// are not integers, or if one is negative or out of range.
func (t *Tensor) Embedding(ids any) *Tensor {
	at := positionsGiven("embedding", t, ids)
	if t.Dim() != 2 {
		fail(ErrShape, "embedding", describe(t), "the table is not a matrix", "give one row for each id")
	}
	return t.take("embedding", 0, at)
}

// OneHot returns an int64 tensor with one more axis than ids, which has a 1 at the id
// and 0 elsewhere. Its size is the number of classes or, if that is not given, the
// smallest size that fits all ids. It panics if ids are not integers, if one is
// negative or out of range, if there is more than one number of classes, or if there
// is neither a number of classes nor an id.
func OneHot(ids *Tensor, classes ...int) *Tensor {
	ids.exist("one hot").needInts("one hot", "ids", ids)
	all, n := ids.Ints(), 0
	switch {
	case len(classes) == 1:
		n = classes[0]
	case len(classes) > 1:
		fail(ErrValue, "one hot", describe(ids), fmt.Sprintf("%s of classes are given", humanize.Count(len(classes), "number")), "give one, or none to use the largest id plus 1")
	case len(all) == 0:
		fail(ErrValue, "one hot", describe(ids), "without an id, the number of classes can't be found", "give the number of classes")
	default:
		n = int(slices.Max(all)) + 1
	}
	for _, id := range all {
		if id < 0 || id >= int64(n) {
			fail(ErrIndex, "one hot", describe(ids), fmt.Sprintf("id %d is out of range for %s", id, humanize.Count(n, "class")), "")
		}
	}
	out := newTensor(Int64, append(ids.Shape(), n), true)
	values := plain[int64](out)
	for i, id := range all {
		values[i*n+int(id)] = 1
	}
	return out.To(ids.Device())
}

// gathering holds what Gather remembers.
type gathering struct {
	axis  int
	index *Tensor // int64, contiguous
	shape []int   // of the gathered tensor
}

// loop returns a as loops take it.
func (a gathering) loop() loops.Gathering {
	return loops.Gathering{Axis: a.axis, Index: a.index.array(), Size: a.shape[a.axis]}
}

// y[i,j] = x[i, at[i,j]] (for axis 1): the gradient is added into the positions
var opGather opOf[gathering]

// y[i, at[i,j]] += x[i,j], starting from 0 or from a second input, whose gradient is y's; the
// gradient of x is gathered from the positions
var opScatterAdd opOf[gathering]

func init() {
	define(&opGather.op, op{
		name: "gather",
		forward: func(c *call) *Tensor {
			a, x := opGather.given(c), c.input()
			out := c.result(x.dtype, a.index.layout.Shape, false)
			if c.device != nil {
				gatherOn(c.op.name, out, x, a.axis, a.index.on(c.device))
				return out
			}
			loops.Pick(out.array(), x.array(), a.loop())
			return out
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
			return opScatterAdd.apply(opGather.given(c), g)
		}}},
		bytes: func(c *call, out *Tensor) int { // of the source, only the elements that are gathered
			a, x := opGather.given(c), c.input()
			places := func(yield func(int64) bool) {
				a.loop().Each(x.layout, func(_, at int) { yield(int64(at)) })
			}
			return x.dtype.Size()*loops.Distinct(places) + positionBytes*a.index.Len() + out.distinctBytes()
		},
	})
	define(&opScatterAdd.op, op{
		name: "scatter add",
		forward: func(c *call) *Tensor {
			a, x := opScatterAdd.given(c), c.input()
			sum := c.startOfSum(a.shape)
			if c.device != nil {
				at := make([]int64, x.Len())
				a.loop().Each(sum.layout, func(i, place int) { at[i] = int64(place) })
				scatterOn(c.op.name, sum, x, at, 1)
				return sum.To(x.dtype)
			}
			loops.ScatterAdd(sum.array(), x.array(), a.loop())
			return sum.To(x.dtype)
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
			return opGather.apply(opScatterAdd.given(c), g)
		}}, {readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }}},
		flops: inputElements,
		bytes: func(c *call, out *Tensor) int {
			return c.inputBytes() + positionBytes*opScatterAdd.given(c).index.Len() + out.distinctBytes()
		},
	})
}

// Gather returns a new tensor of index's shape. Each of its elements comes from the
// same position of t, except along one axis, where index gives the position:
//
//	y.At(i, j) = x.At(i, index.At(i, j)) // axis 1
//
// index is a tensor of integers or a slice, nested as deep as t has axes. It panics if
// the ranks differ, or if index is larger than t on another axis, is not of integers,
// or has a position that is negative or out of range. A single number counts as a
// vector of one, with axis 0.
func (t *Tensor) Gather(axis int, index any) *Tensor {
	at := positionsGiven("gather", t, index)
	if t.Dim() == 0 && at.Dim() == 0 && t.layout.NamesNumber(axis) {
		return t.Reshape(1).Gather(0, at.Reshape(1)).Reshape()
	}
	a := t.gatheringAt("gather", axis, at, t.RequiresGrad() && GradEnabled())
	out := opGather.apply(a, t)
	if a.index != at && !out.RequiresGrad() && !observed() {
		a.index.Free()
	}
	return out
}

// MaskedSelect returns the elements of t where mask, a bool tensor that is
// broadcast with t, is set, as a vector in row-major order. It panics if mask is
// not bool or does not fit.
func (t *Tensor) MaskedSelect(mask *Tensor) *Tensor {
	t.existBeside("masked select", mask)
	mask.needBools("masked select", "mask", t, mask)
	_, _, shape := broadcast("masked select", t, mask)
	flat, at := t.Expand(shape...).Reshape(-1), maskPositions(mask.expanded(shape))
	out := opIndexSelect.apply(selection{0, flat.Len(), plain[int64](at)}, flat)
	if !out.RequiresGrad() && !observed() {
		at.Free()
	}
	return out
}

// maskPositions returns the flat positions where a mask is set, as a vector.
func maskPositions(mask *Tensor) (at *Tensor) {
	loops.WhereSet(mask.bools(), func(n int) []int64 {
		at = newTensor(Int64, []int{n}, false)
		return plain[int64](at)
	})
	return at
}

// bools returns the elements of a mask in row-major order.
func (t *Tensor) bools() []uint8 {
	t = t.Detach().onHost()
	if !t.IsContiguous() {
		t = t.converted(Bool)
	}
	return stored[uint8](t)
}

// Nonzero returns the positions of the elements that differ from 0 as the rows
// of an int64 matrix, with a column for each axis.
func (t *Tensor) Nonzero() *Tensor {
	set := t.exist("nonzero").Detach()
	if t.dtype != Bool {
		set = set.Ne(0)
	}
	rank := t.Dim()
	var out *Tensor
	room := func(n int) []int64 {
		rows := n
		if rank > 1 {
			rows /= rank
		}
		out = newTensor(Int64, []int{rows, rank}, false)
		return plain[int64](out)
	}
	switch {
	case rank == 0:
		out = newTensor(Int64, []int{int(set.bools()[0] & 1), 0}, false)
	case t.Len() == 0:
		room(0)
	case rank == 1:
		loops.WhereSet(set.bools(), room)
	default:
		loops.Coordinates(set.bools(), t.layout.Shape, room)
	}
	return out.To(t.Device())
}

// positionsGiven returns positions given as a tensor, as a Go slice, which may be
// nested, or as one integer.
func positionsGiven(op string, t *Tensor, index any) *Tensor {
	switch x := index.(type) {
	case *Tensor:
		t.existBeside(op, x)
		return x
	case []int: // which may be empty, and still holds positions
		return Maker{dtype: Int64, given: true}.Of(x).To(t.exist(op).Device())
	}
	var at *Tensor
	if err := Try(func() { at = Of(index) }); err != nil || index == nil {
		fail(ErrValue, op, describe(t), fmt.Sprintf("the positions are a %T", index), "give an int64 tensor or an []int")
	}
	return at.To(t.exist(op).Device())
}

// gatheringAt checks positions by the rules of Gather and returns them in the form of
// its record.
//
// Where no gradient is recorded, positions are read where they lie.
func (t *Tensor) gatheringAt(op string, axis int, index *Tensor, recorded bool) gathering {
	axis = t.axis(op, axis)
	if index.Dim() != t.Dim() {
		fail(ErrShape, op, describe(t, index), fmt.Sprintf("the positions have %s, the tensor has %d", humanize.Count(index.Dim(), "axis"), t.Dim()), "")
	}
	for a, size := range index.layout.Shape {
		if a != axis && size > t.layout.Shape[a] {
			fail(ErrShape, op, describe(t, index), fmt.Sprintf("axis %d has size %d for the positions and %d for the tensor", a, size, t.layout.Shape[a]), "")
		}
	}
	if !recorded && index.dtype == Int64 && index.storage.Device == nil && index.IsContiguous() && loops.AllBelow(plain[int64](index), t.layout.Shape[axis]) {
		return gathering{axis, index, t.Shape()}
	}
	at := newTensor(Int64, index.layout.Shape, false)
	t.checkPositions(op, axis, index, plain[int64](at))
	return gathering{axis, at, t.Shape()}
}
