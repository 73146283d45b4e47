package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Range selects positions of an axis in [Tensor.Index]; make one with [Until], [From]
// or [Between], or use [All].
type Range struct{ start, stop, step int }

// All selects a whole axis, as ":" does in Python.
var All = Range{0, math.MaxInt, 1}

// From selects the positions from start on: "start:".
func From(start int) Range { return Range{start, math.MaxInt, 1} }

// Until selects the positions before stop: ":stop".
func Until(stop int) Range { return Range{0, stop, 1} }

// Between selects the positions in [start, stop): "start:stop".
func Between(start, stop int) Range { return Range{start, stop, 1} }

// Step returns the range with every n-th of its positions: "start:stop:n".
func (r Range) Step(n int) Range { r.step = n; return r }

// marker is an index that stands for axes instead of positions.
type marker string

const (
	// Ellipsis stands for all axes that the other indices don't name.
	Ellipsis marker = "..."
	// NewAxis inserts an axis of size 1.
	NewAxis marker = "newaxis"
)

// Index returns the part of t that a list of indices selects, one for each axis
// from the first on, as x[...] does in Python:
//
//	x.Index(0)                      // x[0]: the first row
//	x.Index(tensor.All, 1)          // x[:, 1]: the second column
//	x.Index(tensor.Between(1, 3))   // x[1:3]
//	x.Index(tensor.Ellipsis, 0)     // x[..., 0]
//
// An int drops its axis, a [Range] keeps it, and the result is a view.
//
// A tensor of integers, or an []int, picks positions of its axis in any order, and a bool
// tensor, or a []bool, picks those where it is true, on as many axes as it has. The result
// is then a copy, in which the axes of the tensors take the place of those that they picked
// from. Several tensors are broadcast together, and their axes come first if they are not
// next to each other. A bool tensor without axes picks everything or nothing: the result has
// one more axis, of size 1 or 0.
//
//	x.Index(x.Gt(0))                // x[x > 0]: a vector
//	x.Index(tensor.All, ids)        // x[:, ids]
//	x.Index(rows, columns)          // x[rows, columns]: one element for each pair
//
// It panics if there are more indices than axes, or if one is out of range.
func (t *Tensor) Index(items ...any) *Tensor {
	t.exist("index")
	items = t.listsAsTensors("index", items)
	named := 0
	for _, item := range items {
		named += axesOf(item)
	}
	if named > t.Dim() {
		fail(ErrIndex, "index", describe(t), fmt.Sprintf("%s for %s", humanize.Count(named, "index"), humanize.Count(t.Dim(), "axis")), "")
	}
	axis, rank := 0, t.Dim()
	var picks []pickedAxis
	for _, item := range items {
		switch item := item.(type) {
		case *Tensor:
			if axesOf(item) == 0 {
				t = t.Unsqueeze(axis) // from which everything or nothing is picked
			}
			for _, at := range t.asPositions(item, axis) {
				picks = append(picks, pickedAxis{axis, at})
				axis++
			}
		case int:
			t = t.Select(axis, item)
		case Range:
			if item != All {
				t = t.Slice(axis, item.start, item.stop, item.step)
			}
			axis++
		case marker:
			if item == NewAxis {
				t = t.Unsqueeze(axis)
				axis++
			} else { // a second ellipsis is harmless where no axis is left for it
				axis += rank - named
			}
		default:
			fail(ErrIndex, "index", describe(t), fmt.Sprintf("an index is a %T", item), "use an int, a tensor.Range such as tensor.All, tensor.Ellipsis, tensor.NewAxis or a tensor")
		}
	}
	if len(picks) > 0 {
		return t.pickAxes(picks)
	}
	return t
}

// listsAsTensors replaces lists of positions, or of bools, by tensors.
func (t *Tensor) listsAsTensors(op string, items []any) []any {
	for i, item := range items {
		switch item.(type) {
		case []int, []int64, [][]int, []bool:
			items = slices.Clone(items)
			items[i] = positionsGiven(op, t, item)
		}
	}
	return items
}

// axesOf returns how many axes an index takes.
func axesOf(item any) int {
	switch item := item.(type) {
	case marker:
		return 0
	case *Tensor:
		if item != nil && item.dtype == Bool {
			return item.Dim()
		}
	}
	return 1
}

