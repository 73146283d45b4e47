package tensor

import (
	"math"
	"slices"

	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// Comparisons and logic: the results are bool tensors (bitwise operations keep
// the dtype). Comparisons with NaN are false, except that NaN differs from
// everything. They are not counted as FLOPs.

var opEq, opNe, opLt, opLe, opGt, opGe, opLogicalAnd, opLogicalOr, opLogicalXor op

func init() {
	for _, o := range []struct {
		op      *op
		name    string
		kernels loops.BinaryKernels
		ints    func(dst, x, y []float32) // of int32 in vector instructions, nil where there are none
		words   loops.WordKernel          // for bools; nil if they are compared as numbers
	}{
		{&opEq, "eq", loops.BinaryKernels{
			F32: loops.Vector2(loops.Vectors32.Equal, loops.Eq[float32]),
			F64: loops.Vector2(loops.Vectors64.Equal, loops.Eq[float64]),
			I64: loops.EqWhole,
		}, loops.Vectors32.EqualInts, loops.SameWords},
		{&opNe, "ne", loops.BinaryKernels{
			F32: loops.Vector2(loops.Vectors32.Differ, loops.Ne[float32]),
			F64: loops.Vector2(loops.Vectors64.Differ, loops.Ne[float64]),
			I64: loops.NeWhole,
		}, loops.DifferInts, loops.XorWords},
		{&opLt, "lt", loops.BinaryKernels{
			F32: loops.Vector2(loops.Vectors32.Less, loops.Lt[float32]),
			F64: loops.Vector2(loops.Vectors64.Less, loops.Lt[float64]),
			I64: loops.LtWhole,
		}, loops.Vectors32.LessInts, nil},
		{&opLe, "le", loops.BinaryKernels{
			F32: loops.Vector2(loops.Vectors32.AtMost, loops.Le[float32]),
			F64: loops.Vector2(loops.Vectors64.AtMost, loops.Le[float64]),
			I64: loops.LeWhole,
		}, loops.AtMostInts, nil},
		{&opGt, "gt", loops.BinaryKernels{
			F32: loops.Swapped(loops.Vectors32.Less, loops.Gt[float32]),
			F64: loops.Swapped(loops.Vectors64.Less, loops.Gt[float64]),
			I64: loops.GtWhole,
		}, loops.Swapped(loops.Vectors32.LessInts, nil), nil},
		{&opGe, "ge", loops.BinaryKernels{
			F32: loops.Swapped(loops.Vectors32.AtMost, loops.Ge[float32]),
			F64: loops.Swapped(loops.Vectors64.AtMost, loops.Ge[float64]),
			I64: loops.GeWhole,
		}, loops.Swapped(loops.AtMostInts, nil), nil},
		{&opLogicalAnd, "logical and", loops.LogicalKernels(
			loops.LogicalAnd[float32], loops.LogicalAnd[float64], loops.LogicalAnd[int64], loops.Vectors32.Mul, loops.Vectors64.Mul,
		), nil, loops.AndWords},
		{&opLogicalOr, "logical or", loops.LogicalKernels(
			loops.LogicalOr[float32], loops.LogicalOr[float64], loops.LogicalOr[int64], loops.Vectors32.Maximum, loops.Vectors64.Maximum,
		), nil, loops.OrWords},
		{&opLogicalXor, "logical xor", loops.LogicalKernels(
			loops.LogicalXor[float32], loops.LogicalXor[float64], loops.LogicalXor[int64], loops.Vectors32.Differ, loops.Vectors64.Differ,
		), nil, loops.XorWords},
	} {
		define(o.op, op{name: o.name, forward: onBools(binary(o.kernels, boolDtype, o.ints), o.words)})
	}
}

// Eq returns a bool tensor: where t equals other, a tensor or a number. It panics if
// the shapes can't be broadcast; so do all comparisons.
func (t *Tensor) Eq(other any) *Tensor { return apply(&opEq, nil, t, operand("eq", other)) }

// Ne returns a bool tensor: where t differs from other, a tensor or a number.
func (t *Tensor) Ne(other any) *Tensor { return apply(&opNe, nil, t, operand("ne", other)) }

// Lt returns a bool tensor: where t is less than other, a tensor or a number.
func (t *Tensor) Lt(other any) *Tensor { return apply(&opLt, nil, t, operand("lt", other)) }

// Le returns a bool tensor: where t is at most other, a tensor or a number.
func (t *Tensor) Le(other any) *Tensor { return apply(&opLe, nil, t, operand("le", other)) }

// Gt returns a bool tensor: where t is greater than other, a tensor or a number.
func (t *Tensor) Gt(other any) *Tensor { return apply(&opGt, nil, t, operand("gt", other)) }

// Ge returns a bool tensor: where t is at least other, a tensor or a number.
func (t *Tensor) Ge(other any) *Tensor { return apply(&opGe, nil, t, operand("ge", other)) }

// LogicalAnd returns a bool tensor: where both t and other are not 0.
func (t *Tensor) LogicalAnd(other any) *Tensor {
	return apply(&opLogicalAnd, nil, t, operand("logical and", other))
}

// LogicalOr returns a bool tensor: where t, or other, or both are not 0.
func (t *Tensor) LogicalOr(other any) *Tensor {
	return apply(&opLogicalOr, nil, t, operand("logical or", other))
}

// LogicalXor returns a bool tensor: where either t or other, but not both, is not 0.
func (t *Tensor) LogicalXor(other any) *Tensor {
	return apply(&opLogicalXor, nil, t, operand("logical xor", other))
}

var opIsNaN, opIsInf, opIsFinite, opLogicalNot op

func init() {
	for _, o := range []struct {
		op      *op
		name    string
		kernels loops.UnaryKernels
		words   loops.WordKernel // of bools
	}{
		{&opIsNaN, "isnan", loops.UnaryKernels{F32: loops.IsNaN32, F64: loops.IsNaN64, I64: loops.TestKernel[int64](math.IsNaN)}, nil},
		{&opIsInf, "isinf", loops.TestKernels(loops.IsInf, loops.Vectors32.Infinite, loops.Vectors64.Infinite), nil},
		{&opIsFinite, "isfinite", loops.TestKernels(loops.IsFinite, loops.Vectors32.Finite, loops.Vectors64.Finite), nil},
		{&opLogicalNot, "logical not", loops.UnaryKernels{
			F32: loops.IsZero32, F64: loops.IsZero64, I64: loops.LogicalNot[int64],
		}, loops.NotWords},
	} {
		define(o.op, op{name: o.name, forward: onBools(unary(o.kernels, boolDtype), o.words)})
	}
}

// IsNaN returns a bool tensor: where an element is not a number.
func (t *Tensor) IsNaN() *Tensor { return apply(&opIsNaN, nil, t) }

// IsInf returns a bool tensor: where an element is infinite.
func (t *Tensor) IsInf() *Tensor { return apply(&opIsInf, nil, t) }

// IsFinite returns a bool tensor: where an element is neither infinite nor NaN.
func (t *Tensor) IsFinite() *Tensor { return apply(&opIsFinite, nil, t) }

// LogicalNot returns a bool tensor: where t is 0.
func (t *Tensor) LogicalNot() *Tensor { return apply(&opLogicalNot, nil, t) }

var opAnd, opOr, opXor, opNot op

func init() {
	for _, o := range []struct {
		op     *op
		name   string
		kernel func(dst, x, y []int64)
		ints   func(dst, x, y []float32)
		words  loops.WordKernel
	}{
		{&opAnd, "and", loops.AndWhole, loops.Vectors32.AndInts, loops.AndWords},
		{&opOr, "or", loops.OrWhole, loops.Vectors32.OrInts, loops.OrWords},
		{&opXor, "xor", loops.XorWhole, loops.Vectors32.XorInts, loops.XorWords},
	} {
		define(o.op, op{name: o.name, forward: onBools(notFloat(binary(loops.BinaryKernels{I64: o.kernel}, sameDtype, o.ints)), o.words)})
	}
	ofBools := unary(loops.UnaryKernels{I64: loops.LogicalNot[int64]}, sameDtype)
	ofInts := unary(loops.UnaryKernels{Ints: loops.Vectors32.NotInts, I64: loops.NotWhole}, sameDtype)
	define(&opNot, op{name: "not", forward: onBools(notFloat(func(c *call) *Tensor {
		if c.input().dtype == Bool {
			return ofBools(c)
		}
		return ofInts(c)
	}), loops.NotWords)})
}

// And returns t & other, bit by bit: for masks, where both are set. It panics if
// either is floating point or the shapes can't be broadcast; so do Or and Xor.
func (t *Tensor) And(other any) *Tensor { return apply(&opAnd, nil, t, operand("and", other)) }

// Or returns t | other, bit by bit: for masks, where one of them is set.
func (t *Tensor) Or(other any) *Tensor { return apply(&opOr, nil, t, operand("or", other)) }

// Xor returns t ^ other, bit by bit: for masks, where they differ.
func (t *Tensor) Xor(other any) *Tensor { return apply(&opXor, nil, t, operand("xor", other)) }

// Not returns t with every bit inverted: for a mask, where it is not set. It
// panics if t is floating point.
func (t *Tensor) Not() *Tensor { return apply(&opNot, nil, t) }

// notFloat refuses floating-point operands.
func notFloat(forward func(c *call) *Tensor) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		for _, x := range c.in {
			if x.dtype.IsFloat() {
				fail(ErrDtype, c.op.name, x.dtype.String(), "bitwise operations don't work on floating-point numbers", "use LogicalAnd, LogicalOr or LogicalXor, or compare first")
			}
		}
		return forward(c)
	}
}

