package tensor

import "slices"

// d(value)/dx is taken to be 1.
var opStraightThrough op

func init() {
	define(&opStraightThrough, op{
		name:      "straight through",
		forward:   func(c *call) *Tensor { return c.attr.(*Tensor).converted(c.input().dtype) },
		gradients: []gradient{{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }}},
		bytes:     func(c *call, out *Tensor) int { return c.attr.(*Tensor).distinctBytes() + out.distinctBytes() },
	})
}

// StraightThrough returns a copy of value, and passes gradients on to x as if it
// were x: a straight-through estimator. It lets a value that was rounded take the
// place of the exact one in the forward pass without rounding gradients too. It
// panics unless both have the same shape and dtype.
func StraightThrough(x, value *Tensor) *Tensor {
	if !slices.Equal(x.layout.Shape, value.layout.Shape) || x.dtype != value.dtype {
		fail(ErrShape, "straight through", describe(x, value), "the value must have the shape and dtype of what it stands for", "")
	}
	return apply(&opStraightThrough, value.Detach(), x)
}
