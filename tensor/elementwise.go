package tensor

import (
	"fmt"
	"math"
	"slices"
)

// Elementwise operations: one number in, or two, one number out, for each
// position. Operands are broadcast to a common shape, the result is a new
// contiguous tensor of the promoted dtype.

// unaryKernels and binaryKernels hold an operation's loop for each type that
// is computed in; nil where the operation is not defined or not needed.
type unaryKernels struct {
	f32 func(dst, x []float32)
	f64 func(dst, x []float64)
	i64 func(dst, x []int64)
}

type binaryKernels struct {
	f32 func(dst, x, y []float32)
	f64 func(dst, x, y []float64)
	i64 func(dst, x, y []int64)
}

// one FLOP for each element of the result.
func onePerElement(_ *call, out *Tensor) int { return out.Len() }

// d(a+b)/da = 1, d(a+b)/db = 1
var opAdd op

func init() {
	define(&opAdd, op{
		name:    "add",
		forward: binary(binaryKernels{add[float32], add[float64], add[int64]}, sameDtype),
		gradients: []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }},
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }},
		},
		broadcasts: true,
		flops:      onePerElement,
	})
}

// Add returns t + other, a tensor or a number. It panics if the shapes can't be
// broadcast.
func (t *Tensor) Add(other any) *Tensor { return apply(&opAdd, nil, t, operand("add", other)) }

func add[T number](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

// d(a-b)/da = 1, d(a-b)/db = -1
var opSub op

func init() {
	define(&opSub, op{
		name:    "sub",
		forward: binary(binaryKernels{sub[float32], sub[float64], sub[int64]}, sameDtype),
		gradients: []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }},
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g.Neg() }},
		},
		broadcasts: true,
		flops:      onePerElement,
	})
}

// Sub returns t - other, a tensor or a number. It panics if the shapes can't be
// broadcast.
func (t *Tensor) Sub(other any) *Tensor { return apply(&opSub, nil, t, operand("sub", other)) }

func sub[T number](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] - y[i]
	}
}

// d(ab)/da = b, d(ab)/db = a
var opMul op

func init() {
	define(&opMul, op{
		name:    "mul",
		forward: binary(binaryKernels{mul[float32], mul[float64], mul[int64]}, sameDtype),
		gradients: []gradient{
			{readsRight, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.right()) }},
			{readsLeft, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.left()) }},
		},
		broadcasts: true,
		flops:      onePerElement,
	})
}

// Mul returns t · other, element by element, for a tensor or a number. It panics
// if the shapes can't be broadcast. For the matrix product see [Tensor.Matmul].
func (t *Tensor) Mul(other any) *Tensor { return apply(&opMul, nil, t, operand("mul", other)) }

func mul[T number](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

// d(a/b)/da = 1/b, d(a/b)/db = -a/b² = -(a/b)/b
var opDiv op

func init() {
	define(&opDiv, op{
		name:    "div",
		forward: binary(binaryKernels{f32: div[float32], f64: div[float64]}, floatDtype),
		gradients: []gradient{
			{readsRight, func(c *call, g *Tensor, _ int) *Tensor { return g.Div(c.right()) }},
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				return g.Mul(c.left().Div(c.right()).Div(c.right())).Neg()
			}},
		},
		broadcasts: true,
		flops:      onePerElement,
	})
}

// Div returns t / other, a tensor or a number. The quotient of whole numbers is
// floating point. It panics if the shapes can't be broadcast.
func (t *Tensor) Div(other any) *Tensor { return apply(&opDiv, nil, t, operand("div", other)) }

func div[T number](dst, x, y []T) {
	for i := range dst {
		dst[i] = x[i] / y[i]
	}
}

// d(aᵇ)/da = b·aᵇ⁻¹, and 0 where b = 0;  d(aᵇ)/db = aᵇ·ln a, and 0 where a = 0
var opPow op

func init() {
	define(&opPow, op{
		name:    "pow",
		forward: binary(binaryKernels{powFloat32, powFloat64, powInt64}, sameDtype),
		gradients: []gradient{
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				slope := c.right().Mul(c.left().Pow(c.right().Sub(1)))
				return g.Mul(slope.MaskedFill(c.right().Eq(0), 0))
			}},
			{readsLeft | readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
				slope := c.out.Mul(c.left().Log())
				return g.Mul(slope.MaskedFill(c.left().Eq(0), 0))
			}},
		},
		broadcasts: true,
		flops:      onePerElement,
	})
}

// Pow returns t to the power of other, a tensor or a number. It panics if the
// shapes can't be broadcast, and for a negative power of whole numbers.
func (t *Tensor) Pow(other any) *Tensor { return apply(&opPow, nil, t, operand("pow", other)) }

