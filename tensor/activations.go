package tensor

import (
	"math"

	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// Activation functions. FLOPs are counted as a reader would write the formula,
// with one for each call to exp; GELU counts 20, the usual figure in discussions of
// its arithmetic intensity.

// d max(x, 0)/dx = 1 where x > 0, else 0
var opReLU op

func init() {
	define(&opReLU, op{
		name:    "relu",
		forward: notBool(unary(loops.UnaryKernels{F32: loops.Vector1(loops.Vectors32.Relu, relu[float32]), F64: loops.Vector1(loops.Vectors64.Relu, relu[float64]), I64: relu[int64], Ints: loops.ClampInts(0, math.MaxInt32)}, sameDtype), ""),
		gradients: []gradient{
			{readsOutput, func(c *call, g *Tensor, _ int) *Tensor { return apply(&opReLUGradient, nil, g, c.out.Detach()) }},
		},
		flops: onePerElement,
	})
}

// opReLUGradient passes a gradient where ReLU's result is not 0: one loop instead of a
// comparison and a fill, since every hidden layer runs it.
//
// d(g where y ≠ 0)/dg = 1 where y ≠ 0
var opReLUGradient op

func init() {
	define(&opReLUGradient, op{
		name:    "relu gradient",
		forward: binary(loops.BinaryKernels{F32: loops.Vector2(loops.Vectors32.Pass, passFloat32), F64: loops.Vector2(loops.Vectors64.Pass, pass)}, sameDtype),
		gradients: []gradient{
			{readsRight, func(c *call, g *Tensor, _ int) *Tensor { return apply(&opReLUGradient, nil, g, c.right()) }},
			{},
		},
	})
}

func pass(dst, g, y []float64) {
	for i := range dst {
		dst[i] = 0
		if y[i] != 0 {
			dst[i] = g[i]
		}
	}
}

// passFloat32 is pass without branches: which activations are 0 can't be predicted,
// and a wrong guess costs more than the work on an element.
func passFloat32(dst, g, y []float32) {
	g, y = g[:len(dst)], y[:len(dst)]
	for i := range dst {
		size := math.Float32bits(y[i]) << 1 // without the sign
		keep := uint32(int32(size|-size) >> 31)
		dst[i] = math.Float32frombits(math.Float32bits(g[i]) & keep)
	}
}

// ReLU returns max(x, 0) for each element; NaN stays NaN. Its derivative at 0
// is 0.
func (t *Tensor) ReLU() *Tensor { return apply(&opReLU, nil, t) }

func relu[T numbers.Number](dst, x []T) {
	for i, v := range x {
		dst[i] = max(v, 0) // NaN stays NaN
	}
}

// dσ(x)/dx = σ(x)·(1-σ(x))
var opSigmoid op

func init() {
	define(&opSigmoid, op{
		name:    "sigmoid",
		forward: unary(loops.VectorKernels(loops.Vectors32.Sigmoid, loops.Sigmoid), floatDtype),
		gradients: []gradient{
			{readsOutput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.out.Mul(c.out.Neg().Add(1))) }},
		},
		flops: perElement(4),
	})
}

// Sigmoid returns 1/(1+e⁻ˣ) for each element.
func (t *Tensor) Sigmoid() *Tensor { return apply(&opSigmoid, nil, t) }

// d ln(1+eˣ)/dx = σ(x)
var opSoftplus op

func init() {
	define(&opSoftplus, op{
		name:    "softplus",
		forward: unary(loops.SoftplusKernels(), floatDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.input().Sigmoid()) }},
		},
		flops: perElement(3),
	})
}

// Softplus returns ln(1+eˣ) for each element, a smooth form of [Tensor.ReLU],
// without overflow. Integers give float32.
func (t *Tensor) Softplus() *Tensor { return apply(&opSoftplus, nil, t) }

// d(tanh x)/dx = 1 - tanh² x
var opTanh op

