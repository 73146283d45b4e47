package tensor

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Choosing between values element by element: where, masked fill, clamp,
// minimum, maximum.

func sameShape(a, b *Tensor) bool { return slices.Equal(a.layout.Shape, b.layout.Shape) }

// d fill(x)/dx = 0 where the mask is set, else 1
var opMaskedFill op

func init() {
	define(&opMaskedFill, op{
		name: "masked fill",
		forward: func(c *call) *Tensor {
			x, mask := c.in[0], c.in[1]
			if mask.dtype != Bool {
				fail(ErrDtype, "masked fill", describe(x, mask), "the mask is "+mask.dtype.String()+", not a bool tensor", "make one with a comparison such as x.Eq(0)")
			}
			if v := c.attr.(float64); !x.dtype.IsFloat() && !isFinite(v) {
				fail(ErrValue, "masked fill", describe(x, mask), fmt.Sprintf("a %s tensor can't hold %g", x.dtype, v), "convert with To(tensor.Float32)")
			}
			l, err := mask.layout.Expand(x.layout.Shape...)
			if err != nil {
				fail(ErrShape, "masked fill", describe(x, mask), "the mask does not fit: its "+err.(*layout.Error).Reason, "a mask has the shape of the tensor, or can be expanded to it")
			}
			value := c.attr.(float64)
			if c.device == nil {
				out := c.result(x.dtype, x.layout.Shape, false)
				chooseAs(out, mask.alias(l), scalar(value, Float64).expanded(x.layout.Shape), x)
				return out
			}
			out := x.converted(x.dtype)
			zipAs(c.op.name, out.dtype, out, out, mask.alias(l), binaryKernels{
				f32: fillWhere(float32(value)),
				f64: fillWhere(value),
				i64: fillWhere(int64(value)),
			}, value)
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

// fillWhere is what other devices do by its name.
func fillWhere[T numbers.Number](value T) func(dst, x, mask []T) {
	return func(dst, x, mask []T) {
		for i := range dst {
			dst[i] = x[i]
			if mask[i] != 0 {
				dst[i] = value
			}
		}
	}
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
	condition, x, y := c.in[0], c.in[1], c.in[2]
	if condition.dtype != Bool {
		fail(ErrDtype, "where", describe(c.in...), "the condition is "+condition.dtype.String()+", not a bool tensor", "make one with a comparison such as x.Gt(0)")
	}
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
	chooseAs(out, condition, x, y)
	return out
}

// chooseAs writes x where a condition is set, else y, to out, all of one shape.
func chooseAs(out, condition, x, y *Tensor) {
	switch formats[out.dtype].arithmetic {
	case inFloat32:
		chooseBlocks[float32](out, condition, x, y)
	case inFloat64:
		chooseBlocks[float64](out, condition, x, y)
	default:
		chooseBlocks[int64](out, condition, x, y)
	}
}

func chooseBlocks[T numbers.Number](out, condition, x, y *Tensor) {
	condition.storage.needHost()
	linear, memory, where := condition.IsContiguous(), condition.storage.data, condition.layout.Merged()
	parallel(out.Len(), parallelFrom, func(start, end int) {
		rx, ry, w := newReader[T](x), newReader[T](y), newWriter[T](out)
		var room []uint8
		if !linear {
			room = make([]uint8, min(blockLen, end-start))
		}
		inBlocks(start, end, func(at, n int) {
			var c []uint8
			if linear {
				c = unsafe.Slice((*uint8)(unsafe.Add(memory, condition.layout.Offset+at)), n)
			} else {
				c = room[:n]
				gather(unsafe.Pointer(unsafe.SliceData(c)), n, memory, 1, &where, at)
			}
			chosen(w.block(at, n), rx.block(at, n), ry.block(at, n), c)
			w.flush(at, n)
		})
	})
}

// bounds are those of a clamp; infinite ones have no effect.
type bounds struct{ low, high float64 }

// d clamp(x)/dx = 1 where low ≤ x ≤ high, else 0
var opClamp op

func init() {
	define(&opClamp, op{
		name: "clamp",
		forward: func(c *call) *Tensor {
			b := c.attr.(bounds)
			return unary(unaryKernels{
				f32: func(dst, x []float32) { clampFloat(dst, x, float32(b.low), float32(b.high), vectors32.Clamp) },
				f64: func(dst, x []float64) { clampFloat(dst, x, b.low, b.high, vectors64.Clamp) },
				i64: func(dst, x []int64) { clampInt(dst, x, b) },
			}, func(d Dtype) (compute, result Dtype) {
				if b.fractional() {
					return floatDtype(d)
				}
				return d, d
			}, b.low, b.high)(c)
		},
		gradients: []gradient{{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
			b, x := c.attr.(bounds), c.input()
			return g.MaskedFill(x.Ge(b.low).And(x.Le(b.high)).Not(), 0)
		}}},
		flops: perElement(2),
	})
}

// fractional reports whether a bound is no whole number, so that the result of
// clamping whole numbers can't be one either.
func (b bounds) fractional() bool {
	is := func(x float64) bool { return isFinite(x) && x != math.Trunc(x) }
	return is(b.low) || is(b.high)
}

// Clamp returns a new tensor in which elements below low are low and those above
// high are high; high wins if low is larger. An infinite bound leaves that side
// open. NaN stays NaN. The gradient at the bounds themselves is 1.
func (t *Tensor) Clamp(low, high float64) *Tensor { return apply(&opClamp, bounds{low, high}, t) }

func clampFloat[T float32 | float64](dst, x []T, low, high T, vector func(dst, x []T, low, high T)) {
	if vector != nil && low == low && high == high {
		vector(dst, x, low, high)
		return
	}
	for i, v := range x {
		dst[i] = min(max(v, low), high)
	}
}

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
	for i, v := range x {
		dst[i] = min(max(v, low), high)
	}
}

// d max(a, b)/da = 1 where a > b, 1/2 where a = b, else 0; min likewise
var opMaximum, opMinimum op

func init() {
	share := func(wins func(a, b *Tensor) *Tensor) []gradient {
		of := func(mine, other int) gradient {
			return gradient{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				a, b := c.in[mine], c.in[other]
				half := g.Mul(a.Eq(b)).Mul(0.5)
				return g.Mul(wins(a, b)).Add(half)
			}}
		}
		return []gradient{of(0, 1), of(1, 0)}
	}
	define(&opMaximum, op{
		name:       "maximum",
		forward:    binary(binaryKernels{vector2(vectors32.Maximum, maximum[float32]), vector2(vectors64.Maximum, maximum[float64]), maximum[int64]}, sameDtype),
		gradients:  share(func(a, b *Tensor) *Tensor { return a.Gt(b) }),
		broadcasts: true,
		flops:      onePerElement,
	})
	define(&opMinimum, op{
		name:       "minimum",
		forward:    binary(binaryKernels{vector2(vectors32.Minimum, minimum[float32]), vector2(vectors64.Minimum, minimum[float64]), minimum[int64]}, sameDtype),
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

// The built-in max and min have just the rule for NaN that is wanted.
func maximum[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = max(x[i], y[i])
	}
}

func minimum[T numbers.Number](dst, x, y []T) {
	for i := range dst {
		dst[i] = min(x[i], y[i])
	}
}

// NanToNum returns a new tensor with NaN, +Inf and -Inf replaced by numbers. What is
// replaced has no gradient.
func (t *Tensor) NanToNum(nan, positive, negative float64) *Tensor {
	infinite := t.exist("nan to num").IsInf()
	return t.MaskedFill(t.IsNaN(), nan).MaskedFill(infinite.And(t.Gt(0)), positive).MaskedFill(infinite.And(t.Lt(0)), negative)
}
