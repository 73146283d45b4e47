package tensor

import (
	"math"

	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// Arithmetic: the operations that have an operator in other languages.

// d(a+b)/da = 1, d(a+b)/db = 1
var opAdd op

func init() {
	define(&opAdd, op{
		name:    "add",
		forward: binary(binaryKernels{vector2(vectors32.Add, add[float32]), vector2(vectors64.Add, add[float64]), add[int64]}, sameDtype, vectors32.AddInts),
		gradients: []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }},
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }},
		},
		broadcasts: true,
		direct:     true,
		flops:      onePerElement,
	})
}

// Add returns t + other, a tensor or a number. It panics if the shapes can't be
// broadcast.
func (t *Tensor) Add(other any) *Tensor { return apply(&opAdd, nil, t, operand("add", other)) }

func add[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

// d(a-b)/da = 1, d(a-b)/db = -1
var opSub op

func init() {
	define(&opSub, op{
		name:    "sub",
		forward: notBool(binary(binaryKernels{vector2(vectors32.Sub, sub[float32]), vector2(vectors64.Sub, sub[float64]), sub[int64]}, sameDtype, vectors32.SubInts), "use Xor, or Not for a mask"),
		gradients: []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }},
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g.Neg() }},
		},
		broadcasts: true,
		direct:     true,
		flops:      onePerElement,
	})
}

// Sub returns t - other, a tensor or a number. It panics if the shapes can't be
// broadcast.
func (t *Tensor) Sub(other any) *Tensor { return apply(&opSub, nil, t, operand("sub", other)) }

func sub[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] - y[i]
	}
}

// d(ab)/da = b, d(ab)/db = a
var opMul op

func init() {
	define(&opMul, op{
		name:    "mul",
		forward: binary(binaryKernels{vector2(vectors32.Mul, mul[float32]), vector2(vectors64.Mul, mul[float64]), mul[int64]}, sameDtype, vectors32.MulInts),
		gradients: []gradient{
			{readsRight, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.right()) }},
			{readsLeft, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.left()) }},
		},
		broadcasts: true,
		direct:     true,
		flops:      onePerElement,
	})
}

// Mul returns t · other, element by element, for a tensor or a number. It panics
// if the shapes can't be broadcast. For the matrix product see [Tensor.Matmul].
func (t *Tensor) Mul(other any) *Tensor { return apply(&opMul, nil, t, operand("mul", other)) }

func mul[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

// d(a/b)/da = 1/b, d(a/b)/db = -a/b² = -(a/b)/b
var opDiv op

func init() {
	define(&opDiv, op{
		name:    "div",
		forward: binary(quotients, floatDtype),
		gradients: []gradient{
			{readsRight, func(c *call, g *Tensor, _ int) *Tensor { return g.Div(c.right()) }},
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				return g.Mul(c.left().Div(c.right()).Div(c.right())).Neg()
			}},
		},
		broadcasts: true,
		direct:     true,
		flops:      onePerElement,
	})
}

// Div returns t / other, a tensor or a number. The quotient of whole numbers is
// floating point. It panics if the shapes can't be broadcast.
func (t *Tensor) Div(other any) *Tensor { return apply(&opDiv, nil, t, operand("div", other)) }

var quotients = binaryKernels{f32: vector2(vectors32.Div, div[float32]), f64: vector2(vectors64.Div, div[float64])}

func div[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] / y[i]
	}
}

// d(aᵇ)/da = b·aᵇ⁻¹, and 0 where b = 0;  d(aᵇ)/db = aᵇ·ln a, and 0 where a = 0 and b ≥ 0.
// Bases are masked before they are raised, so that no derivative is 0·∞.
var opPow op

func init() {
	define(&opPow, op{
		name:    "pow",
		forward: powForward,
		gradients: []gradient{
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				base, power := c.left(), c.right()
				if power.storage.device != nil || power.has(func(v float64) bool { return v == 0 }) {
					corner := power.Eq(0).And(base.Lt(0).Or(base.Gt(0)).Not()) // 0⁰ and NaN⁰
					base = base.Expand(corner.layout.Shape...).MaskedFill(corner, 1)
				}
				return g.Mul(power.Mul(base.Pow(power.Sub(1))))
			}},
			{readsLeft | readsRight | readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
				base, power := c.left(), c.right()
				corner := base.Eq(0)
				if power.storage.device != nil || power.has(func(v float64) bool { return !(v >= 0) }) {
					corner = corner.And(power.Ge(0)) // to a negative power 0 is infinite
					base = base.Expand(corner.layout.Shape...)
				}
				return g.Mul(c.out.Mul(base.MaskedFill(corner, 1).Log()))
			}},
		},
		broadcasts: true,
		flops:      onePerElement,
	})
}

// Pow returns t to the power of other, a tensor or a number. It panics if the
// shapes can't be broadcast, and for a negative power of whole numbers.
func (t *Tensor) Pow(other any) *Tensor { return apply(&opPow, nil, t, operand("pow", other)) }

