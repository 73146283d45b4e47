package tensor

import (
	"math"

	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// Blends of three operands in one pass, and logaddexp of two: where steps would write a
// result in between, and read it again.

// ternaryKernels holds the loops of an operation of three numbers.
type ternaryKernels struct {
	f32 func(dst, x, y, z []float32)
	f64 func(dst, x, y, z []float64)
	i64 func(dst, x, y, z []int64)
}

// ternary returns the forward of an operation with three operands, which are broadcast.
// A device other than the processor runs it in steps that every device has.
func ternary(kernels func(c *call) ternaryKernels, rule func(c *call) dtypeRule, steps func(c *call, x, y, z *Tensor) *Tensor) func(c *call) *Tensor {
	return notBool(func(c *call) *Tensor {
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
		switch formats[compute].arithmetic {
		case inFloat32:
			zip3Blocks(out, x, y, z, k.f32)
		case inFloat64:
			zip3Blocks(out, x, y, z, k.f64)
		default:
			zip3Blocks(out, x, y, z, k.i64)
		}
		return out
	}, "convert with To(tensor.Float32)")
}

// zip3Blocks is zipBlocks for three operands.
func zip3Blocks[T numbers.Number](out, x, y, z *Tensor, kernel func(dst, x, y, z []T)) {
	parallel(out.Len(), parallelFrom, func(start, end int) {
		rx, ry, rz, w := newReader[T](x), newReader[T](y), newReader[T](z), newWriter[T](out)
		inBlocks(start, end, func(at, n int) {
			kernel(w.block(at, n), rx.block(at, n), ry.block(at, n), rz.block(at, n))
			w.flush(at, n)
		})
	})
}

func always(rule dtypeRule) func(*call) dtypeRule { return func(*call) dtypeRule { return rule } }

// d(a + w(b-a))/da = 1-w,  d/db = w,  d/dw = b-a
var opLerp op

// d(t + v·a·b)/dt = 1,  d/da = v·b,  d/db = v·a
var opAddcmul op

// d(t + v·a/b)/dt = 1,  d/da = v/b,  d/db = -v·a/b²
var opAddcdiv op

func init() {
	define(&opLerp, op{
		name: "lerp",
		forward: ternary(func(c *call) ternaryKernels {
			if c.in[2].layout.RepeatsOne() && c.in[2].Len() > 0 {
				return ternaryKernels{f32: lerpAlike[float32], f64: lerpAlike[float64]}
			}
			return ternaryKernels{f32: lerp[float32], f64: lerp[float64]}
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
	define(&opAddcmul, op{
		name: "addcmul",
		forward: ternary(func(c *call) ternaryKernels {
			v := c.attr.(float64)
			return ternaryKernels{f32: addcmul(float32(v)), f64: addcmul(v), i64: addcmul(int64(v))}
		}, func(c *call) dtypeRule {
			if v := c.attr.(float64); v != math.Trunc(v) || !isFinite(v) {
				return floatDtype
			}
			return sameDtype
		}, func(c *call, t, a, b *Tensor) *Tensor { return t.Add(a.Mul(c.attr.(float64)).Mul(b)) }),
		gradients: []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }},
			{readsThird, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.in[2].Mul(c.attr.(float64))) }},
			{readsRight, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.in[1].Mul(c.attr.(float64))) }},
		},
		broadcasts: true,
		direct:     true,
		flops:      perElement(3),
	})
	define(&opAddcdiv, op{
		name: "addcdiv",
		forward: ternary(func(c *call) ternaryKernels {
			v := c.attr.(float64)
			return ternaryKernels{f32: addcdiv(float32(v)), f64: addcdiv(v)}
		}, always(floatDtype), func(c *call, t, a, b *Tensor) *Tensor { return t.Add(a.Div(b).Mul(c.attr.(float64))) }),
		gradients: []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }},
			{readsThird, func(c *call, g *Tensor, _ int) *Tensor { return g.Mul(c.attr.(float64)).Div(c.in[2]) }},
			{readsRight | readsThird, func(c *call, g *Tensor, _ int) *Tensor {
				return g.Mul(c.in[1].Div(c.in[2]).Div(c.in[2])).Mul(-c.attr.(float64))
			}},
		},
		broadcasts: true,
		direct:     true,
		flops:      perElement(3),
	})
}

