package tensor

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// Writing and adding at positions: the reverse of Gather and IndexSelect, with their
// rules. All return new tensors.

// positionsGiven returns positions that are given as a tensor, as a Go slice, which may
// be nested, or as one whole number.
func positionsGiven(op string, t *Tensor, index any) *Tensor {
	switch x := index.(type) {
	case *Tensor:
		t.existBeside(op, x)
		return x
	case []int: // which may be empty: positions nonetheless
		return Maker{dtype: Int64, given: true}.Of(x).To(t.exist(op).Device())
	}
	var at *Tensor
	if err := Try(func() { at = Of(index) }); err != nil || index == nil {
		fail(ErrValue, op, describe(t), fmt.Sprintf("the positions are a %T", index), "give an int64 tensor or an []int")
	}
	return at.To(t.exist(op).Device())
}

// gatheringAt checks positions by the rules of Gather and returns them as its record
// wants them.
//
// Where no gradient is recorded positions are read where they lie.
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

// Scatter returns a copy of t in which values, a tensor or a number, stand at the
// positions that index names, by the rules of [Tensor.Gather]:
//
//	y.At(i, index.At(i, j)) = values.At(i, j) // axis 1
//
// Of several values for one position the last stays. A values tensor has t's dtype
// and may be larger than index; what lies outside is not read. It panics as Gather
// does, and if values are too few.
func (t *Tensor) Scatter(axis int, index, values any) *Tensor {
	at, v := t.scattered("scatter", axis, index, values)
	if t.Dim() == 0 {
		return v
	}
	if !(GradEnabled() && (t.RequiresGrad() || v.RequiresGrad())) && t.storage.Device == nil {
		return opScatter.apply(at, v, t)
	}
	flat := newTensor(Int64, []int{at.index.Len()}, false)
	rows := ContiguousLayout(t.layout.Shape...)
	at.loop().Each(rows, func(i, place int) { plain[int64](flat)[i] = int64(place) })
	return t.withPicked(v, flat)
}

// y[i, at[i,j]] = x[i,j], over a copy of the second input. Where gradients are recorded Scatter has other steps.
var opScatter opOf[gathering]

func init() {
	define(&opScatter.op, op{
		name: "scatter",
		forward: func(c *call) *Tensor {
			a, x, out := opScatter.given(c), c.in[0], c.in[1].converted(c.in[1].dtype)
			x = x.Detach().Contiguous()
			loops.Put(out.array(), x.array(), a.loop())
			return out
		},
		bytes: func(c *call, out *Tensor) int {
			return c.inputBytes() + positionBytes*opScatter.given(c).index.Len() + out.distinctBytes()
		},
	})
}

// ScatterAdd is [Tensor.Scatter] that adds the values to the elements of t; several
// for one position are all added.
func (t *Tensor) ScatterAdd(axis int, index, values any) *Tensor {
	at, v := t.scattered("scatter add", axis, index, values)
	if t.Dim() == 0 {
		return t.Add(v)
	}
	return opScatterAdd.apply(at, v, t)
}

// scattered checks the arguments of Scatter and returns the values in the shape of
// the positions.
func (t *Tensor) scattered(op string, axis int, index, values any) (gathering, *Tensor) {
	positions, v := positionsGiven(op, t, index), operand(op, values)
	t.existBeside(op, v)
	v = t.fitting(op, v)
	if t.Dim() == 0 && positions.Dim() == 0 && v.Dim() == 0 && t.layout.NamesNumber(axis) {
		t.Reshape(1).gatheringAt(op, 0, positions.Reshape(1), false)
		return gathering{}, v
	}
	at := t.gatheringAt(op, axis, positions, v.RequiresGrad() && GradEnabled())
	shape := at.index.layout.Shape
	if v.number || v.Dim() == 0 {
		return at, v.Expand(shape...)
	}
	if v.Dim() != len(shape) {
		fail(ErrShape, op, describe(t, positions, v), fmt.Sprintf("the values have %s, the positions have %d", humanize.Count(v.Dim(), "axis"), len(shape)), "")
	}
	for a, size := range shape {
		if v.layout.Shape[a] < size {
			fail(ErrShape, op, describe(t, positions, v), fmt.Sprintf("axis %d has %s for %s", a, humanize.Count(v.layout.Shape[a], "value"), humanize.Count(size, "position")), "give a value for each position, or one number")
		}
		v = v.Narrow(a, 0, size)
	}
	return at, v
}

// fitting returns values in the dtype of t, which a number adapts to.
func (t *Tensor) fitting(op string, v *Tensor) *Tensor {
	if v.number && formats[v.dtype].class <= formats[t.dtype].class {
		return v.To(t.dtype, t.Device())
	}
	if v.dtype != t.dtype {
		fail(ErrDtype, op, describe(t, v), fmt.Sprintf("the values are %s, the tensor is %s", v.dtype, t.dtype), "convert the values with To")
	}
	return v
}

// IndexAdd returns a copy of t to whose positions of an axis, those that index, a
// vector, lists, values is added: position j of values to position index[j] of t. The
// sum of a position that is listed several times has all of them. It panics as
// [Tensor.IndexSelect] does, and if values has not the shape of what that would
// select, or another dtype than t.
func (t *Tensor) IndexAdd(axis int, index any, values *Tensor) *Tensor {
	const op = "index add"
	at := positionsGiven(op, t, index)
	t.existBeside(op, values)
	if t.Dim() == 0 {
		fail(ErrShape, op, describe(t, at, values), "a single number has no axis to add along", "use Add")
	}
	axis = t.axis(op, axis)
	if at.Dim() > 1 {
		fail(ErrShape, op, describe(t, at, values), "the positions are not a vector", "flatten them with View(-1)")
	}
	want := t.Shape()
	want[axis] = at.Len()
	if !slices.Equal(values.layout.Shape, want) {
		fail(ErrShape, op, describe(t, at, values), fmt.Sprintf("the values have shape %v, the positions stand for %v", values.layout.Shape, want), "give one slice for each position")
	}
	s := selection{axis, t.layout.Shape[axis], t.checkedPositions(op, axis, at.Reshape(-1))}
	return opIndexAdd.apply(s, t.fitting(op, values), t)
}
