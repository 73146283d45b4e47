package tensor

import (
	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Running sums and products along an axis.

// d(Σ_{j≤i} xⱼ)/dxₖ = 1 for k ≤ i: the gradient is the sum from the other end
var opCumsum opOf[int]

func init() {
	define(&opCumsum.op, op{
		name:    "cumsum",
		cast:    castWide,
		forward: runningForward(&opCumsum, loops.UnaryKernels{F32: loops.Cumsum[float32], F64: loops.Cumsum[float64], I64: loops.Cumsum[int64]}, loops.RunningSums, 0),
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
			return g.sumFromEnd(opCumsum.given(c))
		}}},
		flops: onePerElement,
	})
}

// Cumsum returns the sums of the elements up to each along an axis. Those of
// whole numbers and bools are int64. It panics if there is no such axis.
func (t *Tensor) Cumsum(axis int) *Tensor { return opCumsum.apply(t.rowAxis("cumsum", axis), t) }

// runningForward is rowForward but for columns that can be gone through side by side, as steps from one row to the
// next, the first of which is start.
func runningForward(o *opOf[int], rows loops.UnaryKernels, steps loops.BinaryKernels, start float64) func(c *call) *Tensor {
	ofRows := rowForward(o, rows, sumDtype)
	return func(c *call) *Tensor {
		x, axis := c.input(), o.given(c)
		_, result := sumDtype(x.dtype)
		if c.device != nil || computeType(result) != device.Type(result) || !x.IsContiguous() || axis >= x.Dim()-1 || layout.Product(x.layout.Shape[axis+1:]) < 16 {
			return ofRows(c)
		}
		out := c.result(result, x.layout.Shape, false)
		steps.RunColumns(out.array(), x.array(), axis, start)
		return out
	}
}

// sumDtype turns whole numbers and bools into int64.
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
		forward: runningForward(&opCumprod, loops.UnaryKernels{F32: loops.Cumprod[float32], F64: loops.Cumprod[float64], I64: loops.Cumprod[int64]}, loops.RunningProducts, 1),
		gradients: []gradient{{readsInput | readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			x, axis := c.input(), opCumprod.given(c)
			if x.Dim() == 0 {
				return g
			}
			if x.Eq(0).Any().Item() == 0 {
				return g.Mul(c.out).sumFromEnd(axis).Div(x)
			}
			// With a 0 among them, leave out one factor at a time.
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