func powFloat64(dst, x, y []float64) {
	for i := range dst {
		dst[i] = math.Pow(x[i], y[i])
	}
}

// powFloat32 computes in float64: the result is then rounded once. Squares,
// by far the most frequent, need no more than a product.
func powFloat32(dst, x, y []float32) {
	for i := range dst {
		if y[i] == 2 {
			dst[i] = x[i] * x[i]
		} else {
			dst[i] = float32(math.Pow(float64(x[i]), float64(y[i])))
		}
	}
}

func powInt64(dst, x, y []int64) {
	for i := range dst {
		if y[i] < 0 {
			fail(ErrValue, "pow", "", fmt.Sprintf("a whole number to the negative power %d is not a whole number", y[i]), "convert with To(tensor.Float32)")
		}
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
		forward: unary(unaryKernels{neg[float32], neg[float64], neg[int64]}, sameDtype),
		gradients: []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g.Neg() }},
		},
		flops: onePerElement,
	})
}

// Neg returns -t.
func (t *Tensor) Neg() *Tensor { return apply(&opNeg, nil, t) }

func neg[T number](dst, x []T) {
	for i := range dst {
		dst[i] = -x[i]
	}
}

// d(√x)/dx = 1/(2√x)
var opSqrt op

func init() {
	define(&opSqrt, op{
		name:    "sqrt",
		forward: unary(floatKernels(math.Sqrt), floatDtype),
		gradients: []gradient{
			{readsOutput, func(c *call, g *Tensor, _ int) *Tensor { return g.Div(c.out.Mul(2)) }},
		},
		flops: onePerElement,
	})
}

// Sqrt returns the square root of each element; NaN where it is negative. Whole
// numbers give float32.
func (t *Tensor) Sqrt() *Tensor { return apply(&opSqrt, nil, t) }

// d(ln x)/dx = 1/x
var opLog op

func init() {
	define(&opLog, op{
		name:    "log",
		forward: unary(floatKernels(math.Log), floatDtype),
		gradients: []gradient{
			{readsInput, func(c *call, g *Tensor, _ int) *Tensor { return g.Div(c.input()) }},
		},
		flops: onePerElement,
	})
}

// Log returns the natural logarithm of each element. Whole numbers give float32.
func (t *Tensor) Log() *Tensor { return apply(&opLog, nil, t) }

// floatKernels makes loops from a function of package math. float32 is computed
// in float64 and rounded once.
func floatKernels(f func(float64) float64) unaryKernels {
	return unaryKernels{
		f32: func(dst, x []float32) {
			for i := range dst {
				dst[i] = float32(f(float64(x[i])))
			}
		},
		f64: func(dst, x []float64) {
			for i := range dst {
				dst[i] = f(x[i])
			}
		},
	}
}

var opEq op

func init() {
	define(&opEq, op{
		name:    "eq",
		forward: binary(binaryKernels{eq[float32], eq[float64], eq[int64]}, boolDtype),
		flops:   onePerElement,
	})
}

// Eq returns a bool tensor: where t equals other, a tensor or a number.
func (t *Tensor) Eq(other any) *Tensor { return apply(&opEq, nil, t, operand("eq", other)) }

func eq[T number](dst, x, y []T) {
	for i := range dst {
		dst[i] = 0
		if x[i] == y[i] {
			dst[i] = 1
		}
	}
}

// d fill(x)/dx = 0 where the mask is set, else 1
var opMaskedFill op

func init() {
	define(&opMaskedFill, op{
		name: "masked fill",
		forward: func(c *call) *Tensor {
			x, mask := c.in[0], c.in[1]
			if mask.dtype != Bool {
				fail(ErrDtype, "masked fill", mask.dtype.String(), "the mask is not a bool tensor", "make one with a comparison such as x.Eq(0)")
			}
			l, err := mask.layout.Expand(x.layout.shape...)
			mask.must("masked fill", err)
			out := x.Detach().Clone()
			flags := mask.alias(l)
			zipInto(out, out, flags, binaryKernels{
				f32: fillWhere(float32(c.attr.(float64))),
				f64: fillWhere(c.attr.(float64)),
				i64: fillWhere(int64(c.attr.(float64))),
			})
			return out
		},
		gradients: []gradient{
			{readsRight, func(c *call, g *Tensor, _ int) *Tensor { return g.MaskedFill(c.right(), 0) }},
			{},
		},
	})
}

// MaskedFill returns a copy of t with value where mask, a bool tensor that can be
// expanded to t's shape, is set. It panics if mask is not bool or does not fit.
func (t *Tensor) MaskedFill(mask *Tensor, value float64) *Tensor {
	return apply(&opMaskedFill, value, t, mask)
}

