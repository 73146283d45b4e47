package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Choosing between values element by element: where, masked fill, clamp,
// minimum, maximum.

func sameShape(a, b *Tensor) bool { return slices.Equal(a.layout.Shape, b.layout.Shape) }

// d fill(x)/dx = 0 where the mask is set, else 1
var opMaskedFill opOf[float64]

func init() {
	define(&opMaskedFill.op, op{
		name: "masked fill",
		forward: func(c *call) *Tensor {
			x, mask := c.in[0], c.in[1]
			mask.needBools("masked fill", "mask", x, mask)
			if v := opMaskedFill.given(c); !x.dtype.IsFloat() && !loops.IsFinite(v) {
				fail(ErrValue, "masked fill", describe(x, mask), fmt.Sprintf("a %s tensor can't hold %g", x.dtype, v), "convert with To(tensor.Float32)")
			}
			if _, err := mask.layout.Expand(x.layout.Shape...); err != nil {
				fail(ErrShape, "masked fill", describe(x, mask), "the mask does not fit: its "+err.(*layout.Error).Reason, "a mask has the shape of the tensor, or can be expanded to it")
			}
			return maskedFill(c)
		},
		gradients: []gradient{
			{readsRight, func(c *call, g *Tensor, _ int) *Tensor { return g.MaskedFill(c.right(), 0) }},
			{},
		},
	})
}

var maskedFill = inMemoryOrder(func(c *call) *Tensor {
	x, mask, value := c.in[0], c.in[1].expanded(c.in[0].layout.Shape), opMaskedFill.given(c)
	if c.device == nil {
		out := c.result(x.dtype, x.layout.Shape, false)
		loops.Choose(out.array(), mask.array(), scalar(value, x.dtype).expanded(x.layout.Shape).array(), x.array())
		return out
	}
	out := x.converted(x.dtype)
	zipAs(c.op.name, out.dtype, out, out, mask, loops.BinaryKernels{
		F32: loops.FillWhere(float32(value)),
		F64: loops.FillWhere(value),
		I64: loops.FillWhere(int64(value)),
	}, value)
	return out
})

// MaskedFill returns a copy of t with value where mask, a bool tensor that can be
// expanded to t's shape, is set. It panics if mask is not bool or does not fit.
func (t *Tensor) MaskedFill(mask *Tensor, value float64) *Tensor {
	return opMaskedFill.apply(value, t, mask)
}

// d where(c, x, y)/dx = 1 where c, else 0;  d/dy = 0 where c, else 1
var opWhere op

func init() {
	define(&opWhere, op{
		name:    "where",
		forward: whereForward,
		gradients: []gradient{
			{},
			{readsLeft, func(c *call, g *Tensor, _ int) *Tensor { return g.MaskedFill(c.in[0].Not(), 0) }},
			{readsLeft, func(c *call, g *Tensor, _ int) *Tensor { return g.MaskedFill(c.in[0], 0) }},
		},
		broadcasts: true,
	})
}

// Where returns a new tensor with the elements of x where condition, a bool
// tensor, is set and those of y elsewhere. x and y are tensors or numbers; all
// three are broadcast. It panics if condition is not bool or the shapes don't
// fit.
func Where(condition *Tensor, x, y any) *Tensor {
	return apply(&opWhere, nil, condition, operand("where", x), operand("where", y))
}

func whereForward(c *call) *Tensor {
	c.in[0].needBools("where", "condition", c.in...)
	return choose(c)
}

var choose = inMemoryOrder(func(c *call) *Tensor {
	condition, x, y := c.in[0], c.in[1], c.in[2]
	dtype := resultDtype("where", x, y)
	_, _, shape := broadcast("where", x, y)
	_, _, shape = broadcast("where", condition, condition.alias(ContiguousLayout(shape...)))
	out := c.result(dtype, shape, false)
	condition, x, y = condition.expanded(shape), x.expanded(shape), y.expanded(shape)
	if c.device != nil {
		out.fillOn("where", func(on device.Backend) error {
			return on.Choose(computeType(dtype), out.view(), condition.view(), x.view(), y.view())
		})
		return out
	}
	loops.Choose(out.array(), condition.array(), x.array(), y.array())
	return out
})

// bounds are those of a clamp; infinite ones have no effect.
type bounds struct{ low, high float64 }

// d clamp(x)/dx = 1 where low ≤ x ≤ high, else 0
var opClamp opOf[bounds]

func init() {
	define(&opClamp.op, op{
		name: "clamp",
		forward: func(c *call) *Tensor {
			b := opClamp.given(c)
			return unary(loops.UnaryKernels{
				F32: func(dst, x []float32) {
					loops.ClampFloat(dst, x, float32(b.low), float32(b.high), loops.Vectors32.Clamp)
				},
				F64:  func(dst, x []float64) { loops.ClampFloat(dst, x, b.low, b.high, loops.Vectors64.Clamp) },
				I64:  func(dst, x []int64) { clampInt(dst, x, b) },
				Ints: b.int32s(),
			}, func(d Dtype) (compute, result Dtype) {
				if b.fractional() {
					return floatDtype(d)
				}
				return d, d
			}, b.low, b.high)(c)
		},
		gradients: []gradient{{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
			b, x := opClamp.given(c), c.input()
			return g.MaskedFill(x.Ge(b.low).And(x.Le(b.high)).Not(), 0)
		}}},
		flops: perElement(2),
	})
}

