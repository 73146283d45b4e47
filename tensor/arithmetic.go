package tensor

import (
	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// Arithmetic: the operations that have an operator in other languages.

// d(a+b)/da = 1, d(a+b)/db = 1
var opAdd op

func init() {
	define(&opAdd, op{
		name:    "add",
		forward: binary(loops.BinaryKernels{F32: loops.Vector2(loops.Vectors32.Add, loops.Add[float32]), F64: loops.Vector2(loops.Vectors64.Add, loops.Add[float64]), I64: loops.AddWhole, By32: loops.Vectors32.Plus, By64: loops.Vectors64.Plus}, sameDtype, loops.Vectors32.AddInts),
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

// d(a-b)/da = 1, d(a-b)/db = -1
var opSub op

func init() {
	define(&opSub, op{
		name:    "sub",
		forward: notBool(binary(loops.BinaryKernels{F32: loops.Vector2(loops.Vectors32.Sub, loops.Sub[float32]), F64: loops.Vector2(loops.Vectors64.Sub, loops.Sub[float64]), I64: loops.SubWhole}, sameDtype, loops.Vectors32.SubInts), "use Xor, or Not for a mask"),
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

// d(ab)/da = b, d(ab)/db = a
var opMul op

func init() {
	define(&opMul, op{
		name:    "mul",
		forward: binary(loops.BinaryKernels{F32: loops.Vector2(loops.Vectors32.Mul, loops.Mul[float32]), F64: loops.Vector2(loops.Vectors64.Mul, loops.Mul[float64]), I64: loops.Mul[int64], By32: loops.Vectors32.Scale, By64: loops.Vectors64.Scale}, sameDtype, loops.Vectors32.MulInts),
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

// d(a/b)/da = 1/b, d(a/b)/db = -a/b² = -(a/b)/b
var opDiv op

func init() {
	define(&opDiv, op{
		name:    "div",
		forward: binary(loops.Quotients, floatDtype),
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

// Div returns t / other, a tensor or a number. The quotient of integers is
// floating point. It panics if the shapes can't be broadcast.
func (t *Tensor) Div(other any) *Tensor { return apply(&opDiv, nil, t, operand("div", other)) }

// d(aᵇ)/da = b·aᵇ⁻¹, and 0 where b = 0;  d(aᵇ)/db = aᵇ·ln a, and 0 where a = 0 and b ≥ 0.
// Bases are masked before they are raised, so that no derivative is 0·∞.
var opPow op

func init() {
	define(&opPow, op{
		name:    "pow",
		cast:    castWide,
		forward: powForward,
		gradients: []gradient{
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				base, power := c.left(), c.right()
				if power.storage.Device != nil || power.has(func(v float64) bool { return v == 0 }) {
					corner := power.Eq(0).And(base.Lt(0).Or(base.Gt(0)).Not()) // 0⁰ and NaN⁰
					base = base.Expand(corner.layout.Shape...).MaskedFill(corner, 1)
				}
				if power.number { // two numbers alone are subtracted in float32, where 1/3 has 8 digits
					return g.Mul(power.Mul(base.Pow(power.Item() - 1)))
				}
				return g.Mul(power.Mul(base.Pow(power.Sub(1))))
			}},
			{readsLeft | readsRight | readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
				base, power := c.left(), c.right()
				corner := base.Eq(0)
				if power.storage.Device != nil || power.has(func(v float64) bool { return !(v >= 0) }) {
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
// shapes can't be broadcast, and for a negative power of integers.
func (t *Tensor) Pow(other any) *Tensor { return apply(&opPow, nil, t, operand("pow", other)) }

func powForward(c *call) *Tensor {
	powers := c.right()
	if !c.left().dtype.IsFloat() && !powers.dtype.IsFloat() && contains(powers, func(n int64) bool { return n < 0 }) {
		fail(ErrValue, "pow", describe(c.in...), "an integer to a negative power is not an integer", "convert with To(tensor.Float32)")
	}
	if x := c.left(); c.device == nil && powers.layout.RepeatsOne() && powers.Len() == 1 && powers.Dim() <= x.Dim() &&
		x.dtype == Float32 && resultDtype(c.op.name, x, powers) == Float32 {
		var p [1]float32
		newReader[float32](powers).Copy(p[:], 0)
		if kernel := loops.PowerOf(p[0]); kernel != nil {
			return unary(loops.UnaryKernels{F32: kernel}, sameDtype)(c)
		}
	}
	return binary(loops.BinaryKernels{F32: loops.PowFloat32, F64: loops.PowFloat64, I64: loops.PowInt64}, sameDtype)(c)
}

// has reports whether any element meets a condition. Observers are not told.
func (t *Tensor) has(condition func(float64) bool) bool {
	r, found := newReader[float64](t.onHost()), false
	loops.InBlocks(0, t.Len(), func(start, n int) {
		for _, v := range r.Block(start, n) {
			found = found || condition(v)
		}
	})
	return found
}

// contains reports whether any element, as an integer, meets a condition.
func contains(t *Tensor, condition func(int64) bool) bool {
	r, found := newReader[int64](t.onHost()), false
	loops.InBlocks(0, t.Len(), func(start, n int) {
		for _, v := range r.Block(start, n) {
			found = found || condition(v)
		}
	})
	return found
}

// d(-x)/dx = -1
var opNeg op

func init() {
	define(&opNeg, op{
		name:    "neg",
		forward: notBool(unary(loops.UnaryKernels{F32: loops.Vector1(loops.Vectors32.Neg, loops.Neg[float32]), F64: loops.Vector1(loops.Vectors64.Neg, loops.Neg[float64]), I64: loops.NegWhole, Ints: loops.Vectors32.NegInts}, sameDtype), "use Not for a mask"),
		gradients: []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g.Neg() }},
		},
		flops: onePerElement,
	})
}

// Neg returns -t.
func (t *Tensor) Neg() *Tensor { return apply(&opNeg, nil, t) }

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
		forward: unary(loops.UnaryKernels{F32: loops.Vector1(loops.Vectors32.Abs, loops.Abs[float32]), F64: loops.Vector1(loops.Vectors64.Abs, loops.Abs[float64]), I64: loops.AbsWhole, Ints: loops.Vectors32.AbsInts}, sameDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.input().Sign()) }},
		},
		flops: onePerElement,
	})
}

// Abs returns the magnitude of each element.
func (t *Tensor) Abs() *Tensor { return apply(&opAbs, nil, t) }

var opSign op

func init() {
	define(&opSign, op{
		name:    "sign",
		forward: unary(loops.UnaryKernels{F32: loops.Vector1(loops.Vectors32.Sign, loops.Sign[float32]), F64: loops.Vector1(loops.Vectors64.Sign, loops.Sign[float64]), I64: loops.SignWhole, Ints: loops.Vectors32.SignInts}, sameDtype),
		flops:   onePerElement,
	})
}

// Sign returns -1, 0 or 1 for each element; 0 for NaN.
func (t *Tensor) Sign() *Tensor { return apply(&opSign, nil, t) }

// d(x²)/dx = 2x
var opSquare op

func init() {
	define(&opSquare, op{
		name:    "square",
		forward: unary(loops.UnaryKernels{F32: loops.Vector1(loops.Vectors32.Square, loops.Square[float32]), F64: loops.Vector1(loops.Vectors64.Square, loops.Square[float64]), I64: loops.Square[int64], Ints: loops.SquareInts}, sameDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.input().Mul(2)) }},
		},
		flops: onePerElement,
	})
}

// Square returns t·t, element by element.
func (t *Tensor) Square() *Tensor { return apply(&opSquare, nil, t) }

// d(1/x)/dx = -1/x²
var opReciprocal op

func init() {
	define(&opReciprocal, op{
		name:    "reciprocal",
		cast:    castWide,
		forward: unary(loops.UnaryKernels{F32: loops.Vector1(loops.Vectors32.Reciprocal, loops.Reciprocal[float32]), F64: loops.Vector1(loops.Vectors64.Reciprocal, loops.Reciprocal[float64])}, floatDtype),
		gradients: []gradient{
			{readsOutput, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.out.Square()).Neg() }},
		},
		flops: onePerElement,
	})
}

// Reciprocal returns 1/t. Integers give float32.
func (t *Tensor) Reciprocal() *Tensor { return apply(&opReciprocal, nil, t) }

// Division with rounding. For integers a zero divisor is an error; floats
// follow IEEE 754.

var opFloorDiv, opTruncDiv op

func init() {
	define(&opFloorDiv, op{
		name:    "floor divide",
		forward: wholeDivision(loops.BinaryKernels{F32: loops.NearAndFar(loops.NearFloorDiv, loops.OneFloorDiv), F64: loops.FloorDiv[float64], I64: loops.FloorWhole}, loops.Vectors32.FloorInts),
		flops:   perElement(2),
	})
	define(&opTruncDiv, op{
		name: "truncating divide",
		forward: wholeDivision(loops.BinaryKernels{
			F32: loops.TruncDiv[float32],
			F64: loops.TruncDiv[float64],
			I64: loops.TruncWhole,
		}, loops.Vectors32.QuotientInts),
		flops: perElement(2),
	})
}

// FloorDiv returns t / other rounded down, as // does in Python; integers stay
// integers. It takes no part in gradients. It panics if the shapes can't be broadcast,
// or if an integer is divided by 0.
func (t *Tensor) FloorDiv(other any) *Tensor {
	return apply(&opFloorDiv, nil, t, operand("floor divide", other))
}

// TruncDiv returns t / other rounded toward 0, as / does with Go's integers; see
// [Tensor.FloorDiv].
func (t *Tensor) TruncDiv(other any) *Tensor {
	return apply(&opTruncDiv, nil, t, operand("truncating divide", other))
}

// wholeDivision refuses zero divisors of integers. ints is as in binary.
func wholeDivision(k loops.BinaryKernels, ints func(dst, x, y []float32)) func(c *call) *Tensor {
	forward := notBool(binary(k, sameDtype, ints), "convert with To(tensor.Int64)")
	return func(c *call) *Tensor {
		x, y := c.left(), c.right()
		if !x.dtype.IsFloat() && !y.dtype.IsFloat() && y.hasZero() {
			fail(ErrValue, c.op.name, describe(x, y), "an integer is divided by 0", "convert with To(tensor.Float32) to get an infinity instead")
		}
		return forward(c)
	}
}

// hasZero reports whether an integer is 0.
func (t *Tensor) hasZero() bool {
	l := t.layout.Copied(0)
	for i, stride := range l.Strides { // each number once
		if stride == 0 {
			l.Shape[i] = min(l.Shape[i], 1)
		}
	}
	return loops.AnyZero(t.alias(l).onHost().array())
}

// d(a mod b)/da = 1, d(a mod b)/db = -⌊a/b⌋; fmod cuts instead of rounding down
var opRemainder, opFmod op

func init() {
	rounded := func(quotient func(a, b *Tensor) *Tensor) []gradient {
		return []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }},
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				return g.Mul(quotient(c.left(), c.right())).Neg()
			}},
		}
	}
	define(&opRemainder, op{
		name: "remainder",
		forward: wholeDivision(loops.BinaryKernels{
			F32: loops.NearAndFar(loops.Vectors32.RemainderNear, loops.PythonMod),
			F64: loops.FloatKernels2(loops.PythonMod).F64,
			I64: loops.ModWhole,
		}, loops.Vectors32.ModInts),
		gradients:  rounded((*Tensor).floorDivide),
		broadcasts: true,
		flops:      onePerElement,
	})
	define(&opFmod, op{
		name: "fmod",
		forward: wholeDivision(loops.BinaryKernels{
			F32: loops.NearAndFar(loops.Vectors32.FmodNear, loops.Mod),
			F64: loops.FloatKernels2(loops.Mod).F64,
			I64: loops.FmodWhole,
		}, loops.Vectors32.RestInts),
		gradients:  rounded((*Tensor).truncDivide),
		broadcasts: true,
		flops:      onePerElement,
	})
}

func (t *Tensor) floorDivide(other *Tensor) *Tensor { return t.FloorDiv(other) }
func (t *Tensor) truncDivide(other *Tensor) *Tensor { return t.TruncDiv(other) }

// Remainder returns t mod other with the sign of other, as % does in Python. It
// panics if the shapes can't be broadcast, or if an integer is divided by 0.
func (t *Tensor) Remainder(other any) *Tensor {
	return apply(&opRemainder, nil, t, operand("remainder", other))
}

// Fmod returns t mod other with the sign of t, as % does in Go. It panics if the
// shapes can't be broadcast, or if an integer is divided by 0.
func (t *Tensor) Fmod(other any) *Tensor { return apply(&opFmod, nil, t, operand("fmod", other)) }
