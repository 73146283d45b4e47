package tensor

import "math"

// Softmax, its logarithm, and the logarithm of a sum of exponentials. All
// subtract the largest element first, so that nothing overflows, and add
// blocks in float64.

// y = softmax(x): dL/dxᵢ = yᵢ·(gᵢ - Σⱼ gⱼ·yⱼ)
var opSoftmax op

// y = log softmax(x): dL/dxᵢ = gᵢ - exp(yᵢ)·Σⱼ gⱼ
var opLogSoftmax op

func init() {
	define(&opSoftmax, op{
		name:    "softmax",
		forward: rowForward(unaryKernels{f32: softmax[float32], f64: softmax[float64]}, floatDtype),
		gradients: []gradient{{readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			return c.out.Mul(g.Sub(g.Mul(c.out).sumKeeping(c.attr.(int))))
		}}},
		flops: perElement(5), // the largest element, a difference, an exponential, a sum and a quotient
	})
	define(&opLogSoftmax, op{
		name:    "log softmax",
		forward: rowForward(unaryKernels{f32: logSoftmax[float32], f64: logSoftmax[float64]}, floatDtype),
		gradients: []gradient{{readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			return g.Sub(c.out.Exp().Mul(g.sumKeeping(c.attr.(int))))
		}}},
		// As x - logsumexp(x): one difference more for each element.
		flops: func(c *call, out *Tensor) int { return 5*out.Len() + 2*rowsAlong(out, c.attr.(int)) },
	})
}

// sumKeeping sums over an axis that stays with size 1.
func (t *Tensor) sumKeeping(axis int) *Tensor {
	if t.Dim() == 0 {
		return t
	}
	return t.Sum(axis, KeepDim)
}

// Softmax returns exp(x)/Σexp(x) along an axis: positive numbers of sum 1. The
// largest element is subtracted first, so that nothing overflows. It panics if
// there is no such axis.
func (t *Tensor) Softmax(axis int) *Tensor { return apply(&opSoftmax, t.rowAxis("softmax", axis), t) }

// LogSoftmax returns the logarithm of [Tensor.Softmax], without the loss of
// digits that taking it afterwards would bring.
func (t *Tensor) LogSoftmax(axis int) *Tensor {
	return apply(&opLogSoftmax, t.rowAxis("log softmax", axis), t)
}

func softmax[T float32 | float64](dst, x []T) {
	factor := T(1 / expSum(dst, x, largestOf(x)))
	if dst, ok := any(dst).([]float32); ok && vectors32.Scale != nil {
		vectors32.Scale(dst, dst, float32(factor))
		return
	}
	for i := range dst {
		dst[i] *= factor
	}
}

func logSoftmax[T float32 | float64](dst, x []T) {
	largest := largestOf(x)
	log := T(math.Log(expSum(dst, x, largest)))
	if x, ok := any(x).([]float32); ok && vectors32.Affine != nil {
		dst := any(dst).([]float32)
		vectors32.Affine(dst, x, float32(largest), 1)
		vectors32.Affine(dst, dst, float32(log), 1)
		return
	}
	for i, v := range x {
		dst[i] = v - largest - log
	}
}

// largestOf may pass over NaN: the exponentials then show it.
func largestOf[T float32 | float64](x []T) T {
	if x, ok := any(x).([]float32); ok && vectors32.Largest != nil {
		return T(vectors32.Largest(x))
	}
	largest := T(math.Inf(-1))
	for _, v := range x {
		largest = max(largest, v)
	}
	return largest
}

// expSum computes exp(x - largest) and returns the sum, which blocks are added to
// in float64. dst may be x.
func expSum[T float32 | float64](dst, x []T, largest T) float64 {
	var sum float64
	if x, ok := any(x).([]float32); ok && vectors32.ExpSum != nil {
		dst := any(dst).([]float32)
		inBlocks(0, len(x), func(at, n int) {
			sum += float64(vectors32.ExpSum(dst[at:at+n], x[at:at+n], float32(largest)))
		})
		return sum
	}
	for i, v := range x {
		e := math.Exp(float64(v - largest))
		dst[i] = T(e)
		sum += e
	}
	return sum
}

// d(ln Σexp x)/dx = softmax(x) = exp(x - y), and where y is infinite the limit:
// elements that are +∞ share the gradient, among nothing but -∞ there is none.
var opLogSumExp op

func init() {
	define(&opLogSumExp, op{
		name: "logsumexp",
		forward: func(c *call) *Tensor {
			x, r := c.input(), c.attr.(reduced)
			_, dtype := floatDtype(x.dtype)
			out := c.result(wideSum(dtype), r.shape(x.layout.Shape, r.keep), false)
			if c.device != nil {
				reduceOn(c.op.name, out.dtype, out, r.lastAxes(x), r.count)
				return out.To(dtype)
			}
			if out.dtype == Float64 {
				logSumExps(plain[float64](out), r.lastAxes(x), r.count)
			} else {
				logSumExps(plain[float32](out), r.lastAxes(x), r.count)
			}
			return out.To(dtype)
		},
		gradients: []gradient{{readsInput | readsOutput, func(c *call, g *Tensor, _ int) *Tensor {
			r, x, y := c.attr.(reduced), c.input(), c.out
			if !y.has(isInf) {
				return r.back(g, x).Mul(x.Sub(r.back(y, x)).Exp())
			}
			endless := x.Eq(math.Inf(1))
			ties := endless.Sum(append(r.list(), KeepDim)...)
			share := endless.To(x.dtype).Div(ties.Maximum(1))
			none := r.back(y.Eq(math.Inf(-1)), x)
			finite := x.Sub(r.back(y, x)).MaskedFill(endless, 0).MaskedFill(none, math.Inf(-1)).Exp()
			return r.back(g, x).Mul(Where(endless, share, finite))
		}}},
		// The largest element, a difference, an exponential and a sum; then a
		// logarithm, to which the largest is added.
		flops: func(c *call, out *Tensor) int { return 4*c.input().Len() + 2*out.Len() },
	})
}

// LogSumExp returns ln Σexp(x) over axes, or over all elements if none is named,
// without overflow. It panics if there is no such axis.
func (t *Tensor) LogSumExp(axes ...int) *Tensor {
	return apply(&opLogSumExp, t.reductionOver("logsumexp", axes), t)
}

func logSumExps[T float32 | float64](out []T, x *Tensor, count int) {
	needRoom("logsumexp", x.layout.Shape, 8*count) // of one row; x may be an expanded view
	parallelRows(len(out), parallelFrom/max(count, 1), func(start, end int) {
		r := newReader[T](x)
		row := make([]T, count)
		for i := start; i < end; i++ {
			r.copy(row, i*count)
			largest := largestOf(row)
			if math.IsInf(float64(largest), 0) { // nothing to add, or all of it infinite
				out[i] = largest
				continue
			}
			out[i] = T(float64(largest) + math.Log(expSum(row, row, largest)))
		}
	})
}
