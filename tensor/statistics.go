package tensor

import (
	"math"
	"slices"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Biased, given among the axes of Var or Std, divides by the number of elements
// instead of one less: x.Var(-1, tensor.Biased).
const Biased = layout.Biased

// spread of values: what Var and Std reduce over, and what they divide by.
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
	if !t.dtype.IsFloat() {
		fail(ErrDtype, op, t.dtype.String(), "the spread of whole numbers is not a whole number", "convert with To(tensor.Float32)")
	}
	v := variance{reduced: t.reductionOver(op, plain)}
	v.divisor = v.count
	if !biased {
		v.divisor = max(v.count-1, 0)
	}
	return v
}

// d var(x)/dx = 2(x - mean)/(n-1)
var opVar op

// d std(x)/dx = (x - mean)/((n-1)·std), and 0 where std is 0
var opStd op

func init() {
	define(&opVar, op{
		name:    "var",
		forward: func(c *call) *Tensor { return spreadForward(c, func(v float64) float64 { return v }) },
		gradients: []gradient{{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
			v, x := c.attr.(variance), c.input()
			return v.back(g.Mul(2/float64(v.divisor)), x).Mul(v.centred(x))
		}}},
		flops: spreadFLOPs(2),
	})
	define(&opStd, op{
		name:    "std",
		forward: func(c *call) *Tensor { return spreadForward(c, math.Sqrt) },
		gradients: []gradient{{readsInput | readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			v, x := c.attr.(variance), c.input()
			flat := c.out.Eq(0) // masked before dividing, so that no derivative of slope is 0/0
			slope := g.Div(c.out.Mul(v.divisor).MaskedFill(flat, 1)).MaskedFill(flat, 0)
			return v.back(slope, x).Mul(v.centred(x))
		}}},
		flops: spreadFLOPs(3),
	})
}

// spreadFLOPs: each element is summed, centred, squared and summed again; each
// result takes two quotients, and a root for the standard deviation.
func spreadFLOPs(each int) func(c *call, out *Tensor) int {
	return func(c *call, out *Tensor) int { return 4*c.input().Len() + each*out.Len() }
}

// Var returns the variance over axes, or over all elements if none is named: the
// mean square distance from the mean, with n-1 in place of n unless Biased is
// among the axes. Of one element it is NaN. It panics unless t is floating
// point, or if there is no such axis.
func (t *Tensor) Var(axes ...int) *Tensor { return apply(&opVar, t.varianceOver("var", axes), t) }

// Std returns the standard deviation, the root of [Tensor.Var].
func (t *Tensor) Std(axes ...int) *Tensor { return apply(&opStd, t.varianceOver("std", axes), t) }

// centred returns x minus its mean.
func (v variance) centred(x *Tensor) *Tensor {
	return x.Sub(x.Mean(append(v.list(), KeepDim)...))
}

func spreadForward(c *call, finish func(float64) float64) *Tensor {
	x, v := c.input(), c.attr.(variance)
	out := x.beside(wideSum(x.dtype), v.shape(x.layout.Shape, v.keep), false)
	rows := v.lastAxes(x)
	if c.device != nil {
		reduceOn(c.op.name, out.dtype, out, rows, v.count, float64(v.divisor))
		return out.To(x.dtype)
	}
	if out.dtype == Float64 {
		spreads(plain[float64](out), rows, v, finish)
	} else {
		spreads(plain[float32](out), rows, v, finish)
	}
	return out.To(x.dtype)
}

// spreads computes one variance for each run of count elements, in two passes
// and in float64: the mean first, then the squares of the distances from it.
func spreads[T float32 | float64](out []T, x *Tensor, v variance, finish func(float64) float64) {
	parallelRows(len(out), parallelFrom/max(v.count, 1), func(start, end int) {
		r := newReader[T](x)
		for i := start; i < end; i++ {
			var sum, squares float64
			inBlocks(0, v.count, func(from, n int) {
				sum += blockSum(r.block(i*v.count+from, n))
			})
			mean := sum / float64(v.count)
			near := T(mean) // the squares are those of distances from a number near the mean
			inBlocks(0, v.count, func(from, n int) {
				squares += blockSquares(r.block(i*v.count+from, n), near)
			})
			squares -= float64(v.count) * (float64(near) - mean) * (float64(near) - mean)
			out[i] = T(finish(max(squares, 0) / float64(v.divisor)))
		}
	})
}

