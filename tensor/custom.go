package tensor

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/internal/humanize"
)

// Function is an operation with its own derivative, for [Apply]: for what can't be
// built from existing operations, or would then keep too much in memory.
type Function struct {
	Name string
	// Forward returns the result, and what Gradient will read. It runs outside the
	// graph.
	Forward func(in []*Tensor) (out *Tensor, saved []*Tensor)
	// Gradient returns the gradient with respect to each input, or nil where there is
	// none, given the gradient with respect to the result. It has no derivative itself.
	Gradient func(saved []*Tensor, g *Tensor) []*Tensor
}

// Differentiable is what [Apply] runs: a [Function], or a value of a type with a
// method that returns one. In a later cell, a notebook asks such a value for its
// Function again, so what Gradient needs belongs in what Forward saves, or in the
// value.
type Differentiable interface{ Function() Function }

// Function returns f.
func (f Function) Function() Function { return f }

// Apply runs a function and gives its result a place in the graph. As with any
// operation, what Forward saves is released by Backward, and must not be changed in
// place before. Apply panics if Forward does, is nil or returns no result. Backward
// panics if Gradient is nil, does not return one gradient for each input, or returns
// one whose shape is not that of its input.
func Apply(f Differentiable, in ...*Tensor) *Tensor {
	return opCustom.apply(&custom{Function: f.Function(), of: f}, in...)
}

// wrong says what the author of f got wrong.
func (f *custom) wrong(kind error, in []*Tensor, reason, hint string) {
	fail(kind, f.Name, describe(in...), reason, hint)
}

// gradients calls Gradient, and checks how many it returns.
func (f *custom) gradients(c *call, g *Tensor) []*Tensor {
	if f.Gradient == nil {
		f.wrong(ErrGrad, c.in, "the Function has no Gradient", "give it one, or use it on what requires no gradient")
	}
	saved := make([]*Tensor, len(c.saved))
	for k, s := range c.saved {
		saved[k] = s.tensor
	}
	grads := f.Gradient(saved, g)
	if len(grads) != len(c.in) {
		f.wrong(ErrValue, c.in, fmt.Sprintf("Gradient returned %s for %s", humanize.Count(len(grads), "gradient"), humanize.Count(len(c.in), "input")),
			"return one for each input, nil where there is none")
	}
	return grads
}

// custom is one use of a Function.
type custom struct {
	Function
	of    Differentiable // what gave the Function
	given *Tensor        // the gradient of the result that gradients were computed for
	grads []*Tensor      // until they are fetched
}

var opCustom opOf[*custom]

func init() {
	define(&opCustom.op, op{
		name:      "custom",
		variadic:  true,
		composite: true,
		forward: func(c *call) *Tensor {
			var out *Tensor
			var saved []*Tensor
			in := slices.Clone(c.in)
			f := opCustom.given(c)
			if f.Forward == nil {
				f.wrong(ErrValue, in, "the Function has no Forward", "")
			}
			NoGrad(func() { out, saved = f.Forward(in) })
			if out == nil {
				f.wrong(ErrValue, in, "Forward returned no result", "")
			}
			for i, x := range saved {
				if x == nil {
					f.wrong(ErrValue, in, fmt.Sprintf("value %d that Forward saves is nil", i), "leave it out")
				}
				c.save(x, fmt.Sprintf("value %d of those that it saved", i))
			}
			for _, x := range c.in {
				if out.storage == x.storage {
					return out.Detach().Clone()
				}
			}
			return out.Detach()
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, i int) *Tensor {
			f := opCustom.given(c)
			if g.node != nil {
				f.wrong(ErrGrad, c.in, "gradients of gradients don't pass through a Function", "leave it out where CreateGraph is used")
			}
			if f.given != g {
				f.grads = f.gradients(c, g)
				f.given = g
			}
			grad := f.grads[i]
			switch {
			case grad == nil:
				grad = c.in[i].beside(c.in[i].dtype, c.in[i].layout.Shape, true)
			case !sameShape(grad, c.in[i]):
				f.wrong(ErrShape, c.in, fmt.Sprintf("the gradient of input %d has shape %v", i, grad.layout.Shape), "")
			}
			return grad
		}}},
	})
}

// d(value)/dx is taken to be 1.
var opStraightThrough opOf[*Tensor]

func init() {
	define(&opStraightThrough.op, op{
		name:      "straight through",
		forward:   func(c *call) *Tensor { return opStraightThrough.given(c).converted(c.input().dtype) },
		gradients: []gradient{{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }}},
		bytes: func(c *call, out *Tensor) int {
			return opStraightThrough.given(c).distinctBytes() + out.distinctBytes()
		},
	})
}

// StraightThrough returns a copy of value, and passes gradients on to x as if it
// were x: a straight-through estimator. It lets a rounded value take the place of the
// exact one in the forward pass without rounding the gradients, too. It panics unless
// both have the same shape and dtype.
func StraightThrough(x, value *Tensor) *Tensor {
	if !slices.Equal(x.layout.Shape, value.layout.Shape) || x.dtype != value.dtype {
		fail(ErrShape, "straight through", describe(x, value), "the value must have the shape and dtype of what it stands for", "")
	}
	return opStraightThrough.apply(value.Detach(), x)
}