// fractional reports whether a bound is not an integer, so that clamping integers may
// give fractions.
func (b bounds) fractional() bool {
	is := func(x float64) bool { return loops.IsFinite(x) && x != math.Trunc(x) }
	return is(b.low) || is(b.high)
}

// int32s is the loop for int32 in the places of float32; nil if there is none, or if a result may not be an int32.
func (b bounds) int32s() func(dst, x []float32) {
	if !(b.low <= math.MaxInt32 && b.high >= math.MinInt32) {
		return nil
	}
	inside := func(v float64) int32 { return int32(min(max(v, math.MinInt32), math.MaxInt32)) }
	return loops.ClampInts(inside(b.low), inside(b.high))
}

// Clamp returns a new tensor in which elements below low become low and those above
// high become high; high wins if low is larger. An infinite bound leaves that side
// open. NaN stays NaN. The gradient at the bounds themselves is 1.
func (t *Tensor) Clamp(low, high float64) *Tensor { return opClamp.apply(bounds{low, high}, t) }

func clampInt(dst, x []int64, b bounds) {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if b.low >= math.MinInt64 && b.low < math.MaxInt64 {
		low = int64(b.low)
	} else if b.low > 0 {
		low = math.MaxInt64
	}
	if b.high >= math.MinInt64 && b.high < math.MaxInt64 {
		high = int64(b.high)
	} else if b.high < 0 {
		high = math.MinInt64
	}
	loops.ClampWhole(dst, x, low, high)
}

// d max(a, b)/da = 1 where a > b, 1/2 where a = b, else 0; min likewise
var opMaximum, opMinimum op

func init() {
	share := func(wins func(a, b *Tensor) *Tensor) []gradient {
		of := func(mine, other int) gradient {
			return gradient{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				a, b := c.in[mine], c.in[other]
				half := g.MaskedFill(a.Ne(b), 0).Mul(0.5)
				return Where(wins(a, b), g, half) // not a product: an infinite g times 0 would be NaN
			}}
		}
		return []gradient{of(0, 1), of(1, 0)}
	}
	define(&opMaximum, op{
		name:       "maximum",
		forward:    binary(loops.BinaryKernels{F32: loops.Vector2(loops.Vectors32.Maximum, loops.Maximum[float32]), F64: loops.Vector2(loops.Vectors64.Maximum, loops.Maximum[float64]), I64: loops.MaxWhole}, sameDtype, loops.Vectors32.MaxInts),
		gradients:  share(func(a, b *Tensor) *Tensor { return a.Gt(b) }),
		broadcasts: true,
		flops:      onePerElement,
	})
	define(&opMinimum, op{
		name:       "minimum",
		forward:    binary(loops.BinaryKernels{F32: loops.Vector2(loops.Vectors32.Minimum, loops.Minimum[float32]), F64: loops.Vector2(loops.Vectors64.Minimum, loops.Minimum[float64]), I64: loops.MinWhole}, sameDtype, loops.Vectors32.MinInts),
		gradients:  share(func(a, b *Tensor) *Tensor { return a.Lt(b) }),
		broadcasts: true,
		flops:      onePerElement,
	})
}

// Maximum returns the larger of t and other, element by element; NaN if either
// is. It panics if the shapes can't be broadcast. For the largest element of a
// tensor see [Tensor.Max].
func (t *Tensor) Maximum(other any) *Tensor {
	return apply(&opMaximum, nil, t, operand("maximum", other))
}

// Minimum returns the smaller of t and other, element by element; NaN if either
// is. It panics if the shapes can't be broadcast.
func (t *Tensor) Minimum(other any) *Tensor {
	return apply(&opMinimum, nil, t, operand("minimum", other))
}

// substitutes replace NaN, +Inf and -Inf.
type substitutes struct{ nan, positive, negative float64 }

// d/dx = 1 where x is finite, else 0
var opNanToNum opOf[substitutes]

func init() {
	define(&opNanToNum.op, op{
		name: "nan to num",
		forward: func(c *call) *Tensor {
			s, x := opNanToNum.given(c), c.input()
			if c.device == nil {
				return unary(loops.ReplacingKernels(s.nan, s.positive, s.negative), sameDtype)(c)
			}
			x = x.Detach()
			infinite := x.IsInf()
			return x.MaskedFill(x.IsNaN(), s.nan).MaskedFill(infinite.And(x.Gt(0)), s.positive).MaskedFill(infinite.And(x.Lt(0)), s.negative)
		},
		gradients: []gradient{{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
			return g.MaskedFill(c.input().IsFinite().Not(), 0)
		}}},
	})
}

// NanToNum returns a new tensor with NaN, +Inf and -Inf replaced by numbers. Replaced
// elements have no gradient.
func (t *Tensor) NanToNum(nan, positive, negative float64) *Tensor {
	return opNanToNum.apply(substitutes{nan, positive, negative}, t)
}