// Equal reports whether two tensors have the same shape and equal elements. NaN
// equals nothing.
func Equal(a, b *Tensor) bool {
	return sameShape(a, b) && a.Eq(b).All().Item() == 1
}

// IsClose returns a bool tensor: where a is within absolute + relative·|b| of b, by the
// rules of [AllClose]. The operands are broadcast.
func IsClose(a, b *Tensor, relative, absolute float64) *Tensor {
	a.existBeside("is close", b)
	if a.storage.Device == nil && b.storage.Device == nil {
		c := &call{op: &op{name: "is close"}}
		c.in = append(c.few[:0], a, b)
		return inMemoryOrder(binary(loops.BinaryKernels{F64: loops.Close(relative, absolute)}, func(Dtype) (compute, result Dtype) { return Float64, Bool }))(c)
	}
	same := a.Eq(b).Or(a.IsNaN().And(b.IsNaN()))
	x, y := a.Detach().To(Float64), b.Detach().To(Float64)
	return same.Or(x.Sub(y).Abs().Le(y.Abs().Mul(relative).Add(absolute)).And(y.IsFinite()))
}

// AllClose reports whether two tensors have the same shape and every element of
// a is within absolute + relative·|b| of that of b. Infinities must be equal and
// NaN is close to NaN.
func AllClose(a, b *Tensor, relative, absolute float64) bool {
	if !sameShape(a, b) {
		return false
	}
	if !a.dtype.IsFloat() && !b.dtype.IsFloat() && relative == 0 && absolute < 1 { // integers that float64 may not hold
		return slices.Equal(a.Ints(), b.Ints())
	}
	x, y := a.Floats(), b.Floats()
	loops.Close(relative, absolute)(x, x, y)
	return !slices.Contains(x, 0)
}