func init() {
	define(&opTanh, op{
		name:    "tanh",
		forward: unary(loops.VectorKernels(loops.Vectors32.Tanh, math.Tanh), floatDtype),
		gradients: []gradient{
			{readsOutput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.out.Square().Neg().Add(1)) }},
		},
		flops: onePerElement,
	})
}

// Tanh returns the hyperbolic tangent of each element.
func (t *Tensor) Tanh() *Tensor { return apply(&opTanh, nil, t) }

// d(x·σ(x))/dx = σ(x)·(1 + x·(1-σ(x)))
var opSiLU op

func init() {
	define(&opSiLU, op{
		name:    "silu",
		forward: unary(loops.ShareKernels(loops.Vectors32.Silu, loops.Sigmoid), floatDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
				x := c.input()
				s := x.Sigmoid()
				return g.Mul(s.Mul(s.Neg().Add(1).Mul(x).Add(1)))
			}},
		},
		flops: perElement(5),
	})
}

// SiLU returns x·σ(x) for each element, also known as swish.
func (t *Tensor) SiLU() *Tensor { return apply(&opSiLU, nil, t) }

// d(x·Φ(x))/dx = Φ(x) + x·φ(x), with Φ and φ the normal distribution and its density
var opGELU op

func init() {
	define(&opGELU, op{
		name:    "gelu",
		forward: unary(loops.ShareKernels(loops.Vectors32.Gelu, func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }), floatDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
				x := c.input()
				if dx := c.fusedGradient("gelu gradient", g, x); dx != nil {
					return dx
				}
				below := x.Div(math.Sqrt2).Erf().Add(1).Mul(0.5)
				density := x.Square().Mul(-0.5).Exp().Mul(1 / math.Sqrt(2*math.Pi))
				return g.Mul(below.Add(x.Mul(density)))
			}},
		},
		flops: perElement(20),
	})
}

// GELU returns x·Φ(x) for each element, where Φ(x) is the probability that a standard
// normal number is below x.
func (t *Tensor) GELU() *Tensor { return apply(&opGELU, nil, t) }

// y = x/2·(1 + tanh u) with u = √(2/π)·(x + 0.044715·x³), so
// dy/dx = (1 + tanh u)/2 + x/2·(1 - tanh² u)·√(2/π)·(1 + 3·0.044715·x²)
var opGELUTanh op

func init() {
	const slope, cubic = 0.7978845608028654, 0.044715 // √(2/π)
	define(&opGELUTanh, op{
		name: "gelu tanh",
		forward: unary(loops.ShareKernels(loops.Vectors32.GeluTanh, func(x float64) float64 {
			return loops.Sigmoid(2 * slope * (x + cubic*x*x*x)) // the same, without 1-1
		}), floatDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
				wide := wideSum(g.dtype)
				x := c.input().To(wide) // whose square may be beyond float16
				xx := x.Square()
				tanh := x.Mul(xx.Mul(cubic).Add(1)).Mul(slope).Tanh()
				inner := xx.Mul(3 * cubic).Add(1).Mul(slope)
				first := tanh.Add(1).Mul(0.5)
				second := x.Mul(0.5).Mul(tanh.Square().Neg().Add(1)).Mul(inner)
				return g.To(wide).Mul(first.Add(second)).To(g.dtype)
			}},
		},
		flops: perElement(20),
	})
}

// GELUTanh returns the approximation of [Tensor.GELU] that GPT-2 uses:
// x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
func (t *Tensor) GELUTanh() *Tensor { return apply(&opGELUTanh, nil, t) }

// dy/dx = 1 where x > 0, else slope
var opLeakyReLU opOf[float64]

// dy/dx = 1 where x > 0, else alpha·eˣ
var opELU opOf[float64]

