package tensor

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// y = x̂·w + b with x̂ = (x - mean)·s and s = 1/√(var + eps), over rows of n
// elements. With h = dL/dy·w:
//
//	dL/dx = s·(h - mean h - x̂·mean(h·x̂))    dL/dw = Σ rows dL/dy·x̂    dL/db = Σ rows dL/dy
var opLayerNorm opOf[rowNorm]

// opLayerNormGradient computes dL/dx of that from dL/dy, x and w.
var opLayerNormGradient opOf[*normGradient]

// rowNorm holds the arguments of a layer norm besides tensors.
type rowNorm struct {
	axes int // how many of the last axes to normalize over
	eps  float64
}

// normGradient holds the arguments of a norm's gradient, and what a device that computes it as a whole adds.
type normGradient struct {
	rowNorm
	parameters int       // for how many it may, w or w and b
	rest       []*Tensor // dL/dw and dL/db
}

func init() {
	define(&opLayerNorm.op, op{
		name: "layer norm",
		forward: func(c *call) *Tensor {
			norm := opLayerNorm.given(c)
			if c.device != nil {
				if out := norm.whole(c); out != nil {
					return out
				}
				in := c.widened() // in steps that every device has
				normal, _ := norm.standardize(in[0])
				return normal.Mul(in[1]).Add(in[2]).To(c.in[0].dtype)
			}
			return norm.run(c, loops.NormKernels{F32: loops.LayerNorm[float32], F64: loops.LayerNorm[float64]})
		},
		gradients: []gradient{
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				norm, x, w := opLayerNorm.given(c), c.in[0], c.in[1]
				if !g.RequiresGrad() && !x.RequiresGrad() && !w.RequiresGrad() {
					return norm.gradients(c, &opLayerNormGradient, g)
				}
				return norm.gradient(g, x, w) // the gradient of the gradient is wanted
			}},
			{readsLeft, func(c *call, g *Tensor, _ int) *Tensor {
				norm, x, w := opLayerNorm.given(c), c.in[0], c.in[1]
				if dw := c.alongWith(g, 1); dw != nil {
					return dw
				}
				if g.RequiresGrad() || x.RequiresGrad() {
					normal, _ := norm.standardize(x)
					return g.Mul(normal).sumTo(w.layout.Shape)
				}
				return g.Mul(x.LayerNorm(w.layout.Shape, nil, nil, norm.eps)).sumTo(w.layout.Shape)
			}},
			{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
				if db := c.alongWith(g, 2); db != nil {
					return db
				}
				return g.sumTo(c.in[2].layout.Shape)
			}},
		},
		// Two sums, a difference, a square, and three steps from there to the result;
		// for each row two quotients, eps, a root and its reciprocal.
		flops: func(c *call, out *Tensor) int { return 7*out.Len() + 5*opLayerNorm.given(c).rows(out) },
	})
	define(&opLayerNormGradient.op, op{
		name: "layer norm gradient",
		forward: func(c *call) *Tensor {
			norm := opLayerNormGradient.given(c)
			if c.device != nil {
				if out := norm.whole(c); out != nil {
					return out
				}
				in := c.widened()
				return norm.gradient(in[0], in[1], in[2]).To(c.in[0].dtype)
			}
			return norm.run(c, loops.NormKernels{F32: loops.LayerNormGradient[float32], F64: loops.LayerNormGradient[float64]})
		},
		// As above up to the difference and the standard deviation; then x̂, h, h·x̂ and their
		// sums, and four steps to the result. Two more quotients for each row.
		flops: func(c *call, out *Tensor) int { return 13*out.Len() + 7*opLayerNormGradient.given(c).rows(out) },
	})
}

// LayerNorm subtracts the mean over the last axes, whose sizes are shape, divides by
// the standard deviation, multiplies by weight and adds bias:
//
//	(x - mean(x)) / sqrt(var(x) + eps) · weight + bias
//
// with the variance divided by n. weight and bias have that shape, too; nil means ones
// and zeros. Small floats are computed in float32 and rounded once. It panics unless t
// is floating point and its last axes, weight and bias have that shape.
func (t *Tensor) LayerNorm(shape []int, weight, bias *Tensor, eps float64) *Tensor {
	t.exist("layer norm")
	lead := len(t.layout.Shape) - len(shape)
	if len(shape) == 0 || lead < 0 || !slices.Equal(t.layout.Shape[lead:], shape) {
		fail(ErrShape, "layer norm", describe(t), fmt.Sprintf("the last sizes are not %v", shape), "")
	}
	t.needFloats("layer norm", "the standard deviation of integers is not an integer")
	for _, p := range []*Tensor{weight, bias} {
		if p != nil && (!slices.Equal(p.layout.Shape, shape) || p.dtype != t.dtype) {
			fail(ErrShape, "layer norm", describe(t, p), fmt.Sprintf("weight and bias must have shape %v and dtype %s", shape, t.dtype), "")
		}
	}
	norm := rowNorm{len(shape), eps}
	if weight == nil {
		weight = With(t.dtype, t.Device()).Ones(shape...)
	}
	if bias == nil {
		bias = With(t.dtype, t.Device()).Zeros(shape...)
	}
	return opLayerNorm.apply(norm, t, weight, bias)
}

