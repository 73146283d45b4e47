package tensor

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Neighbouring pairs (a, b) of a row are turned by an angle of their own:
//
//	(a·cos - b·sin, a·sin + b·cos)
//
// and the gradient is turned back.
var opRotatePairs opOf[int]

func init() {
	define(&opRotatePairs.op, op{
		name: "rotate pairs",
		forward: func(c *call) *Tensor {
			x, cos, sin, way := c.in[0], c.in[1], c.in[2], opRotatePairs.given(c)
			if c.device != nil { // in steps that every device has
				in := c.widened()
				return in[0].rotateSteps(in[1], in[2], way).To(x.dtype)
			}
			out := newTensor(x.dtype, x.layout.Shape, false)
			if out.Len() == 0 {
				return out
			}
			half := x.Shape()
			half[len(half)-1] /= 2
			angles := func(t *Tensor) loops.Array { return t.Detach().To(wideSum(x.dtype)).expanded(half).array() }
			loops.RotateRows(out.array(), x.array(), angles(cos), angles(sin), way)
			return out
		},
		gradients: []gradient{
			{readsRight | readsThird, func(c *call, g *Tensor, _ int) *Tensor {
				return opRotatePairs.apply(-opRotatePairs.given(c), g, c.in[1].Detach(), c.in[2].Detach())
			}},
			{}, {},
		},
		flops: perElement(3), // two products, and a sum or difference
	})
}

// RotatePairs turns each pair of neighbours (0 1), (2 3) and so on of the last axis by
// an angle whose cosine and sine are given: tensors that are broadcast to the shape of
// t with half as many features. That is how rotary position embeddings put a position
// into queries and keys (Su et al. 2021, arXiv:2104.09864). Angles are constants: they
// take no part in gradients. Small floats are computed in float32 and rounded once. It
// panics unless all are floating point and the shapes fit.
func (t *Tensor) RotatePairs(cos, sin *Tensor) *Tensor {
	t.existBeside("rotate pairs", cos)
	t.existBeside("rotate pairs", sin)
	for _, x := range []*Tensor{t, cos, sin} {
		if !x.dtype.IsFloat() {
			fail(ErrDtype, "rotate pairs", describe(t, cos, sin), x.dtype.String()+" is not floating point", "convert with To(tensor.Float32)")
		}
	}
	if t.Dim() == 0 || t.Size(-1)%2 != 0 {
		fail(ErrShape, "rotate pairs", describe(t), "the last axis is not made of pairs", "give an even number of features")
	}
	half := t.Shape()
	half[len(half)-1] /= 2
	for _, x := range []*Tensor{cos, sin} {
		if shape, err := layout.Broadcast(x.layout.Shape, half); err != nil || !slices.Equal(shape, half) {
			fail(ErrShape, "rotate pairs", describe(t, x), fmt.Sprintf("the angles can't be broadcast to %v, one for each pair", half), "")
		}
	}
	return opRotatePairs.apply(1, t, cos, sin)
}

// rotateSteps is the same in steps that every device has; way -1 turns back.
func (t *Tensor) rotateSteps(cos, sin *Tensor, way int) *Tensor {
	shape := t.Shape()
	pairs := t.Reshape(append(slices.Clone(shape[:len(shape)-1]), shape[len(shape)-1]/2, 2)...)
	a, b, s := pairs.Select(-1, 0), pairs.Select(-1, 1), sin.Mul(way)
	return Stack(-1, a.Mul(cos).Sub(b.Mul(s)), a.Mul(s).Add(b.Mul(cos))).Reshape(shape...)
}
