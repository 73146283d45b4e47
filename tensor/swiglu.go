package tensor

import "github.com/lectern-go/lectern/tensor/internal/loops"

// y = x·σ(x)·gate, with the gradients
//
//	dL/dx = dL/dy·gate·σ(x)·(1 + x·(1-σ(x)))    dL/dgate = dL/dy·x·σ(x)
//
// in one pass where SiLU and a product would make two, and keep one result more.
var opSwiGLU op

// opSiLUGradient is g·σ(x)·(1 + x·(1-σ(x))), of the inputs g and x.
var opSiLUGradient op

func init() {
	define(&opSwiGLU, op{
		name: "swiglu",
		forward: orSteps(binary(loops.BinaryKernels{F32: loops.SiluTimes[float32], F64: loops.SiluTimes[float64]}, sameDtype), sameDtype,
			func(x, gate *Tensor) *Tensor { return x.SiLU().Mul(gate) }),
		gradients: []gradient{
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				return apply(&opSiLUGradient, nil, g.Mul(c.right()), c.left())
			}},
			{readsLeft, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.left().SiLU()) }},
		},
		flops: perElement(6), // those of silu, and a product
	})
	define(&opSiLUGradient, op{
		name: "silu gradient",
		forward: orSteps(binary(loops.BinaryKernels{F32: loops.SiluSlope[float32], F64: loops.SiluSlope[float64]}, sameDtype), sameDtype,
			func(g, x *Tensor) *Tensor {
				s := x.Sigmoid()
				return g.Mul(s.Mul(s.Neg().Add(1).Mul(x).Add(1)))
			}),
		gradients: []gradient{
			{readsRight, func(c *call, g *Tensor, _ int) *Tensor { return apply(&opSiLUGradient, nil, g, c.right()) }},
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor { // σ·(1-σ)·(2 + x·(1-2σ))
				x := c.right()
				s := x.Sigmoid()
				rest := s.Neg().Add(1)
				return g.Mul(c.left()).Mul(s.Mul(rest).Mul(x.Mul(rest.Sub(s)).Add(2)))
			}},
		},
		flops: perElement(9), // four of the sigmoid, 1-σ, and four from there to the result
	})
}

// SwiGLU returns t·σ(t)·gate for each element: SiLU with a gate, the activation of
// feed-forward layers with three matrices (Shazeer 2020, arXiv:2002.05202). It panics
// unless both are floating point and of one shape.
func (t *Tensor) SwiGLU(gate *Tensor) *Tensor {
	t.existBeside("swiglu", gate)
	if !t.dtype.IsFloat() || !gate.dtype.IsFloat() {
		fail(ErrDtype, "swiglu", describe(t, gate), "both operands must be floating point", "convert with To(tensor.Float32)")
	}
	if !sameShape(t, gate) {
		fail(ErrShape, "swiglu", describe(t, gate), "the shapes differ", "")
	}
	return apply(&opSwiGLU, nil, t, gate)
}

// orSteps runs an operation in steps that every device has, unless it runs on the
// processor.
func orSteps(forward func(c *call) *Tensor, rule dtypeRule, steps func(x, y *Tensor) *Tensor) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		if c.device == nil {
			return forward(c)
		}
		compute, result := rule(resultDtype(c.op.name, c.in[0], c.in[1]))
		wide := wideSum(compute)
		return steps(c.in[0].Detach().To(wide), c.in[1].Detach().To(wide)).To(result)
	}
}
