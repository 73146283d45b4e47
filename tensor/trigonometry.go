package tensor

import (
	"math"

	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// The functions of angles and their inverses beside Sin, Cos and Tanh, and the hyperbolic ones. Integers give float32;
// float32 and smaller floats are computed in float64 and rounded once.

var opTan, opAsin, opAcos, opAtan, opSinh, opCosh, opAsinh, opAcosh, opAtanh op

func init() {
	x := func(c *call) *Tensor { return c.input().To(wideSum(c.input().dtype)) } // whose square may be beyond float16
	// (1-x)(1+x) is 1-x², and keeps the digits that a difference of squares loses near 1.
	toOne := func(c *call) *Tensor { return x(c).Neg().Add(1).Mul(x(c).Add(1)) }
	for _, o := range []struct {
		op    *op
		name  string
		cast  cast
		value func(float64) float64
		reads reads
		slope func(c *call, g *Tensor) *Tensor
	}{
		// d(tan x)/dx = 1 + tan²x
		{&opTan, "tan", castWide, loops.Tan, readsOutput, func(c *call, g *Tensor) *Tensor { return g.Mul(c.out.Square().Add(1)) }},
		// d(asin x)/dx = 1/√(1-x²),  d(acos x)/dx = -1/√(1-x²),  d(atan x)/dx = 1/(1+x²)
		{&opAsin, "asin", castWide, loops.Asin, readsInput, func(c *call, g *Tensor) *Tensor { return g.Mul(toOne(c).Rsqrt()) }},
		{&opAcos, "acos", castWide, loops.Acos, readsInput, func(c *call, g *Tensor) *Tensor { return g.Mul(toOne(c).Rsqrt()).Neg() }},
		{&opAtan, "atan", castNothing, math.Atan, readsInput, func(c *call, g *Tensor) *Tensor { return g.Div(x(c).Square().Add(1)) }},
		// d(sinh x)/dx = cosh x,  d(cosh x)/dx = sinh x
		{&opSinh, "sinh", castWide, loops.Sinh, readsInput, func(c *call, g *Tensor) *Tensor { return g.Mul(x(c).Cosh()) }},
		{&opCosh, "cosh", castWide, loops.Cosh, readsInput, func(c *call, g *Tensor) *Tensor { return g.Mul(x(c).Sinh()) }},
		// d(asinh x)/dx = 1/√(x²+1),  d(acosh x)/dx = 1/√(x²-1),  d(atanh x)/dx = 1/(1-x²)
		{&opAsinh, "asinh", castNothing, math.Asinh, readsInput, func(c *call, g *Tensor) *Tensor { return g.Mul(x(c).Square().Add(1).Rsqrt()) }},
		{&opAcosh, "acosh", castNothing, math.Acosh, readsInput, func(c *call, g *Tensor) *Tensor {
			return g.Mul(x(c).Sub(1).Mul(x(c).Add(1)).Rsqrt())
		}},
		{&opAtanh, "atanh", castNothing, math.Atanh, readsInput, func(c *call, g *Tensor) *Tensor { return g.Div(toOne(c)) }},
	} {
		define(o.op, op{
			name:      o.name,
			cast:      o.cast,
			forward:   unary(loops.FloatKernels(o.value), floatDtype),
			gradients: []gradient{{o.reads, func(c *call, g *Tensor, _ int) *Tensor { return o.slope(c, g).To(g.dtype) }}},
			flops:     onePerElement,
		})
	}
}

// Tan returns the tangent of each element, in radians.
func (t *Tensor) Tan() *Tensor { return apply(&opTan, nil, t) }

// Asin returns the angle in [-π/2, π/2] whose sine each element is; NaN outside [-1, 1].
func (t *Tensor) Asin() *Tensor { return apply(&opAsin, nil, t) }

// Acos returns the angle in [0, π] whose cosine each element is; NaN outside [-1, 1].
func (t *Tensor) Acos() *Tensor { return apply(&opAcos, nil, t) }

// Atan returns the angle in [-π/2, π/2] whose tangent each element is. [Tensor.Atan2] knows the quadrant, too.
func (t *Tensor) Atan() *Tensor { return apply(&opAtan, nil, t) }

// Sinh returns the hyperbolic sine of each element, (eˣ - e⁻ˣ)/2.
func (t *Tensor) Sinh() *Tensor { return apply(&opSinh, nil, t) }

// Cosh returns the hyperbolic cosine of each element, (eˣ + e⁻ˣ)/2.
func (t *Tensor) Cosh() *Tensor { return apply(&opCosh, nil, t) }

// Asinh returns the number whose hyperbolic sine each element is.
func (t *Tensor) Asinh() *Tensor { return apply(&opAsinh, nil, t) }

// Acosh returns the nonnegative number whose hyperbolic cosine each element is; NaN below 1.
func (t *Tensor) Acosh() *Tensor { return apply(&opAcosh, nil, t) }

// Atanh returns the number whose hyperbolic tangent each element is: ±Inf at ±1, NaN beyond.
func (t *Tensor) Atanh() *Tensor { return apply(&opAtanh, nil, t) }

// With r² = y² + x²: d atan2(y, x)/dy = x/r², d/dx = -y/r². At the origin both are 0.
var opAtan2 op

func init() {
	over := func(c *call, of *Tensor) *Tensor {
		square := func(x *Tensor) *Tensor { return x.To(wideSum(x.dtype)).Square() } // which may be beyond float16
		r2 := square(c.left()).Add(square(c.right()))
		return of.Div(r2.MaskedFill(r2.Eq(0), math.Inf(1)))
	}
	define(&opAtan2, op{
		name:    "atan2",
		forward: notBool(binary(loops.FloatKernels2(loops.Atan2), floatDtype), "convert with To(tensor.Float32)"),
		gradients: []gradient{
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(over(c, c.right())).To(g.dtype) }},
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(over(c, c.left())).Neg().To(g.dtype) }},
		},
		broadcasts: true,
		flops:      onePerElement,
	})
}

// Atan2 returns the angles in [-π, π] from the positive x axis to the points whose y are the elements of t, and whose
// x are those of other, a tensor or a number. Integers give float32. It panics if the shapes can't be broadcast, or
// for bools.
func (t *Tensor) Atan2(other any) *Tensor { return apply(&opAtan2, nil, t, operand("atan2", other)) }