func fillWhere[T number](value T) func(dst, x, mask []T) {
	return func(dst, x, mask []T) {
		for i := range dst {
			dst[i] = x[i]
			if mask[i] != 0 {
				dst[i] = value
			}
		}
	}
}

// dtypeRule chooses the dtype that an operation computes in, and that of its
// result, from the promoted dtype of its operands.
type dtypeRule func(promoted Dtype) (compute, result Dtype)

func sameDtype(d Dtype) (compute, result Dtype) { return d, d }
func boolDtype(d Dtype) (compute, result Dtype) { return d, Bool }

// floatDtype turns whole numbers into float32.
func floatDtype(d Dtype) (compute, result Dtype) {
	if !d.IsFloat() {
		d = Float32
	}
	return d, d
}

// unary returns the forward of an operation with one operand.
func unary(k unaryKernels, rule dtypeRule) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		x := c.in[0]
		compute, result := rule(x.dtype)
		out := newTensor(result, x.layout.shape, false)
		switch formats[compute].arithmetic {
		case inFloat32:
			mapBlocks(out, x, k.f32)
		case inFloat64:
			mapBlocks(out, x, k.f64)
		default:
			mapBlocks(out, x, k.i64)
		}
		return out
	}
}

// binary returns the forward of an operation with two operands.
func binary(k binaryKernels, rule dtypeRule) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		x, y := c.in[0], c.in[1]
		compute, result := rule(resultDtype(c.op.name, x, y))
		x, y, shape := broadcast(c.op.name, x, y)
		out := newTensor(result, shape, false)
		zipAs(compute, out, x, y, k)
		return out
	}
}

// broadcast returns views of both operands in their common shape.
func broadcast(op string, x, y *Tensor) (bx, by *Tensor, shape []int) {
	if slices.Equal(x.layout.shape, y.layout.shape) {
		return x, y, x.layout.shape
	}
	shape, err := broadcastShape(x.layout.shape, y.layout.shape)
	if err != nil {
		e := err.(*Error)
		fail(e.Kind, op, describe(x, y), e.Reason, e.Hint)
	}
	return x.expanded(shape), y.expanded(shape), shape
}

// expanded returns a view in a shape that broadcastShape found, outside the
// graph.
func (t *Tensor) expanded(shape []int) *Tensor {
	if slices.Equal(t.layout.shape, shape) {
		return t
	}
	l, err := t.layout.Expand(shape...)
	t.must("expand", err)
	return t.alias(l)
}

// zipInto computes out = f(x, y) in the arithmetic of out's dtype.
func zipInto(out, x, y *Tensor, k binaryKernels) { zipAs(out.dtype, out, x, y, k) }

func zipAs(compute Dtype, out, x, y *Tensor, k binaryKernels) {
	switch formats[compute].arithmetic {
	case inFloat32:
		zipBlocks(out, x, y, k.f32)
	case inFloat64:
		zipBlocks(out, x, y, k.f64)
	default:
		zipBlocks(out, x, y, k.i64)
	}
}

// mapBlocks runs a kernel over all elements of x. Both have the same shape.
func mapBlocks[T number](out, x *Tensor, kernel func(dst, x []T)) {
	parallel(out.Len(), parallelFrom, func(start, end int) {
		r, w := newReader[T](x), newWriter[T](out)
		inBlocks(start, end, func(at, n int) {
			kernel(w.block(at, n), r.block(at, n))
			w.flush(at, n)
		})
	})
}

// zipBlocks runs a kernel over all elements of x and y. All have the same
// shape.
func zipBlocks[T number](out, x, y *Tensor, kernel func(dst, x, y []T)) {
	if isPlain[T](out) && isPlain[T](x) && isPlain[T](y) && out.Len() < parallelFrom {
		kernel(plain[T](out), plain[T](x), plain[T](y))
		return
	}
	parallel(out.Len(), parallelFrom, func(start, end int) {
		rx, ry, w := newReader[T](x), newReader[T](y), newWriter[T](out)
		inBlocks(start, end, func(at, n int) {
			kernel(w.block(at, n), rx.block(at, n), ry.block(at, n))
			w.flush(at, n)
		})
	})
}

// isPlain reports whether the memory of t is already what a kernel wants: a
// slice of T.
func isPlain[T number](t *Tensor) bool { return isNative[T](t.dtype) && t.IsContiguous() }

func plain[T number](t *Tensor) []T {
	return elements[T](t.storage)[t.layout.offset:][:t.layout.Len()]
}