func powForward(c *call) *Tensor {
	powers := c.right()
	if !c.left().dtype.IsFloat() && !powers.dtype.IsFloat() && contains(powers, func(n int64) bool { return n < 0 }) {
		fail(ErrValue, "pow", describe(c.in...), "a whole number to a negative power is not a whole number", "convert with To(tensor.Float32)")
	}
	if x := c.left(); c.device == nil && powers.layout.RepeatsOne() && powers.Len() == 1 && powers.Dim() <= x.Dim() &&
		x.dtype == Float32 && resultDtype(c.op.name, x, powers) == Float32 {
		var p [1]float32
		newReader[float32](powers).copy(p[:], 0)
		if kernel := powerOf(p[0]); kernel != nil {
			return unary(unaryKernels{f32: kernel}, sameDtype)(c)
		}
	}
	return binary(binaryKernels{f32: powFloat32, f64: powFloat64, i64: powInt64}, sameDtype)(c)
}

// has reports whether any element fulfils a condition. Observers are not told.
func (t *Tensor) has(condition func(float64) bool) bool {
	r, found := newReader[float64](t.onHost()), false
	inBlocks(0, t.Len(), func(start, n int) {
		for _, v := range r.block(start, n) {
			found = found || condition(v)
		}
	})
	return found
}

// contains reports whether any element, as a whole number, fulfils a condition.
func contains(t *Tensor, condition func(int64) bool) bool {
	r, found := newReader[int64](t.onHost()), false
	inBlocks(0, t.Len(), func(start, n int) {
		for _, v := range r.block(start, n) {
			found = found || condition(v)
		}
	})
	return found
}

func powFloat64(dst, x, y []float64) {
	for i := range dst {
		dst[i] = math.Pow(x[i], y[i])
	}
}

func powInt64(dst, x, y []int64) {
	for i := range dst {
		power, base := int64(1), x[i]
		for n := y[i]; n > 0; n >>= 1 {
			if n&1 == 1 {
				power *= base
			}
			base *= base
		}
		dst[i] = power
	}
}

// d(-x)/dx = -1
var opNeg op

func init() {
	define(&opNeg, op{
		name:    "neg",
		forward: notBool(unary(unaryKernels{vector1(vectors32.Neg, neg[float32]), vector1(vectors64.Neg, neg[float64]), neg[int64]}, sameDtype), "use Not for a mask"),
		gradients: []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g.Neg() }},
		},
		flops: onePerElement,
	})
}

// Neg returns -t.
func (t *Tensor) Neg() *Tensor { return apply(&opNeg, nil, t) }

func neg[T numbers.Number](dst, x []T) {
	for i := range dst {
		dst[i] = -x[i]
	}
}

// notBool refuses bool operands, for which arithmetic would be a surprise.
func notBool(forward func(c *call) *Tensor, hint string) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		for _, x := range c.in {
			if x.dtype == Bool {
				fail(ErrDtype, c.op.name, describe(c.in...), "not defined for bool tensors", hint)
			}
		}
		return forward(c)
	}
}

// d|x|/dx = sign(x)
var opAbs op

func init() {
	define(&opAbs, op{
		name:    "abs",
		forward: unary(unaryKernels{vector1(vectors32.Abs, abs[float32]), vector1(vectors64.Abs, abs[float64]), abs[int64]}, sameDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.input().Sign()) }},
		},
		flops: onePerElement,
	})
}

// Abs returns the magnitude of each element.
func (t *Tensor) Abs() *Tensor { return apply(&opAbs, nil, t) }

func abs[T numbers.Number](dst, x []T) {
	for i, v := range x {
		dst[i] = max(v, -v)
	}
}

var opSign op

func init() {
	define(&opSign, op{
		name:    "sign",
		forward: unary(unaryKernels{vector1(vectors32.Sign, sign[float32]), vector1(vectors64.Sign, sign[float64]), sign[int64]}, sameDtype),
		flops:   onePerElement,
	})
}

// Sign returns -1, 0 or 1 for each element; 0 for NaN.
func (t *Tensor) Sign() *Tensor { return apply(&opSign, nil, t) }

func sign[T numbers.Number](dst, x []T) {
	for i, v := range x {
		dst[i] = 0
		if v > 0 {
			dst[i] = 1
		} else if v < 0 {
			dst[i] = -1
		}
	}
}

// d(x²)/dx = 2x
var opSquare op

func init() {
	define(&opSquare, op{
		name:    "square",
		forward: unary(unaryKernels{vector1(vectors32.Square, square[float32]), vector1(vectors64.Square, square[float64]), square[int64]}, sameDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.input().Mul(2)) }},
		},
		flops: onePerElement,
	})
}

// Square returns t·t, element by element.
func (t *Tensor) Square() *Tensor { return apply(&opSquare, nil, t) }

func square[T numbers.Number](dst, x []T) {
	for i := range dst {
		dst[i] = x[i] * x[i]
	}
}

// d(1/x)/dx = -1/x²
var opReciprocal op

func init() {
	define(&opReciprocal, op{
		name:    "reciprocal",
		forward: unary(unaryKernels{f32: vector1(vectors32.Reciprocal, reciprocal[float32]), f64: vector1(vectors64.Reciprocal, reciprocal[float64])}, floatDtype),
		gradients: []gradient{
			{readsOutput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.out.Square()).Neg() }},
		},
		flops: onePerElement,
	})
}

// Reciprocal returns 1/t. Whole numbers give float32.
func (t *Tensor) Reciprocal() *Tensor { return apply(&opReciprocal, nil, t) }

func reciprocal[T numbers.Number](dst, x []T) {
	for i := range dst {
		dst[i] = 1 / x[i]
	}
}
