package tensor

import (
	"math"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// Blends of three operands in one pass, and logaddexp of two: separate steps would
// write an intermediate result and read it again.

// ternary returns the forward of an operation with three operands, which are broadcast.
// A device other than the processor runs it in steps that every device has.
func ternary(kernels func(c *call) loops.TernaryKernels, rule func(c *call) dtypeRule, steps func(c *call, x, y, z *Tensor) *Tensor) func(c *call) *Tensor {
	return notBool(inMemoryOrder(func(c *call) *Tensor {
		x, y, z := c.in[0], c.in[1], c.in[2]
		compute, result := rule(c)(resultDtype(c.op.name, x, y, z))
		if c.device != nil {
			wide := func(x *Tensor) *Tensor { return x.Detach().To(wideSum(compute)) }
			return steps(c, wide(x), wide(y), wide(z)).To(result)
		}
		_, _, shape := broadcast(c.op.name, x, y)
		_, z, shape = broadcast(c.op.name, x.alias(ContiguousLayout(shape...)), z)
		x, y = x.expanded(shape), y.expanded(shape)
		out := c.into
		if out == nil || out.dtype != result || !sameShape(out, x) {
			out = c.result(result, shape, false)
		}
		k := kernels(c)
		k.Zip(device.Type(compute), out.array(), x.array(), y.array(), z.array())
		return out
	}), "convert with To(tensor.Float32)")
}

func always(rule dtypeRule) func(*call) dtypeRule { return func(*call) dtypeRule { return rule } }

// d(a + w(b-a))/da = 1-w,  d/db = w,  d/dw = b-a
var opLerp op

// d(t + v·a·b)/dt = 1,  d/da = v·b,  d/db = v·a
var opAddcmul opOf[float64]

// d(t + v·a/b)/dt = 1,  d/da = v/b,  d/db = -v·a/b²
var opAddcdiv opOf[float64]

func init() {
	define(&opLerp, op{
		name: "lerp",
		forward: ternary(func(c *call) loops.TernaryKernels {
			if c.in[2].layout.RepeatsOne() && c.in[2].Len() > 0 {
				return loops.TernaryKernels{F32: loops.LerpAlike[float32], F64: loops.LerpAlike[float64]}
			}
			return loops.TernaryKernels{F32: loops.Lerp[float32], F64: loops.Lerp[float64]}
		}, always(floatDtype),
			func(_ *call, a, b, w *Tensor) *Tensor {
				way := b.Sub(a)
				return Where(w.Abs().Lt(0.5), a.Add(way.Mul(w)), b.Sub(way.Mul(w.Neg().Add(1))))
			}),
		gradients: []gradient{
			{readsThird, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.in[2].Neg().Add(1)) }},
			{readsThird, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.in[2]) }},
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.in[1].Sub(c.in[0])) }},
		},
		broadcasts: true,
		direct:     true,
		flops:      perElement(3),
	})
	define(&opAddcmul.op, op{
		name: "addcmul",
		forward: ternary(func(c *call) loops.TernaryKernels {
			v := opAddcmul.given(c)
			return loops.TernaryKernels{F32: loops.Addcmul(float32(v)), F64: loops.Addcmul(v), I64: loops.Addcmul(int64(v))}
		}, func(c *call) dtypeRule {
			if v := opAddcmul.given(c); v != math.Trunc(v) || !loops.IsFinite(v) {
				return floatDtype
			}
			return sameDtype
		}, func(c *call, t, a, b *Tensor) *Tensor { return t.Add(a.Mul(opAddcmul.given(c)).Mul(b)) }),
		gradients: []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }},
			{readsThird, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.in[2].Mul(opAddcmul.given(c))) }},
			{readsRight, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.in[1].Mul(opAddcmul.given(c))) }},
		},
		broadcasts: true,
		direct:     true,
		flops:      perElement(3),
	})
	define(&opAddcdiv.op, op{
		name: "addcdiv",
		forward: ternary(func(c *call) loops.TernaryKernels {
			v := opAddcdiv.given(c)
			return loops.TernaryKernels{F32: loops.Addcdiv(float32(v)), F64: loops.Addcdiv(v)}
		}, always(floatDtype), func(c *call, t, a, b *Tensor) *Tensor { return t.Add(a.Div(b).Mul(opAddcdiv.given(c))) }),
		gradients: []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }},
			{readsThird, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(opAddcdiv.given(c)).Div(c.in[2]) }},
			{readsRight | readsThird, func(c *call, g *Tensor, _ int) *Tensor {
				return g.Mul(c.in[1].Div(c.in[2]).Div(c.in[2])).Mul(-opAddcdiv.given(c))
			}},
		},
		broadcasts: true,
		direct:     true,
		flops:      perElement(3),
	})
}