// Lerp returns what lies between t and end: t + weight·(end-t), with a weight, a tensor
// or a number, of 0 for t and 1 for end; beyond them it goes on in a straight line. Both
// ends are hit exactly. Whole numbers give float32. It panics if the shapes can't be broadcast.
func (t *Tensor) Lerp(end *Tensor, weight any) *Tensor {
	return apply(&opLerp, nil, t, end, operand("lerp", weight))
}

// LerpInPlace moves t towards end; see [Tensor.Lerp]. With a weight of 1-β, t is the
// running mean of what end was.
func (t *Tensor) LerpInPlace(end *Tensor, weight any) *Tensor {
	return t.update(&opLerp, nil, end, weight)
}

// Addcmul returns t + value·a·b, element by element. Whole numbers give float32 if value
// is not a whole number. It panics if the shapes can't be broadcast.
func (t *Tensor) Addcmul(a, b *Tensor, value float64) *Tensor {
	return apply(&opAddcmul, value, t, a, b)
}

// AddcmulInPlace adds value·a·b to t; see [Tensor.Addcmul].
func (t *Tensor) AddcmulInPlace(a, b *Tensor, value float64) *Tensor {
	return t.update(&opAddcmul, value, a, b)
}

// Addcdiv returns t + value·a/b, element by element. Whole numbers give float32. It
// panics if the shapes can't be broadcast.
func (t *Tensor) Addcdiv(a, b *Tensor, value float64) *Tensor {
	return apply(&opAddcdiv, value, t, a, b)
}

// AddcdivInPlace adds value·a/b to t; see [Tensor.Addcdiv].
func (t *Tensor) AddcdivInPlace(a, b *Tensor, value float64) *Tensor {
	return t.update(&opAddcdiv, value, a, b)
}

// lerp goes from the nearer end, so that rounding keeps both.
func lerp[T float32 | float64](dst, a, b, w []T) {
	for i := range dst {
		way := b[i] - a[i]
		if w := w[i]; w > -0.5 && w < 0.5 {
			dst[i] = a[i] + T(w*way)
		} else {
			dst[i] = b[i] - T(way*(1-w))
		}
	}
}

// lerpAlike is lerp where all weights are the same.
func lerpAlike[T float32 | float64](dst, a, b, w []T) {
	if v := vectorsFor[T](); v.Sub != nil && v.Add != nil && v.Scale != nil {
		inRoom(dst, func(room []T, at int) {
			way, x, y := room, a[at:][:len(room)], b[at:][:len(room)]
			v.Sub(way, y, x)
			if w := w[0]; w > -0.5 && w < 0.5 {
				v.Scale(way, way, w)
				v.Add(dst[at:][:len(room)], x, way)
			} else {
				v.Scale(way, way, 1-w)
				v.Sub(dst[at:][:len(room)], y, way)
			}
		})
		return
	}
	lerp(dst, a, b, w)
}

// inRoom calls f for parts of a slice, with room for as many numbers as the part has.
func inRoom[T numbers.Number](dst []T, f func(room []T, at int)) {
	var room [256]T
	for at := 0; at < len(dst); at += len(room) {
		f(room[:min(len(room), len(dst)-at)], at)
	}
}

// addcVector is addcmul, or addcdiv, in vector instructions; it reports whether there are
// any.
func addcVector[T float32 | float64](dst, t, a, b []T, value T, divide bool) bool {
	v := vectorsFor[T]()
	if v.Mul == nil || v.Div == nil || v.Add == nil || v.Scale == nil {
		return false
	}
	inRoom(dst, func(room []T, at int) {
		n := len(room)
		if divide {
			v.Div(room, a[at:][:n], b[at:][:n])
			v.Scale(room, room, value)
		} else {
			v.Scale(room, a[at:][:n], value)
			v.Mul(room, room, b[at:][:n])
		}
		v.Add(dst[at:][:n], t[at:][:n], room)
	})
	return true
}

