package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Biased, given among the axes of Var or Std, divides by the number of elements
// instead of one less: x.Var(-1, tensor.Biased).
const Biased = layout.Biased

// spread says what Var and Std reduce over, and what they divide by.
type variance struct {
	reduced
	divisor int // elements, less one unless biased; at least 0
}

func (t *Tensor) varianceOver(op string, axes []int) variance {
	t.exist(op)
	biased := false
	plain := make([]int, 0, len(axes))
	for _, a := range axes {
		if a == Biased {
			biased = true
		} else {
			plain = append(plain, a)
		}
	}
	t.needFloats(op, "the standard deviation of integers is not an integer")
	v := variance{reduced: t.reductionOver(op, plain)}
	v.divisor = v.count
	if !biased {
		v.divisor = max(v.count-1, 0)
	}
	return v
}

// d var(x)/dx = 2(x - mean)/(n-1)
var opVar opOf[variance]

// d std(x)/dx = (x - mean)/((n-1)·std), and 0 where std is 0
var opStd opOf[variance]

func init() {
	define(&opVar.op, op{
		name:    "var",
		cast:    castWide,
		forward: func(c *call) *Tensor { return spreadForward(c, opVar.given(c), func(v float64) float64 { return v }) },
		gradients: []gradient{{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
			v, x := opVar.given(c), c.input()
			return v.back(g.Mul(2/float64(v.divisor)), x).Mul(v.centred(x))
		}}},
		flops: spreadFLOPs(2),
	})
	define(&opStd.op, op{
		name:    "std",
		cast:    castWide,
		forward: func(c *call) *Tensor { return spreadForward(c, opStd.given(c), math.Sqrt) },
		gradients: []gradient{{readsInput | readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			v, wide := opStd.given(c), wideSum(g.dtype) // (n-1)·std may be beyond float16
			x, out := c.input().To(wide), c.out.To(wide)
			flat := out.Eq(0) // masked before dividing, so that no derivative of slope is 0/0
			slope := g.To(wide).Div(out.Mul(v.divisor).MaskedFill(flat, 1)).MaskedFill(flat, 0)
			return v.back(slope, x).Mul(v.centred(x)).To(g.dtype)
		}}},
		flops: spreadFLOPs(3),
	})
}

// spreadFLOPs: each element is summed, centered, squared and summed again; each
// result takes two quotients, and a root for the standard deviation.
func spreadFLOPs(each int) func(c *call, out *Tensor) int {
	return func(c *call, out *Tensor) int { return 4*c.input().Len() + each*out.Len() }
}

// Var returns the variance over axes, or over all elements if none is named: the mean
// squared distance from the mean, divided by n-1 instead of n unless Biased is among
// the axes. For one element it is NaN. It panics unless t is floating point, or if
// there is no such axis.
func (t *Tensor) Var(axes ...int) *Tensor { return opVar.apply(t.varianceOver("var", axes), t) }

// Std returns the standard deviation, the root of [Tensor.Var].
func (t *Tensor) Std(axes ...int) *Tensor { return opStd.apply(t.varianceOver("std", axes), t) }

// centered returns x minus its mean.
func (v variance) centred(x *Tensor) *Tensor {
	return x.Sub(x.Mean(append(v.list(), KeepDim)...))
}

func spreadForward(c *call, v variance, finish func(float64) float64) *Tensor {
	x := c.input()
	out := x.beside(wideSum(x.dtype), v.shape(x.layout.Shape, v.keep), false)
	rows := v.lastAxes(x)
	if c.device != nil {
		reduceOn(c.op.name, out.dtype, out, rows, v.count, float64(v.divisor))
		return out.To(x.dtype)
	}
	loops.Spreads(out.array(), rows.array(), v.count, v.divisor, finish)
	return out.To(x.dtype)
}

// d‖x‖/dx = x/‖x‖, and 0 where the norm is 0
var opNorm opOf[reduced]

func init() {
	define(&opNorm.op, op{
		name: "norm",
		cast: castWide,
		forward: func(c *call) *Tensor {
			x, r := c.input(), opNorm.given(c)
			out := reduceAs(x, r, wideSum(x.dtype), loops.SquareSums)
			return out.Detach().Sqrt().To(x.dtype)
		},
		gradients: []gradient{{readsInput | readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			r, x := opNorm.given(c), c.input()
			zero := c.out.Eq(0) // masked before dividing, so that no derivative of it is 0/0
			return r.back(g.Div(c.out.MaskedFill(zero, 1)).MaskedFill(zero, 0), x).Mul(x)
		}}},
		flops: func(c *call, out *Tensor) int { return 2*c.input().Len() + out.Len() }, // squares, sums and a root
	})
}

