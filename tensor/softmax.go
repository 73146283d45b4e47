package tensor

import (
	"math"
	"slices"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Softmax, its logarithm, and the logarithm of a sum of exponentials. All
// subtract the largest element first, so that nothing overflows, and add
// blocks in float64.

// y = softmax(x): dL/dxᵢ = yᵢ·(gᵢ - Σⱼ gⱼ·yⱼ)
var opSoftmax opOf[int]

// y = log softmax(x): dL/dxᵢ = gᵢ - exp(yᵢ)·Σⱼ gⱼ
var opLogSoftmax opOf[int]

func init() {
	define(&opSoftmax.op, op{
		name:    "softmax",
		cast:    castWide,
		forward: softmaxForward(&opSoftmax, loops.UnaryKernels{F32: loops.Softmax[float32], F64: loops.Softmax[float64]}, false),
		gradients: []gradient{{readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			y, axis := c.out, opSoftmax.given(c)
			if axis == y.Dim()-1 {
				if dx := c.fusedGradient("softmax gradient", g, y); dx != nil {
					return dx
				}
			}
			return y.Mul(g.Sub(g.Mul(y).sumKeeping(axis)))
		}}},
		flops: perElement(5), // the largest element, a difference, an exponential, a sum and a quotient
	})
	define(&opLogSoftmax.op, op{
		name:    "log softmax",
		cast:    castWide,
		forward: softmaxForward(&opLogSoftmax, loops.UnaryKernels{F32: loops.LogSoftmax[float32], F64: loops.LogSoftmax[float64]}, true),
		gradients: []gradient{{readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			return g.Sub(c.out.Exp().Mul(g.sumKeeping(opLogSoftmax.given(c))))
		}}},
		// As x - logsumexp(x): one more difference for each element.
		flops: func(c *call, out *Tensor) int { return 5*out.Len() + 2*rowsAlong(out, opLogSoftmax.given(c)) },
	})
}

// softmaxForward is rowForward, except for columns that can be processed side by side.
func softmaxForward(o *opOf[int], k loops.UnaryKernels, logarithm bool) func(c *call) *Tensor {
	rows := rowForward(o, k, floatDtype)
	return func(c *call) *Tensor {
		x, axis := c.input(), o.given(c)
		if c.device != nil || x.dtype != Float32 || x.Dim() == 0 || !x.IsContiguous() {
			return rows(c)
		}
		out := c.result(Float32, x.layout.Shape, false)
		switch {
		case axis < x.Dim()-1 && loops.SoftmaxColumns(out.array(), x.array(), axis, logarithm):
		case axis == x.Dim()-1 && logarithm && loops.LogSoftmaxRows(out.array(), x.array()):
		default:
			k.MapRows(device.Float32, out.array(), x.array(), axis)
		}
		return out
	}
}

// sumKeeping sums over an axis, which stays with size 1.
func (t *Tensor) sumKeeping(axis int) *Tensor {
	if t.Dim() == 0 {
		return t
	}
	return t.Sum(axis, KeepDim)
}

// Softmax returns exp(x)/Σexp(x) along an axis: positive numbers that sum to 1. The
// largest element is subtracted first, so that nothing overflows. It panics if there
// is no such axis.
func (t *Tensor) Softmax(axis int) *Tensor { return opSoftmax.apply(t.rowAxis("softmax", axis), t) }

// LogSoftmax returns the logarithm of [Tensor.Softmax], without losing digits as a
// separate logarithm would.
func (t *Tensor) LogSoftmax(axis int) *Tensor {
	return opLogSoftmax.apply(t.rowAxis("log softmax", axis), t)
}

// d(ln Σexp x)/dx = softmax(x) = exp(x - y), and where y is infinite, the limit:
// elements that are +∞ share the gradient, and if all are -∞, none gets any.
var opLogSumExp opOf[reduced]

func init() {
	define(&opLogSumExp.op, op{
		name: "logsumexp",
		cast: castWide,
		forward: func(c *call) *Tensor {
			x, r := c.input(), opLogSumExp.given(c)
			_, dtype := floatDtype(x.dtype)
			out := c.result(wideSum(dtype), r.shape(x.layout.Shape, r.keep), false)
			if c.device != nil {
				reduceOn(c.op.name, out.dtype, out, r.lastAxes(x), r.count)
				return out.To(dtype)
			}
			needRoom("logsumexp", x.layout.Shape, 8*r.count) // of one row; x may be an expanded view
			loops.LogSumExps(out.array(), r.lastAxes(x).array(), r.count)
			return out.To(dtype)
		},
		gradients: []gradient{{readsInput | readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			r, x, y := opLogSumExp.given(c), c.input(), c.out
			if !y.has(loops.IsInf) {
				return r.back(g, x).Mul(x.Sub(r.back(y, x)).Exp())
			}
			endless := x.Eq(math.Inf(1))
			ties := endless.Sum(append(r.list(), KeepDim)...)
			share := endless.To(x.dtype).Div(ties.Maximum(1))
			none := r.back(y.Eq(math.Inf(-1)), x)
			finite := x.Sub(r.back(y, x)).MaskedFill(endless, 0).MaskedFill(none, math.Inf(-1)).Exp()
			return r.back(g, x).Mul(Where(endless, share, finite))
		}}},
		// The largest element, a difference, an exponential and a sum; then a logarithm, to
		// which the largest element is added.
		flops: func(c *call, out *Tensor) int { return 4*c.input().Len() + 2*out.Len() },
	})
}