// Lerp interpolates between t and end: t + weight·(end-t). The weight, a tensor or a
// number, is 0 at t and 1 at end, both of which are met exactly; beyond them the line goes
// on. Integers give float32. It panics if the shapes can't be broadcast.
func (t *Tensor) Lerp(end *Tensor, weight any) *Tensor {
	return apply(&opLerp, nil, t, end, operand("lerp", weight))
}

// LerpInPlace moves t toward end; see [Tensor.Lerp]. With a weight of 1-β, t becomes
// a running mean of the values of end.
func (t *Tensor) LerpInPlace(end *Tensor, weight any) *Tensor {
	return t.update(&opLerp, nil, end, weight)
}

// Addcmul returns t + value·a·b, element by element. Integers give float32 if value
// is not an integer. It panics if the shapes can't be broadcast.
func (t *Tensor) Addcmul(a, b *Tensor, value float64) *Tensor {
	return opAddcmul.apply(value, t, a, b)
}

// AddcmulInPlace adds value·a·b to t; see [Tensor.Addcmul].
func (t *Tensor) AddcmulInPlace(a, b *Tensor, value float64) *Tensor {
	return t.update(&opAddcmul.op, value, a, b)
}

// Addcdiv returns t + value·a/b, element by element. Integers give float32. It
// panics if the shapes can't be broadcast.
func (t *Tensor) Addcdiv(a, b *Tensor, value float64) *Tensor {
	return opAddcdiv.apply(value, t, a, b)
}

// AddcdivInPlace adds value·a/b to t; see [Tensor.Addcdiv].
func (t *Tensor) AddcdivInPlace(a, b *Tensor, value float64) *Tensor {
	return t.update(&opAddcdiv.op, value, a, b)
}

// d ln(eᵃ+eᵇ)/da = σ(a-b), d/db = σ(b-a). Where both are infinite, the difference says
// nothing: two +Inf share the gradient, and two -Inf get none, as in LogSumExp.
var opLogaddexp op

func init() {
	share := func(mine, other int) gradient {
		return gradient{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
			a, b := c.in[mine], c.in[other]
			difference := a.Sub(b)
			if a.has(loops.IsInf) {
				same := a.Eq(b)
				difference = difference.MaskedFill(same.And(a.Eq(math.Inf(1))), 0).MaskedFill(same.And(a.Eq(math.Inf(-1))), math.Inf(-1))
			}
			return g.Mul(difference.Sigmoid())
		}}
	}
	define(&opLogaddexp, op{
		name: "logaddexp",
		forward: orSteps(notBool(binary(loops.BinaryKernels{F32: loops.Logaddexp32, F64: loops.Logaddexp[float64]}, floatDtype), "convert with To(tensor.Float32)"), floatDtype, func(a, b *Tensor) *Tensor {
			apart := a.Sub(b).Abs()
			return a.Maximum(b).Add(apart.MaskedFill(a.Eq(b), 0).Neg().Exp().Log1p())
		}),
		gradients:  []gradient{share(0, 1), share(1, 0)},
		broadcasts: true,
		flops:      perElement(4),
	})
}

// Logaddexp returns ln(eᵗ + eᵒ) for each element o of other, a tensor or a number, without
// overflow: the logarithm of the sum of two probabilities that are given as logarithms.
// Integers give float32. It panics if the shapes can't be broadcast.
func (t *Tensor) Logaddexp(other any) *Tensor {
	return apply(&opLogaddexp, nil, t, operand("logaddexp", other))
}