func addcmul[T numbers.Number](v T) func(dst, t, a, b []T) {
	return func(dst, t, a, b []T) {
		switch value := any(v).(type) {
		case float32:
			if addcVector(any(dst).([]float32), any(t).([]float32), any(a).([]float32), any(b).([]float32), value, false) {
				return
			}
		case float64:
			if addcVector(any(dst).([]float64), any(t).([]float64), any(a).([]float64), any(b).([]float64), value, false) {
				return
			}
		}
		for i := range dst {
			dst[i] = t[i] + T(T(v*a[i])*b[i])
		}
	}
}

func addcdiv[T float32 | float64](v T) func(dst, t, a, b []T) {
	return func(dst, t, a, b []T) {
		if addcVector(dst, t, a, b, v, true) {
			return
		}
		for i := range dst {
			dst[i] = t[i] + T(v*T(a[i]/b[i]))
		}
	}
}

// d ln(eᵃ+eᵇ)/da = σ(a-b), d/db = σ(b-a). Where both are infinite the difference says
// nothing: of two +Inf each has half, and of two -Inf none has a share, as in LogSumExp.
var opLogaddexp op

func init() {
	share := func(mine, other int) gradient {
		return gradient{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
			a, b := c.in[mine], c.in[other]
			difference := a.Sub(b)
			if a.has(isInf) {
				same := a.Eq(b)
				difference = difference.MaskedFill(same.And(a.Eq(math.Inf(1))), 0).MaskedFill(same.And(a.Eq(math.Inf(-1))), math.Inf(-1))
			}
			return g.Mul(difference.Sigmoid())
		}}
	}
	define(&opLogaddexp, op{
		name: "logaddexp",
		forward: orSteps(notBool(binary(binaryKernels{f32: logaddexp32, f64: logaddexp[float64]}, floatDtype), "convert with To(tensor.Float32)"), floatDtype, func(a, b *Tensor) *Tensor {
			apart := a.Sub(b).Abs()
			return a.Maximum(b).Add(apart.MaskedFill(a.Eq(b), 0).Neg().Exp().Log1p())
		}),
		gradients:  []gradient{share(0, 1), share(1, 0)},
		broadcasts: true,
		flops:      perElement(4),
	})
}

// Logaddexp returns ln(eᵗ + eᵒ) for each element o of other, a tensor or a number, without
// overflow: the sum of two probabilities that are given as logarithms. Whole numbers give
// float32. It panics if the shapes can't be broadcast.
func (t *Tensor) Logaddexp(other any) *Tensor {
	return apply(&opLogaddexp, nil, t, operand("logaddexp", other))
}

func logaddexp[T float32 | float64](dst, a, b []T) {
	for i := range dst {
		x, y := float64(a[i]), float64(b[i])
		if x == y { // which may be infinite
			dst[i] = T(x + math.Ln2)
			continue
		}
		dst[i] = T(max(x, y) + math.Log1p(math.Exp(-math.Abs(x-y))))
	}
}

// logaddexp32 is logaddexp in vector instructions, where there are any.
func logaddexp32(dst, a, b []float32) {
	v := vectors32
	if v.Sub == nil || v.Abs == nil || v.Neg == nil || v.Exp == nil || v.Log1p == nil || v.Add == nil {
		logaddexp(dst, a, b)
		return
	}
	var few, larger [256]float32 // dst may be an operand
	larger32 := vector2(v.Maximum, maximum[float32])
	for len(a) > 0 {
		n := min(len(a), len(few))
		rest, top := few[:n], larger[:n]
		v.Sub(rest, a[:n], b[:n])
		v.Abs(rest, rest)
		for i := range rest {
			if rest[i] != rest[i] && a[i] == b[i] { // ∞ - ∞
				rest[i] = 0
			}
		}
		v.Neg(rest, rest)
		v.Exp(rest, rest)
		v.Log1p(rest, rest)
		larger32(top, a[:n], b[:n])
		v.Add(dst[:n], top, rest)
		dst, a, b = dst[n:], a[n:], b[n:]
	}
}