// rows returns how many rows are normalized.
func (n rowNorm) rows(x *Tensor) int { return layout.Product(x.layout.Shape[:x.Dim()-n.axes]) }

// list returns the axes to normalize over, with KeepDim.
func (n rowNorm) list(x *Tensor) []int {
	axes := []int{KeepDim}
	for i := range n.axes {
		axes = append(axes, x.Dim()-1-i)
	}
	return axes
}

// standardize computes x̂ and s in steps that have their own gradients.
func (n rowNorm) standardize(x *Tensor) (normal, scale *Tensor) {
	axes := n.list(x)
	centred := x.Sub(x.Mean(axes...))
	scale = centred.Square().Mean(axes...).Add(n.eps).Rsqrt()
	return centred.Mul(scale), scale
}

// gradient computes dL/dx from dL/dy, x and w in such steps.
func (n rowNorm) gradient(g, x, w *Tensor) *Tensor {
	axes := n.list(x)
	normal, scale := n.standardize(x)
	h := g.Mul(w)
	return h.Sub(h.Mean(axes...)).Sub(normal.Mul(h.Mul(normal).Mean(axes...))).Mul(scale)
}

// whole has the device compute a norm in one operation. It returns nil if the device can't.
func (n rowNorm) whole(c *call) *Tensor {
	out := c.unfilled(c.in[0].dtype, c.in[0].layout.Shape...)
	if !c.fused([]*Tensor{out}, c.in, n.eps) {
		return nil
	}
	return out
}

// whole is the same for the gradient.
func (n *normGradient) whole(c *call) *Tensor {
	x, w := c.in[1], c.in[2]
	out := []*Tensor{c.unfilled(x.dtype, x.layout.Shape...)}
	for range n.parameters {
		out = append(out, c.unfilled(w.dtype, w.layout.Shape...))
	}
	if !c.fused(out, []*Tensor{c.in[0].Detach().Contiguous(), x, w}, n.eps) {
		return nil
	}
	n.rest = out[1:]
	return out[0]
}

// gradients computes dL/dx. A device computes the gradients of the parameters along with it, so that it reads its
// inputs only once, and keeps them until they are asked for. Observers are told of the same operations on all
// devices.
func (n rowNorm) gradients(c *call, o *opOf[*normGradient], g *Tensor) *Tensor {
	of := &normGradient{rowNorm: n}
	wanted := func(in *autograd.Node[*Tensor]) bool { return in != nil }
	if slices.ContainsFunc(c.inputs[1:], wanted) && !observed() {
		of.parameters = len(c.inputs) - 1
	}
	dx := o.apply(of, g, c.in[0], c.in[1])
	for i, grad := range of.rest {
		if wanted(c.inputs[i+1]) {
			c.wait(g, i+1, grad)
		}
	}
	return dx
}

// widened returns the inputs outside the graph, small floats as float32, so that
// results of several steps are rounded once.
func (c *call) widened() []*Tensor {
	wide := make([]*Tensor, len(c.in))
	for i, x := range c.in {
		wide[i] = x.Detach().To(wideSum(x.dtype))
	}
	return wide
}

// run computes the result row by row, from the same row of each input; an input with a
// single row serves all.
func (n rowNorm) run(c *call, k loops.NormKernels) *Tensor {
	out := c.result(c.in[0].dtype, c.in[0].layout.Shape, false)
	if out.Len() > 0 {
		k.Rows(out.array(), arrays(c.in), layout.Product(out.layout.Shape[out.Dim()-n.axes:]), n.eps)
	}
	return out
}

// y = x·s·w with s = 1/√(mean x² + eps), over rows of n elements. With h = dL/dy·w and
// x̂ = x·s:
//
//	dL/dx = s·(h - x̂·mean(h·x̂))    dL/dw = Σ rows dL/dy·x̂
var opRMSNorm opOf[rowNorm]