// pickedAxis is an axis and the positions of it that a tensor picks.
type pickedAxis struct {
	axis int
	at   *Tensor
}

// asPositions returns the positions that an index tensor picks, one tensor for
// each of the axes that it takes, from axis on. A mask without axes picks from an axis of
// size 1.
func (t *Tensor) asPositions(index *Tensor, axis int) []*Tensor {
	switch {
	case index == nil:
		fail(ErrIndex, "index", describe(t), "an index is a nil tensor", "")
	case axis+axesOf(index) > t.Dim():
		fail(ErrIndex, "index", describe(t), "there are more indices than axes", "")
	case formats[index.dtype].class == classFloat:
		fail(ErrDtype, "index", describe(t), fmt.Sprintf("an index is a %s tensor", index.dtype), "use integers or a bool mask")
	case index.dtype != Bool:
		return []*Tensor{index}
	case index.Dim() == 0:
		return []*Tensor{newTensor(Int64, []int{index.Nonzero().Size(0)}, true)}
	}
	if have := t.layout.Shape[axis : axis+index.Dim()]; !slices.Equal(have, index.layout.Shape) {
		fail(ErrShape, "index", describe(t), fmt.Sprintf("a mask of shape %v stands for axes of sizes %v", index.layout.Shape, have), "a mask has the sizes of the axes that it picks from")
	}
	rows := index.Nonzero()
	parts := make([]*Tensor, index.Dim())
	for i := range parts {
		parts[i] = rows.Select(1, i)
	}
	return parts
}

// pickAxes indexes by tensors. With several, their axes are merged into one, in which
// each combination has one position.
func (t *Tensor) pickAxes(picks []pickedAxis) *Tensor {
	if len(picks) == 1 {
		return t.take("index", picks[0].axis, picks[0].at)
	}
	first, together := picks[0].axis, true
	var order, sizes []int
	shape := picks[0].at.layout.Shape
	for i, p := range picks {
		together = together && p.axis == first+i
		order = append(order, p.axis)
		sizes = append(sizes, t.layout.Shape[p.axis])
		_, _, shape = broadcast("index", p.at, Zeros().expanded(shape))
	}
	front := 0
	if together {
		front = first
	}
	// The combined position, in row-major order of the picked axes.
	combined := newTensor(Int64, shape, true)
	for i, p := range picks {
		at := newTensor(Int64, p.at.layout.Shape, false)
		copy(plain[int64](at), t.checkedPositions("index", p.axis, p.at))
		combined = combined.Mul(sizes[i]).Add(at)
	}
	var axes []int
	for a := range t.Dim() {
		if len(axes) == front {
			axes = append(axes, order...)
		}
		if !slices.Contains(order, a) {
			axes = append(axes, a)
		}
	}
	if len(axes) < t.Dim() {
		axes = append(axes, order...)
	}
	return t.Permute(axes...).Flatten(front, front+len(picks)-1).take("index", front, combined)
}

// SetIndex writes value into the part of t that the indices select, and returns t. The
// value is a number, or a tensor that can be expanded to the part. Where a position is
// picked several times, the last value stays. It panics as Index does and as described
// at [Tensor.CopyFrom].
func (t *Tensor) SetIndex(value any, items ...any) *Tensor {
	v := operand("set index", value)
	t.existBeside("set index", v)
	items = t.listsAsTensors("set index", items)
	write := func() { t.setPicked(v, items) }
	if !slices.ContainsFunc(items, func(item any) bool { _, ok := item.(*Tensor); return ok }) {
		write = func() {
			part := t.Index(items...)
			t.mustFill(part, v)
			part.CopyFrom(v)
		}
	}
	if err := Try(write); err != nil { // whichever step it was, this is the caller's
		e, ok := err.(*Error)
		if !ok {
			panic(err)
		}
		fail(e.Kind, "set index", describe(t, v), e.Reason, e.Hint)
	}
	return t
}

// mustFill panics unless value can be expanded to a part of t.
func (t *Tensor) mustFill(part, value *Tensor) {
	if _, err := value.layout.Expand(part.layout.Shape...); err != nil {
		fail(ErrShape, "set index", describe(t, value), fmt.Sprintf("the part has shape %v, to which the value can't be expanded", part.layout.Shape), "give a value of the part's shape, or a number")
	}
}