// LogSumExp returns ln Σexp(x) over axes, or over all elements if none is named,
// without overflow. It panics if there is no such axis.
func (t *Tensor) LogSumExp(axes ...int) *Tensor {
	return opLogSumExp.apply(t.reductionOver("logsumexp", axes), t)
}

// Running sums and products along an axis.

// d(Σ_{j≤i} xⱼ)/dxₖ = 1 for k ≤ i: the gradient is the sum from the other end
var opCumsum opOf[int]

func init() {
	define(&opCumsum.op, op{
		name:    "cumsum",
		cast:    castWide,
		forward: runningForward(&opCumsum, loops.Cumsums, loops.RunningSums, 0),
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
			return g.sumFromEnd(opCumsum.given(c))
		}}},
		flops: onePerElement,
	})
}

// Cumsum returns the sums of the elements up to each along an axis. Those of
// integers and bools are int64; small floats and float32 are rounded where they are
// stored, not on the way. It panics if there is no such axis.
func (t *Tensor) Cumsum(axis int) *Tensor { return opCumsum.apply(t.rowAxis("cumsum", axis), t) }

// runningForward is rowForward, except for columns that can be processed side by side, in steps from one row to
// the next, beginning with start. As with inMemoryOrder, the result lies in memory as x does.
func runningForward(o *opOf[int], rows loops.UnaryKernels, steps loops.BinaryKernels, start float64) func(c *call) *Tensor {
	ofRows := rowForward(o, rows, sumDtype)
	return func(c *call) *Tensor {
		x, axis := c.input(), o.given(c)
		_, result := sumDtype(x.dtype)
		if c.device != nil || computeType(result) != device.Type(result) || x.Dim() == 0 {
			return ofRows(c)
		}
		order := x.layout.MemoryOrder()
		axis = slices.Index(order, axis)
		x = x.alias(x.permuted(order))
		if !x.IsContiguous() || axis == x.Dim()-1 || layout.Product(x.layout.Shape[axis+1:]) < 16 {
			return ofRows(c)
		}
		out := c.result(result, x.layout.Shape, false)
		steps.RunColumns(out.array(), x.array(), axis, start)
		out.layout = out.permuted(inverse(order))
		return out
	}
}

// sumDtype turns integers and bools into int64.
func sumDtype(d Dtype) (compute, result Dtype) {
	if !d.IsFloat() {
		d = Int64
	}
	return d, d
}

// sumFromEnd is Cumsum from the other end of the axis.
func (t *Tensor) sumFromEnd(axis int) *Tensor {
	if t.Dim() == 0 {
		return t
	}
	return t.Flip(axis).Cumsum(axis).Flip(axis)
}

// yᵢ = Π_{j≤i} xⱼ, so dL/dxₖ = (Σ_{i≥k} gᵢ·yᵢ)/xₖ where no element is 0
var opCumprod opOf[int]

func init() {
	define(&opCumprod.op, op{
		name:    "cumprod",
		cast:    castWide,
		forward: runningForward(&opCumprod, loops.Cumprods, loops.RunningProducts, 1),
		gradients: []gradient{{readsInput | readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			x, axis := c.input(), opCumprod.given(c)
			if x.Dim() == 0 {
				return g
			}
			if x.Eq(0).Any().Item() == 0 {
				return g.Mul(c.out).sumFromEnd(axis).Div(x)
			}
			// If an element is 0, leave out one factor at a time.
			n := x.Size(axis)
			parts := make([]*Tensor, n)
			for k := range n {
				one := x.beside(x.dtype, x.Select(axis, k).layout.Shape, false)
				one.fill(1)
				without := Cat(axis, x.Narrow(axis, 0, k), one.Unsqueeze(axis), x.Narrow(axis, k+1, n-k-1))
				parts[k] = g.Mul(without.Cumprod(axis)).Narrow(axis, k, n-k).Sum(axis, KeepDim)
			}
			return Cat(axis, parts...)
		}}},
		flops: onePerElement,
	})
}

// Cumprod returns the products of the elements up to each along an axis; see
// [Tensor.Cumsum].
func (t *Tensor) Cumprod(axis int) *Tensor {
	return opCumprod.apply(t.rowAxis("cumprod", axis), t)
}