// Choosing and logic without branches: which elements of a mask are set can't be
// predicted, and a wrong guess costs more than anything else.

// repeatedRow returns the row of bools that all of t repeats, if there is one that is worth working on by itself.
func (t *Tensor) repeatedRow() []uint8 {
	last := t.Dim() - 1
	if last < 1 || t.layout.Strides[last] != 1 || t.layout.Shape[last] < 64 || t.Len() == 0 {
		return nil
	}
	for i, stride := range t.layout.Strides[:last] {
		if stride != 0 && t.layout.Shape[i] > 1 {
			return nil
		}
	}
	return elements[uint8](t.storage)[t.layout.Offset:][:t.layout.Shape[last]]
}

// onBools returns a forward that works on eight bools at a time if all operands are bools; otherwise, or if words
// is nil, it does what forward does.
func onBools(forward func(c *call) *Tensor, words loops.WordKernel) func(c *call) *Tensor {
	if words == nil {
		return forward
	}
	return inMemoryOrder(func(c *call) *Tensor {
		x, y := c.in[0], c.in[len(c.in)-1]
		if c.device != nil || x.dtype != Bool || y.dtype != Bool {
			return forward(c)
		}
		left, right, shape := broadcast(c.op.name, x, y)
		out := c.result(Bool, shape, false)
		if row := left.repeatedRow(); row != nil {
			words.Rows(stored[uint8](out), row, right.bools(), len(row))
		} else if row := right.repeatedRow(); row != nil {
			words.Rows(stored[uint8](out), left.bools(), row, len(row))
		} else {
			words.Bools(stored[uint8](out), left.bools(), right.bools())
		}
		return out
	})
}
