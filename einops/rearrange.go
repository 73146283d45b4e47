package einops

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/tensor"
)

// Input is what patterns are applied to: a tensor, or a list of tensors of the same
// shape, which is stacked on a new first axis.
type Input interface {
	*tensor.Tensor | []*tensor.Tensor
}

// A Size is the length of a named axis. [Axis] gives one, and [Infer] asks for one.
type Size struct {
	Name string
	Len  int
	into *int
}

// String returns "heads=2".
func (s Size) String() string { return fmt.Sprintf("%s=%d", s.Name, s.Len) }

// Axis gives the length of an axis that can't be worked out from the shape, or that
// should be checked.
func Axis(name string, length int) Size { return Size{Name: name, Len: length} }

// Infer asks for the length of an axis: it is stored in *length when the call
// has worked it out.
//
//	var hidden int
//	x = einops.Rearrange(x, "... (heads hidden) -> ... heads hidden",
//		einops.Axis("heads", 2), einops.Infer("hidden", &hidden))
func Infer(name string, length *int) Size { return Size{Name: name, into: length} }

// Rearrange returns the elements of x with its axes split, exchanged and
// composed as the pattern says; every axis is on both sides. Parentheses compose
// axes, the last one varying fastest; 1 and () are axes of length 1; ... stands
// for any number of axes, and inside parentheses on the right composes them.
//
//	einops.Rearrange(x, "batch seq (heads hidden) -> batch heads seq hidden", einops.Axis("heads", 8))
//
// The result shares the storage of x (it is a view, or x itself if nothing
// changes) whenever strides can express it: always if no axes are composed on
// the right, otherwise if the composed axes follow each other in memory.
// Otherwise it is a copy.
//
// It panics with an [*Error] if the pattern is not well formed or does not fit.
func Rearrange[X Input](x X, pattern string, axes ...Size) *tensor.Tensor {
	t := input(rearranging, pattern, x)
	return planFor(rearranging, pattern, t).run(t, nil, axes)
}

// input returns the tensor that a pattern is applied to.
func input[X Input](op, pattern string, x X) *tensor.Tensor {
	switch x := any(x).(type) {
	case *tensor.Tensor:
		return x
	case []*tensor.Tensor:
		return stacked(op, pattern, x)
	}
	return nil
}

// stacked joins tensors on a new first axis.
func stacked(op, pattern string, list []*tensor.Tensor) *tensor.Tensor {
	fail := func(kind error, reason string, shapes ...[]int) {
		must(&Error{Kind: kind, Op: op, Pattern: pattern, End: len(pattern), Reason: reason, Shapes: shapes})
	}
	if len(list) == 0 {
		fail(ErrOperand, "the list of tensors is empty")
	}
	for i, t := range list {
		switch {
		case t == nil:
			fail(ErrOperand, fmt.Sprintf("tensor %d of the list is nil", i))
		case !slices.Equal(t.Shape(), list[0].Shape()):
			fail(tensor.ErrShape, fmt.Sprintf("tensor %d of the list has another shape than tensor 0, so they can't be stacked", i), list[0].Shape(), t.Shape())
		}
	}
	return tensor.Stack(0, list...)
}