// setPicked writes through tensor indices. Indexing the numbers 0, 1, 2, ... in t's
// shape shows which elements they pick.
func (t *Tensor) setPicked(value *Tensor, items []any) *Tensor {
	t.checkWritable("set index")
	traced := GradEnabled() && (t.RequiresGrad() || value.RequiresGrad())
	if axis, index, ok := t.onePicked(items); ok && !traced {
		return t.setRows(axis, index, value)
	}
	n := t.Len()
	numbers := newTensor(Int64, t.layout.Shape, false)
	for i := range plain[int64](numbers) {
		plain[int64](numbers)[i] = int64(i)
	}
	at := numbers.Index(items...)
	t.mustFill(at, value)
	if traced {
		return t.CopyFrom(t.withPicked(value.To(t.dtype).Expand(at.layout.Shape...), at))
	}
	value = value.Detach().expanded(at.layout.Shape).converted(t.dtype)
	changed := t.converted(t.dtype)
	if t.storage.Device != nil {
		changed = t.withPicked(value.moved(t.Device()), at)
	} else {
		size := t.dtype.Size()
		to, from := changed.memory(), value.memory()
		for i, p := range plain[int64](at.Detach().Contiguous()) {
			copy(to[int(p)*size:][:size], from[i*size:][:size])
		}
	}
	if n > 0 {
		t.CopyFrom(changed)
	}
	return t
}

// onePicked returns the axis that a list of indices picks from, and the positions, if the list picks from one axis
// alone and takes all of the others, and t is on the processor and has no gaps.
func (t *Tensor) onePicked(items []any) (axis int, index *Tensor, ok bool) {
	axis = -1
	for i, item := range items {
		if at, is := item.(*Tensor); is && at != nil && at.storage != nil && axis < 0 && at.dtype != Bool {
			axis, index = i, at
		} else if item != All {
			return 0, nil, false
		}
	}
	if axis < 0 || len(items) > t.Dim() || formats[index.dtype].class != classInt || t.storage.Device != nil || t.Len() == 0 {
		return 0, nil, false
	}
	if t.IsContiguous() {
		return axis, index, true
	}
	dense := t.permuted(t.layout.MemoryOrder())
	return axis, index, index.Dim() == 1 && dense.IsContiguous() // the axes of a list of lists have no place in that order
}

// setRows writes value to positions of an axis.
func (t *Tensor) setRows(axis int, index, value *Tensor) *Tensor {
	at := t.checkedPositions("index", axis, index)
	shape := slices.Concat(t.layout.Shape[:axis], index.layout.Shape, t.layout.Shape[axis+1:])
	t.mustFill(t.alias(Layout{Shape: shape, Strides: make([]int, len(shape)), Offset: t.layout.Offset}), value)
	whole, order := t, t.layout.MemoryOrder()
	if !t.IsContiguous() { // as it lies in memory
		whole, axis = t.alias(t.permuted(order)), slices.Index(order, axis)
	}
	size := whole.layout.Shape
	inner := layout.Product(size[axis+1:])
	single := value.layout.RepeatsOne() && value.Len() > 0
	if single {
		value = value.alias(Layout{Shape: []int{inner}, Strides: []int{0}, Offset: value.layout.Offset})
	} else {
		value = value.alias(value.layout).expanded(shape)
		if whole != t {
			value = value.alias(value.permuted(order))
		}
	}
	rows := value.converted(t.dtype)
	return t.putBy(t.alias(t.layout), func() {
		loops.PutRows(whole.memory(), rows.memory(), layout.Product(size[:axis]), size[axis], inner*t.dtype.Size(), at, single)
	})
}

// withPicked returns t with values in place of the elements at the flat positions at,
// by operations that gradients pass through.
func (t *Tensor) withPicked(values, at *Tensor) *Tensor {
	hit, from := newTensor(Bool, t.layout.Shape, true), newTensor(Int64, t.layout.Shape, true)
	flags, sources := elements[bool](hit.storage), elements[int64](from.storage)
	for i, p := range at.Ints() {
		flags[p], sources[p] = true, int64(i)
	}
	if values.Len() == 0 {
		return t
	}
	return Where(hit.To(t.Device()), values.Reshape(values.Len()).take("index", 0, from), t)
}
