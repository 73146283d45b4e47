package tensor

import (
	"fmt"
	"math"
)

// Range selects positions of an axis in [Tensor.Index]; make one with [To],
// [From], [Between] or use [All].
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
// An int drops its axis, a [Range] keeps it. The result is a view. It panics if
// there are more indices than axes or one is out of range.
func (t *Tensor) Index(items ...any) *Tensor {
	named := 0
	for _, item := range items {
		if _, isMarker := item.(marker); !isMarker {
			named++
		}
	}
	if named > t.Dim() {
		fail(ErrIndex, "index", describe(t), fmt.Sprintf("%d indices for %d axes", named, t.Dim()), "")
	}
	axis, sawEllipsis := 0, false
	for _, item := range items {
		switch item := item.(type) {
		case int:
			t = t.Select(axis, item)
		case Range:
			if item != All {
				t = t.Slice(axis, item.start, item.stop, item.step)
			}
			axis++
		case marker:
			switch {
			case item == NewAxis:
				t = t.Unsqueeze(axis)
				axis++
			case sawEllipsis:
				fail(ErrIndex, "index", describe(t), "an ellipsis stands twice", "keep one")
			default:
				sawEllipsis = true
				axis = t.Dim() - (named - namedBefore(items))
			}
		default:
			fail(ErrIndex, "index", describe(t), fmt.Sprintf("an index is a %T", item), "use an int, a tensor.Range such as tensor.All, tensor.Ellipsis or tensor.NewAxis")
		}
	}
	return t
}

// namedBefore counts the indices before the ellipsis that take an axis.
func namedBefore(items []any) int {
	n := 0
	for _, item := range items {
		if m, isMarker := item.(marker); isMarker {
			if m == Ellipsis {
				break
			}
			continue
		}
		n++
	}
	return n
}

// SetIndex writes value, a tensor that can be expanded to the part or a number,
// into the part of t that the indices select, and returns t. It panics as Index
// does and as described at [Tensor.CopyFrom].
func (t *Tensor) SetIndex(value any, items ...any) *Tensor {
	t.Index(items...).CopyFrom(operand("set index", value))
	return t
}