// Norm returns the Euclidean norm over axes, or over all elements if none is
// named: the root of the sum of squares. It panics unless t is floating point,
// or if there is no such axis.
func (t *Tensor) Norm(axes ...int) *Tensor {
	t.exist("norm")
	t.needFloats("norm", "the norm of integers is not an integer")
	return opNorm.apply(t.reductionOver("norm", axes), t)
}

// PNorm returns the norm (Σ|x|ᵖ)^(1/p) over axes, or over all elements if none is named. With p = 2 it is
// [Tensor.Norm]; math.Inf(1) gives the largest |x|, and 0 counts the elements that are not 0. The gradient is 0 at
// elements that are 0. It panics if p is negative or NaN, if t is not floating point, or if there is no such axis.
func (t *Tensor) PNorm(p float64, axes ...int) *Tensor {
	const op = "p-norm"
	t.exist(op).needFloats(op, "the norm of integers is not an integer")
	switch {
	case !(p >= 0):
		fail(ErrValue, op, describe(t), fmt.Sprintf("p is %g", p), "give one that is not negative")
	case p == 0:
		return t.Ne(0).Sum(axes...).To(t.dtype)
	case p == 2:
		return t.Norm(axes...)
	case p == 1:
		return t.Abs().Sum(axes...)
	case math.IsInf(p, 1):
		return t.Abs().Max(axes...)
	}
	// Elements that are 0 are masked before they are raised to a power whose slope is infinite there.
	safely := func(x *Tensor, p float64) *Tensor {
		zero := x.Detach().Eq(0)
		return x.MaskedFill(zero, 1).Pow(p).MaskedFill(zero, 0)
	}
	wide := t.To(wideSum(t.dtype)) // for powers, and their sum, that t's dtype can't hold
	return safely(safely(wide.Abs(), p).Sum(axes...), 1/p).To(t.dtype)
}

// d(Πx)/dxᵢ = Π of all others: (Πx)/xᵢ where no element is 0
var opProd opOf[reduced]

func init() {
	define(&opProd.op, op{
		name: "prod",
		cast: castWide,
		forward: func(c *call) *Tensor {
			x := c.input()
			dtype := x.dtype
			if !dtype.IsFloat() {
				dtype = Int64
			}
			compute := wideSum(dtype)
			if c.device == nil && compute == Float32 {
				compute = Float64 // factors near 1 are all rounded the same way, and a million roundings add up
			}
			return reduceAs(x, opProd.given(c), compute, loops.Products).To(dtype)
		},
		gradients: []gradient{{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
			r, x := opProd.given(c), c.input()
			if x.RequiresGrad() && x.has(func(v float64) bool { return v == 0 }) {
				return r.back(g, x).Mul(r.allOthers(x)) // the gradient of the gradient is wanted
			}
			axes := append(r.list(), KeepDim)
			zero := x.Eq(0)
			safe := x.MaskedFill(zero, 1)
			others := safe.Prod(axes...).Div(safe)
			// Another element of the product is 0.
			gone := zero.Sum(axes...).Gt(zero)
			return r.back(g, x).Mul(others.MaskedFill(gone, 0))
		}}},
		flops: inputElements,
	})
}

// allOthers returns, for each element, the product of the others that it is reduced
// with: those before it times those after it. Unlike a quotient, this has all
// derivatives even where elements are 0.
func (r reduced) allOthers(x *Tensor) *Tensor {
	var kept, gone []int
	for i, reduced := range r.axes {
		if reduced {
			gone = append(gone, i)
		} else {
			kept = append(kept, i)
		}
	}
	order := slices.Concat(kept, gone)
	moved := x.Permute(order...)
	rows := moved.Reshape(append(r.shape(x.layout.Shape, false), r.count)...)
	one := With(x.dtype, x.Device()).Ones(append(r.shape(x.layout.Shape, false), 1)...)
	before := func(rows *Tensor) *Tensor { return Cat(-1, one, rows.Narrow(-1, 0, r.count-1)).Cumprod(-1) }
	others := before(rows).Mul(before(rows.Flip(-1)).Flip(-1))
	back := make([]int, len(order))
	for i, axis := range order {
		back[axis] = i
	}
	return others.Reshape(moved.layout.Shape...).Permute(back...)
}

// Prod returns the product over axes, or over all elements if none is named. Products
// of integers and bools are int64. It panics if there is no such axis.
func (t *Tensor) Prod(axes ...int) *Tensor {
	return opProd.apply(t.reductionOver("prod", axes), t)
}
