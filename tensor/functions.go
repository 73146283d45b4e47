package tensor

import (
	"math"

	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// Functions of one number from package math. Integers give float32; small
// floats are computed in float32 and rounded once.

// d(√x)/dx = 1/(2√x)
var opSqrt op

func init() {
	define(&opSqrt, op{
		name:    "sqrt",
		forward: unary(loops.BothKernels(loops.Vectors32.Sqrt, loops.Vectors64.Sqrt, math.Sqrt), floatDtype),
		gradients: []gradient{
			{readsOutput, func(c *call, g *Tensor, _ int) *Tensor { return g.Div(c.out.Mul(2)) }},
		},
		flops: onePerElement,
	})
}

// Sqrt returns the square root of each element; NaN where it is negative. Integers
// give float32.
func (t *Tensor) Sqrt() *Tensor { return apply(&opSqrt, nil, t) }

// d(ln x)/dx = 1/x
var opLog op

func init() {
	define(&opLog, op{
		name:    "log",
		cast:    castWide,
		forward: unary(loops.VectorKernels(loops.Vectors32.Log, math.Log), floatDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor { return g.Div(c.input()) }},
		},
		flops: onePerElement,
	})
}

// Log returns the natural logarithm of each element. Integers give float32.
func (t *Tensor) Log() *Tensor { return apply(&opLog, nil, t) }

// d(eˣ)/dx = eˣ
var opExp op

func init() {
	define(&opExp, op{
		name:    "exp",
		cast:    castWide,
		forward: unary(loops.VectorKernels(loops.Vectors32.Exp, loops.Exp), floatDtype),
		gradients: []gradient{
			{readsOutput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.out) }},
		},
		flops: onePerElement,
	})
}

// Exp returns e to the power of each element. Integers give float32.
func (t *Tensor) Exp() *Tensor { return apply(&opExp, nil, t) }

// d(eˣ-1)/dx = eˣ
var opExpm1 op

func init() {
	define(&opExpm1, op{
		name:    "expm1",
		cast:    castWide,
		forward: unary(loops.VectorKernels(loops.Vectors32.Expm1, math.Expm1), floatDtype),
		gradients: []gradient{
			{readsOutput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.out.Add(1)) }},
		},
		flops: onePerElement,
	})
}

// Expm1 returns eˣ - 1, accurately even where x is small.
func (t *Tensor) Expm1() *Tensor { return apply(&opExpm1, nil, t) }

// d(ln(1+x))/dx = 1/(1+x)
var opLog1p op

func init() {
	define(&opLog1p, op{
		name:    "log1p",
		cast:    castWide,
		forward: unary(loops.VectorKernels(loops.Vectors32.Log1p, math.Log1p), floatDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor { return g.Div(c.input().Add(1)) }},
		},
		flops: onePerElement,
	})
}

// Log1p returns ln(1+x), accurately even where x is small.
func (t *Tensor) Log1p() *Tensor { return apply(&opLog1p, nil, t) }

// d(log₂ x)/dx = 1/(x ln 2)
var opLog2 op

func init() {
	define(&opLog2, op{
		name:    "log2",
		cast:    castWide,
		forward: unary(loops.VectorKernels(loops.Vectors32.Log2, loops.Log2), floatDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor { return g.Div(c.input().Mul(math.Ln2)) }},
		},
		flops: onePerElement,
	})
}

// Log2 returns the logarithm to base 2 of each element.
func (t *Tensor) Log2() *Tensor { return apply(&opLog2, nil, t) }

// d(1/√x)/dx = -1/(2√x³)
var opRsqrt op

func init() {
	define(&opRsqrt, op{
		name:    "rsqrt",
		cast:    castWide,
		forward: unary(loops.BothKernels(loops.Vectors32.Rsqrt, loops.Vectors64.Rsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }), floatDtype),
		gradients: []gradient{
			{readsOutput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.out.Mul(c.out).Mul(c.out)).Mul(-0.5) }},
		},
		flops: perElement(2),
	})
}

// Rsqrt returns 1/√x for each element.
func (t *Tensor) Rsqrt() *Tensor { return apply(&opRsqrt, nil, t) }

// d(sin x)/dx = cos x
var opSin op

func init() {
	define(&opSin, op{
		name:    "sin",
		forward: unary(loops.VectorKernels(loops.Vectors32.Sin, math.Sin), floatDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.input().Cos()) }},
		},
		flops: onePerElement,
	})
}

// Sin returns the sine of each element, in radians.
func (t *Tensor) Sin() *Tensor { return apply(&opSin, nil, t) }

// d(cos x)/dx = -sin x
var opCos op

func init() {
	define(&opCos, op{
		name:    "cos",
		forward: unary(loops.VectorKernels(loops.Vectors32.Cos, math.Cos), floatDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.input().Sin()).Neg() }},
		},
		flops: onePerElement,
	})
}

// Cos returns the cosine of each element, in radians.
func (t *Tensor) Cos() *Tensor { return apply(&opCos, nil, t) }

// d(erf x)/dx = 2/√π · exp(-x²)
var opErf op

func init() {
	define(&opErf, op{
		name:    "erf",
		cast:    castWide,
		forward: unary(loops.VectorKernels(loops.Vectors32.Erf, math.Erf), floatDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
				return g.Mul(c.input().Square().Neg().Exp()).Mul(2 / math.Sqrt(math.Pi))
			}},
		},
		flops: onePerElement,
	})
}

// Erf returns the error function of each element.
func (t *Tensor) Erf() *Tensor { return apply(&opErf, nil, t) }

var opFloor, opCeil, opRound, opTrunc op

func init() {
	for _, o := range []struct {
		op      *op
		name    string
		kernels loops.UnaryKernels
	}{
		{&opFloor, "floor", loops.RoundingKernels(loops.Vectors32.Floor, loops.Vectors64.Floor, math.Floor)},
		{&opCeil, "ceil", loops.RoundingKernels(loops.Vectors32.Ceil, loops.Vectors64.Ceil, math.Ceil)},
		{&opRound, "round", loops.RoundingKernels(loops.Vectors32.Round, loops.Vectors64.Round, math.RoundToEven)},
		{&opTrunc, "trunc", loops.RoundingKernels(loops.Vectors32.Trunc, loops.Vectors64.Trunc, math.Trunc)},
	} {
		define(o.op, op{
			name:      o.name,
			forward:   unary(o.kernels, sameDtype),
			gradients: []gradient{{readsNothing, zeroGradient}},
			flops:     onePerElement,
		})
	}
}

// Floor rounds each element down. Integers stay as they are. The gradient is 0.
func (t *Tensor) Floor() *Tensor { return apply(&opFloor, nil, t) }

// Ceil rounds each element up. Integers stay as they are. The gradient is 0.
func (t *Tensor) Ceil() *Tensor { return apply(&opCeil, nil, t) }

// Round rounds each element to the nearest integer, ties to even. Integers stay as
// they are. The gradient is 0.
func (t *Tensor) Round() *Tensor { return apply(&opRound, nil, t) }

// Trunc drops the fraction of each element. Integers stay as they are. The gradient is 0.
func (t *Tensor) Trunc() *Tensor { return apply(&opTrunc, nil, t) }

// zeroGradient is the gradient of functions that are constant wherever they are differentiable.
func zeroGradient(_ *call, g *Tensor, _ int) *Tensor {
	return g.beside(g.dtype, g.layout.Shape, true)
}