// opRMSNormGradient computes dL/dx of that from dL/dy, x and w.
var opRMSNormGradient opOf[*normGradient]

func init() {
	define(&opRMSNorm.op, op{
		name: "rms norm",
		forward: func(c *call) *Tensor {
			norm := opRMSNorm.given(c)
			if c.device != nil {
				if out := norm.whole(c); out != nil {
					return out
				}
				in := c.widened() // in steps that every device has
				return in[0].Mul(norm.rootScale(in[0])).Mul(in[1]).To(c.in[0].dtype)
			}
			return norm.run(c, loops.NormKernels{F32: loops.RMSNorm[float32], F64: loops.RMSNorm[float64]})
		},
		gradients: []gradient{
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				norm, x, w := opRMSNorm.given(c), c.in[0], c.in[1]
				if !g.RequiresGrad() && !x.RequiresGrad() && !w.RequiresGrad() {
					return norm.gradients(c, &opRMSNormGradient, g)
				}
				return norm.rmsGradient(g, x, w) // the gradient of the gradient is wanted
			}},
			{readsLeft, func(c *call, g *Tensor, _ int) *Tensor {
				norm, x, w := opRMSNorm.given(c), c.in[0], c.in[1]
				if dw := c.alongWith(g, 1); dw != nil {
					return dw
				}
				if g.RequiresGrad() || x.RequiresGrad() {
					return g.Mul(x.Mul(norm.rootScale(x))).sumTo(w.layout.Shape)
				}
				return g.Mul(x.RMSNorm(nil, norm.eps)).sumTo(w.layout.Shape)
			}},
		},
		// A square, a sum and two products; for each row a quotient, eps, a root and its
		// reciprocal.
		flops: func(c *call, out *Tensor) int { return 4*out.Len() + 4*opRMSNorm.given(c).rows(out) },
	})
	define(&opRMSNormGradient.op, op{
		name: "rms norm gradient",
		forward: func(c *call) *Tensor {
			norm := opRMSNormGradient.given(c)
			if c.device != nil {
				if out := norm.whole(c); out != nil {
					return out
				}
				in := c.widened()
				return norm.rmsGradient(in[0], in[1], in[2]).To(c.in[0].dtype)
			}
			return norm.run(c, loops.NormKernels{F32: loops.RMSNormGradient[float32], F64: loops.RMSNormGradient[float64]})
		},
		// A square and a sum; then x̂, h, h·x̂ and its sum, and three steps to the result. One
		// more quotient for each row.
		flops: func(c *call, out *Tensor) int { return 9*out.Len() + 5*opRMSNormGradient.given(c).rows(out) },
	})
}

// RMSNorm divides by the root of the mean square over the last axis and multiplies by
// weight (Zhang and Sennrich 2019, arXiv:1910.07467):
//
//	x / sqrt(mean(x²) + eps) · weight
//
// weight is a vector of that axis's size; nil means ones. Small floats are computed in
// float32 and rounded once. It panics unless t is floating point and the weight fits.
func (t *Tensor) RMSNorm(weight *Tensor, eps float64) *Tensor {
	t.exist("rms norm")
	if t.Dim() == 0 {
		fail(ErrShape, "rms norm", describe(t), "a single number has no axis to normalize over", "")
	}
	t.needFloats("rms norm", "the root of integers is not an integer")
	if weight == nil {
		weight = With(t.dtype, t.Device()).Ones(t.Size(-1))
	} else if weight.exist("rms norm"); weight.Dim() != 1 || weight.Size(0) != t.Size(-1) || weight.dtype != t.dtype {
		fail(ErrShape, "rms norm", describe(t, weight), fmt.Sprintf("the weight must have shape [%d] and dtype %s", t.Size(-1), t.dtype), "")
	}
	return opRMSNorm.apply(rowNorm{1, eps}, t, weight)
}

// rootScale computes s in steps that have their own gradients.
func (n rowNorm) rootScale(x *Tensor) *Tensor {
	return x.Square().Mean(n.list(x)...).Add(n.eps).Rsqrt()
}

// rmsGradient computes dL/dx from dL/dy, x and w in such steps.
func (n rowNorm) rmsGradient(g, x, w *Tensor) *Tensor {
	scale, h := n.rootScale(x), g.Mul(w)
	normal := x.Mul(scale)
	return h.Sub(normal.Mul(h.Mul(normal).Mean(n.list(x)...))).Mul(scale)
}