// blockSum is Σ x for a block of at most blockLen numbers.
func blockSum[T float32 | float64](x []T) float64 {
	if x, ok := any(x).([]float32); ok && vectors32.Sum != nil {
		return float64(vectors32.Sum(x))
	}
	var sum float64
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}

// blockSquares is Σ (x - less)² for a block of at most blockLen numbers.
func blockSquares[T float32 | float64](x []T, less T) float64 {
	if x, ok := any(x).([]float32); ok && vectors32.Squares != nil {
		return float64(vectors32.Squares(x, float32(less)))
	}
	var sum float64
	for _, v := range x {
		d := float64(v) - float64(less)
		sum += d * d
	}
	return sum
}

// d‖x‖/dx = x/‖x‖, and 0 where the norm is 0
var opNorm op

func init() {
	define(&opNorm, op{
		name: "norm",
		forward: func(c *call) *Tensor {
			x, r := c.input(), c.attr.(reduced)
			out := reduceAs(x, r, wideSum(x.dtype), squareSums)
			return out.Detach().Sqrt().To(x.dtype)
		},
		gradients: []gradient{{readsInput | readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			r, x := c.attr.(reduced), c.input()
			zero := c.out.Eq(0) // masked before dividing, so that no derivative of it is 0/0
			return r.back(g.Div(c.out.MaskedFill(zero, 1)).MaskedFill(zero, 0), x).Mul(x)
		}}},
		flops: func(c *call, out *Tensor) int { return 2*c.input().Len() + out.Len() }, // squares, sums and a root
	})
}

var squareSums = foldings{
	name: "sum of squares",
	f32:  vectorSquares(squareFolding[float32](), vectors32.Squares),
	f64:  vectorSquares(squareFolding[float64](), vectors64.Squares),
}

func vectorSquares[T numbers.Number](f folding[T], squares func(x []T, less T) T) folding[T] {
	if squares != nil {
		f.block = func(x []T) T { return squares(x, 0) }
	}
	return f
}

func squareFolding[T numbers.Number]() folding[T] {
	return folding[T]{0, func(x []T) T {
		var lane [cpu.SumLanes]T
		for len(x) >= len(lane) {
			for i := range lane {
				lane[i] += x[i] * x[i]
			}
			x = x[len(lane):]
		}
		for i, v := range x {
			lane[i] += v * v
		}
		return joinLanes(&lane)
	}, func(a, b T) T { return a + b }, func(sums, x []T) {
		for i, v := range x {
			sums[i] += v * v
		}
	}, cpu.SumLanes}
}

// Norm returns the Euclidean norm over axes, or over all elements if none is
// named: the root of the sum of squares. It panics unless t is floating point,
// or if there is no such axis.
func (t *Tensor) Norm(axes ...int) *Tensor {
	t.exist("norm")
	if !t.dtype.IsFloat() {
		fail(ErrDtype, "norm", t.dtype.String(), "the norm of whole numbers is not a whole number", "convert with To(tensor.Float32)")
	}
	return apply(&opNorm, t.reductionOver("norm", axes), t)
}

// d(Πx)/dxᵢ = Π of all others: (Πx)/xᵢ where no element is 0
var opProd op

func init() {
	define(&opProd, op{
		name: "prod",
		forward: func(c *call) *Tensor {
			x := c.input()
			dtype := x.dtype
			if !dtype.IsFloat() {
				dtype = Int64
			}
			return reduceAs(x, c.attr.(reduced), wideSum(dtype), products).To(dtype)
		},
		gradients: []gradient{{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
			r, x := c.attr.(reduced), c.input()
			if x.RequiresGrad() && x.has(func(v float64) bool { return v == 0 }) {
				return r.back(g, x).Mul(r.allOthers(x)) // the gradient's own gradient is wanted
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

// allOthers returns, for each element, the product of the others that it is
// reduced with: of those before it and those behind it. Unlike a quotient it has
// all its derivatives where elements are 0.
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

var products = foldings{"prod", productFolding[float32](), productFolding[float64](), productFolding[int64]()}

func productFolding[T numbers.Number]() folding[T] {
	return folding[T]{1, func(x []T) T {
		p := T(1)
		for _, v := range x {
			p *= v
		}
		return p
	}, func(a, b T) T { return a * b }, func(sums, x []T) {
		for i, v := range x {
			sums[i] *= v
		}
	}, 1}
}

// Prod returns the product over axes, or over all elements if none is named. That
// of whole numbers and bools is int64. It panics if there is no such axis.
func (t *Tensor) Prod(axes ...int) *Tensor {
	return apply(&opProd, t.reductionOver("prod", axes), t)
}
