package tensor

import (
	"fmt"

	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// y = x·s·w with s = 1/√(mean x² + eps), over rows of n elements. With h = dL/dy·w and
// x̂ = x·s:
//
//	dL/dx = s·(h - x̂·mean(h·x̂))    dL/dw = Σ rows dL/dy·x̂
var opRMSNorm op

// opRMSNormGradient is dL/dx of that, of the inputs dL/dy, x and w.
var opRMSNormGradient op

func init() {
	define(&opRMSNorm, op{
		name: "rms norm",
		forward: func(c *call) *Tensor {
			norm := c.attr.(rowNorm)
			if c.device != nil { // in steps that every device has
				in := c.widened()
				return in[0].Mul(norm.rootScale(in[0])).Mul(in[1]).To(c.in[0].dtype)
			}
			return norm.run(c, loops.RMSNorm[float32], loops.RMSNorm[float64])
		},
		gradients: []gradient{
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				norm, x, w := c.attr.(rowNorm), c.in[0], c.in[1]
				if !g.RequiresGrad() && !x.RequiresGrad() && !w.RequiresGrad() {
					return apply(&opRMSNormGradient, norm, g, x, w)
				}
				return norm.rmsGradient(g, x, w) // the gradient's own gradient is wanted
			}},
			{readsLeft, func(c *call, g *Tensor, _ int) *Tensor {
				norm, x, w := c.attr.(rowNorm), c.in[0], c.in[1]
				if g.RequiresGrad() || x.RequiresGrad() {
					return g.Mul(x.Mul(norm.rootScale(x))).sumTo(w.layout.Shape)
				}
				return g.Mul(x.RMSNorm(nil, norm.eps)).sumTo(w.layout.Shape)
			}},
		},
		// A square, a sum and two products; for each row a quotient, eps, a root and its
		// reciprocal.
		flops: func(c *call, out *Tensor) int { return 4*out.Len() + 4*c.attr.(rowNorm).rows(out) },
	})
	define(&opRMSNormGradient, op{
		name: "rms norm gradient",
		forward: func(c *call) *Tensor {
			norm := c.attr.(rowNorm)
			if c.device != nil {
				in := c.widened()
				return norm.rmsGradient(in[0], in[1], in[2]).To(c.in[0].dtype)
			}
			return norm.run(c, loops.RMSNormGradient[float32], loops.RMSNormGradient[float64])
		},
		// A square and a sum; then x̂, h, h·x̂ and its sum, and three steps to the result. One
		// more quotient for each row.
		flops: func(c *call, out *Tensor) int { return 9*out.Len() + 5*c.attr.(rowNorm).rows(out) },
	})
}

// RMSNorm divides by the root of the mean square over the last axis and multiplies by
// weight (Zhang and Sennrich 2019, arXiv:1910.07467):
//
//	x / sqrt(mean(x²) + eps) · weight
//
// weight is a vector of that size; nil stands for ones. Small floats are computed in
// float32 and rounded once. It panics unless t is floating point and the weight fits.
func (t *Tensor) RMSNorm(weight *Tensor, eps float64) *Tensor {
	t.exist("rms norm")
	if t.Dim() == 0 {
		fail(ErrShape, "rms norm", describe(t), "a single number has no axis to be normalized over", "")
	}
	if !t.dtype.IsFloat() {
		fail(ErrDtype, "rms norm", t.dtype.String(), "the root of whole numbers is not a whole number", "convert with To(tensor.Float32)")
	}
	if weight == nil {
		weight = With(t.dtype, t.Device()).Ones(t.Size(-1))
	} else if weight.exist("rms norm"); weight.Dim() != 1 || weight.Size(0) != t.Size(-1) || weight.dtype != t.dtype {
		fail(ErrShape, "rms norm", describe(t, weight), fmt.Sprintf("the weight must have shape [%d] and dtype %s", t.Size(-1), t.dtype), "")
	}
	return apply(&opRMSNorm, rowNorm{1, eps}, t, weight)
}

// rootScale computes s in steps that have gradients of their own.
func (n rowNorm) rootScale(x *Tensor) *Tensor {
	return x.Square().Mean(n.list(x)...).Add(n.eps).Rsqrt()
}

// rmsGradient computes dL/dx of the inputs dL/dy, x and w in such steps.
func (n rowNorm) rmsGradient(g, x, w *Tensor) *Tensor {
	scale, h := n.rootScale(x), g.Mul(w)
	normal := x.Mul(scale)
	return h.Sub(normal.Mul(h.Mul(normal).Mean(n.list(x)...))).Mul(scale)
}