func init() {
	// onePart computes an activation that is x itself above 0. A device runs it in steps that every device has.
	onePart := func(o *opOf[float64], kernels func(parameter float64) loops.UnaryKernels, below func(x, above *Tensor, parameter float64) *Tensor) func(c *call) *Tensor {
		return func(c *call) *Tensor {
			parameter := o.given(c)
			if c.device == nil {
				return unary(kernels(parameter), floatDtype)(c)
			}
			compute, result := floatDtype(c.input().dtype)
			x := c.input().Detach().To(wideSum(compute))
			above := x.Gt(0)
			return Where(above, x, below(x, above, parameter)).To(result)
		}
	}
	define(&opLeakyReLU.op, op{
		name: "leaky relu",
		forward: onePart(&opLeakyReLU, loops.LeakyKernels, func(x, _ *Tensor, slope float64) *Tensor {
			return x.Mul(slope)
		}),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
				return Where(c.input().Gt(0), g, g.Mul(opLeakyReLU.given(c)))
			}},
		},
		flops: onePerElement,
	})
	define(&opELU.op, op{
		name: "elu",
		forward: onePart(&opELU, loops.EluKernels, func(x, above *Tensor, alpha float64) *Tensor {
			return x.MaskedFill(above, 0).Expm1().Mul(alpha)
		}),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
				x := c.input()
				above := x.Gt(0)
				return Where(above, g, g.Mul(x.MaskedFill(above, 0).Exp().Mul(opELU.given(c)))) // eˣ of large x would be infinite
			}},
		},
		flops: perElement(2),
	})
}

// LeakyReLU returns x where it is above 0 and slope·x elsewhere; its gradient at 0 is
// slope. Integers give float32.
func (t *Tensor) LeakyReLU(slope float64) *Tensor { return opLeakyReLU.apply(slope, t) }

// ELU returns x where it is above 0 and alpha·(exp(x)-1) elsewhere; its gradient at 0
// is alpha. Integers give float32.
func (t *Tensor) ELU(alpha float64) *Tensor { return opELU.apply(alpha, t) }

// y = x·σ(x)·gate, with the gradients
//
//	dL/dx = dL/dy·gate·σ(x)·(1 + x·(1-σ(x)))    dL/dgate = dL/dy·x·σ(x)
//
// in one pass; SiLU and a product would take two, and keep one more result.
var opSwiGLU op

// opSiLUGradient is g·σ(x)·(1 + x·(1-σ(x))), of the inputs g and x.
var opSiLUGradient op

func init() {
	define(&opSwiGLU, op{
		name:    "swiglu",
		forward: binary(loops.BinaryKernels{F32: loops.SiluTimes[float32], F64: loops.SiluTimes[float64]}, sameDtype),
		gradients: []gradient{
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				if dx := c.gradientsOfGates(g); dx != nil {
					return dx
				}
				return apply(&opSiLUGradient, nil, g.Mul(c.right()), c.left())
			}},
			{readsLeft, func(c *call, g *Tensor, _ int) *Tensor {
				if dgate := c.alongWith(g, 1); dgate != nil {
					return dgate
				}
				return g.Mul(c.left().SiLU())
			}},
		},
		flops: perElement(6), // those of silu, and a product
	})
	define(&opSiLUGradient, op{
		name:    "silu gradient",
		forward: binary(loops.BinaryKernels{F32: loops.SiluSlope[float32], F64: loops.SiluSlope[float64]}, sameDtype),
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
// unless both are floating point and have the same shape.
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

// gradientsOfGates has a device compute both gradients of a SwiGLU at once. It returns nil if the device can't, or only
// one is wanted.
func (c *call) gradientsOfGates(g *Tensor) *Tensor {
	if c.device == nil || c.inputs[1] == nil {
		return nil
	}
	x, gate := c.left(), c.right()
	out := []*Tensor{c.unfilled(x.dtype, x.layout.Shape...), c.unfilled(gate.dtype, gate.layout.Shape...)}
	if !c.fusedGradients("swiglu gradients", out, []*Tensor{g, x, gate}) {
		return nil
	}
	c.wait(g, 1, out[1])
	return out[0]
}
