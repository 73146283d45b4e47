package tensor

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/tensor/layout"
)

// Neighbouring pairs (a, b) of a row are turned by an angle of their own:
//
//	(a·cos - b·sin, a·sin + b·cos)
//
// and the gradient is turned back.
var opRotatePairs op

func init() {
	define(&opRotatePairs, op{
		name: "rotate pairs",
		forward: func(c *call) *Tensor {
			x, cos, sin, way := c.in[0], c.in[1], c.in[2], c.attr.(int)
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
			if formats[x.dtype].arithmetic == inFloat64 {
				rotateRows[float64](out, x, cos.Detach().To(Float64).expanded(half), sin.Detach().To(Float64).expanded(half), way)
			} else {
				rotateRows[float32](out, x, cos.Detach().To(Float32).expanded(half), sin.Detach().To(Float32).expanded(half), way)
			}
			return out
		},
		gradients: []gradient{
			{readsRight | readsThird, func(c *call, g *Tensor, _ int) *Tensor {
				return apply(&opRotatePairs, -c.attr.(int), g, c.in[1].Detach(), c.in[2].Detach())
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
	return apply(&opRotatePairs, 1, t, cos, sin)
}

// rotateSteps is the same in steps that every device has; way -1 turns back.
func (t *Tensor) rotateSteps(cos, sin *Tensor, way int) *Tensor {
	shape := t.Shape()
	pairs := t.Reshape(append(slices.Clone(shape[:len(shape)-1]), shape[len(shape)-1]/2, 2)...)
	a, b, s := pairs.Select(-1, 0), pairs.Select(-1, 1), sin.Mul(way)
	return Stack(-1, a.Mul(cos).Sub(b.Mul(s)), a.Mul(s).Add(b.Mul(cos))).Reshape(shape...)
}

func rotateRows[T float32 | float64](out, x, cos, sin *Tensor, way int) {
	d := x.Size(-1)
	direct := isPlain[T](x) && isPlain[T](out) && cos.layout.Strides[x.Dim()-1] == 1 && sin.layout.Strides[x.Dim()-1] == 1
	lead := x.layout.Shape[:x.Dim()-1]
	parallelRows(x.Len()/d, parallelFrom/d, func(start, end int) {
		if direct {
			to, from, c, s := plain[T](out), plain[T](x), elements[T](cos.storage), elements[T](sin.storage)
			for row := start; row < end; row++ {
				rotateRow(to[row*d:][:d:d], from[row*d:][:d:d], c[rowOffset(&cos.layout, lead, row):][:d/2], s[rowOffset(&sin.layout, lead, row):][:d/2], T(way))
			}
			return
		}
		rx, rc, rs, w := newReader[T](x), newReader[T](cos), newReader[T](sin), newWriter[T](out)
		src, dst, c, s := make([]T, d), make([]T, d), make([]T, d/2), make([]T, d/2)
		for row := start; row < end; row++ {
			rx.copy(src, row*d)
			rc.copy(c, row*d/2)
			rs.copy(s, row*d/2)
			rotateRow(dst, src, c, s, T(way))
			w.copy(dst, row*d)
		}
	})
}

// rowOffset returns where in memory a row lies, in row-major order of leading axes.
func rowOffset(l *Layout, lead []int, row int) int {
	at := l.Offset
	for axis := len(lead) - 1; axis >= 0; axis-- {
		at += row % lead[axis] * l.Strides[axis]
		row /= lead[axis]
	}
	return at
}

func rotateRow[T float32 | float64](dst, x, cos, sin []T, way T) {
	sin = sin[:len(cos)]
	for i, c := range cos {
		s := sin[i] * way
		a, b := x[2*i], x[2*i+1]
		dst[2*i] = T(a*c) - T(b*s)
		dst[2*i+1] = T(a*s) + T(b*c)
	}
}
