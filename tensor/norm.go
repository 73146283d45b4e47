package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/layout"
)

// y = x̂·w + b with x̂ = (x - mean)·s and s = 1/√(var + eps), over rows of n
// elements. With h = dL/dy·w:
//
//	dL/dx = s·(h - mean h - x̂·mean(h·x̂))    dL/dw = Σ rows dL/dy·x̂    dL/db = Σ rows dL/dy
var opLayerNorm op

// opLayerNormGradient is dL/dx of that, of the inputs dL/dy, x and w.
var opLayerNormGradient op

// rowNorm is what a layer norm is given besides tensors.
type rowNorm struct {
	axes int // how many of the last axes are normalized over
	eps  float64
}

func init() {
	define(&opLayerNorm, op{
		name: "layer norm",
		forward: func(c *call) *Tensor {
			norm := c.attr.(rowNorm)
			if c.device != nil { // in steps that every device has
				in := c.widened()
				normal, _ := norm.standardize(in[0])
				return normal.Mul(in[1]).Add(in[2]).To(c.in[0].dtype)
			}
			return norm.run(c, layerNorm[float32], layerNorm[float64])
		},
		gradients: []gradient{
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				norm, x, w := c.attr.(rowNorm), c.in[0], c.in[1]
				if !g.RequiresGrad() && !x.RequiresGrad() && !w.RequiresGrad() {
					return apply(&opLayerNormGradient, norm, g, x, w)
				}
				return norm.gradient(g, x, w) // the gradient's own gradient is wanted
			}},
			{readsLeft, func(c *call, g *Tensor, _ int) *Tensor {
				norm, x, w := c.attr.(rowNorm), c.in[0], c.in[1]
				if g.RequiresGrad() || x.RequiresGrad() {
					normal, _ := norm.standardize(x)
					return g.Mul(normal).sumTo(w.layout.Shape)
				}
				return g.Mul(x.LayerNorm(w.layout.Shape, nil, nil, norm.eps)).sumTo(w.layout.Shape)
			}},
			{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return g.sumTo(c.in[2].layout.Shape) }},
		},
		// Two sums, a difference, a square, and three steps from there to the result;
		// for each row two quotients, eps, a root and its reciprocal.
		flops: func(c *call, out *Tensor) int { return 7*out.Len() + 5*c.attr.(rowNorm).rows(out) },
	})
	define(&opLayerNormGradient, op{
		name: "layer norm gradient",
		forward: func(c *call) *Tensor {
			norm := c.attr.(rowNorm)
			if c.device != nil {
				in := c.widened()
				return norm.gradient(in[0], in[1], in[2]).To(c.in[0].dtype)
			}
			return norm.run(c, layerNormGradient[float32], layerNormGradient[float64])
		},
		// As above to the difference and the spread; then x̂, h, h·x̂ and their sums, and
		// four steps to the result. Two more quotients for each row.
		flops: func(c *call, out *Tensor) int { return 13*out.Len() + 7*c.attr.(rowNorm).rows(out) },
	})
}

// LayerNorm subtracts the mean over the last axes, those of shape, divides by
// the standard deviation, multiplies by weight and adds bias:
//
//	(x - mean(x)) / sqrt(var(x) + eps) · weight + bias
//
// with the variance divided by n. weight and bias have that shape too; nil stands
// for ones and zeros. Small floats are computed in float32 and rounded once. It
// panics unless t is floating point and its last axes, weight and bias have that
// shape.
func (t *Tensor) LayerNorm(shape []int, weight, bias *Tensor, eps float64) *Tensor {
	t.exist("layer norm")
	lead := len(t.layout.Shape) - len(shape)
	if len(shape) == 0 || lead < 0 || !slices.Equal(t.layout.Shape[lead:], shape) {
		fail(ErrShape, "layer norm", describe(t), fmt.Sprintf("the last sizes are not %v", shape), "")
	}
	if !t.dtype.IsFloat() {
		fail(ErrDtype, "layer norm", t.dtype.String(), "the spread of whole numbers is not a whole number", "convert with To(tensor.Float32)")
	}
	for _, p := range []*Tensor{weight, bias} {
		if p != nil && (!slices.Equal(p.layout.Shape, shape) || p.dtype != t.dtype) {
			fail(ErrShape, "layer norm", describe(t, p), fmt.Sprintf("weight and bias must have shape %v and dtype %s", shape, t.dtype), "")
		}
	}
	norm := rowNorm{len(shape), eps}
	if weight == nil {
		weight = With(t.dtype, t.Device()).Ones(shape...)
	}
	if bias == nil {
		bias = With(t.dtype, t.Device()).Zeros(shape...)
	}
	return apply(&opLayerNorm, norm, t, weight, bias)
}

// rows returns how many rows are normalized.
func (n rowNorm) rows(x *Tensor) int { return layout.Product(x.layout.Shape[:x.Dim()-n.axes]) }

// list returns the axes that are normalized over, which are to be kept.
func (n rowNorm) list(x *Tensor) []int {
	axes := []int{KeepDim}
	for i := range n.axes {
		axes = append(axes, x.Dim()-1-i)
	}
	return axes
}

// standardize computes x̂ and s in steps that have gradients of their own.
func (n rowNorm) standardize(x *Tensor) (normal, scale *Tensor) {
	axes := n.list(x)
	centred := x.Sub(x.Mean(axes...))
	scale = centred.Square().Mean(axes...).Add(n.eps).Rsqrt()
	return centred.Mul(scale), scale
}

// gradient computes dL/dx of the inputs dL/dy, x and w in such steps.
func (n rowNorm) gradient(g, x, w *Tensor) *Tensor {
	axes := n.list(x)
	normal, scale := n.standardize(x)
	h := g.Mul(w)
	return h.Sub(h.Mean(axes...)).Sub(normal.Mul(h.Mul(normal).Mean(axes...))).Mul(scale)
}

// widened returns the inputs outside the graph, small floats as float32: results of
// several steps are rounded once.
func (c *call) widened() []*Tensor {
	wide := make([]*Tensor, len(c.in))
	for i, x := range c.in {
		wide[i] = x.Detach().To(wideSum(x.dtype))
	}
	return wide
}

// run computes a row of the result from the same row of each input at a time; an
// input with a single row serves all.
func (n rowNorm) run(c *call, f32 func(dst []float32, in *[3][]float32, s *[2][]float32, eps float64), f64 func(dst []float64, in *[3][]float64, s *[2][]float64, eps float64)) *Tensor {
	out := c.result(c.in[0].dtype, c.in[0].layout.Shape, false)
	count := layout.Product(out.layout.Shape[out.Dim()-n.axes:])
	if out.Len() == 0 {
		return out
	}
	if formats[out.dtype].arithmetic == inFloat64 {
		normRows(out, c.in, count, n.eps, f64)
	} else {
		normRows(out, c.in, count, n.eps, f32)
	}
	return out
}

func normRows[T float32 | float64](out *Tensor, in []*Tensor, count int, eps float64, f func(dst []T, in *[3][]T, s *[2][]T, eps float64)) {
	parallelRows(out.Len()/count, parallelFrom/count, func(start, end int) {
		var scratch [2][]T
		var rows, all [3][]T // all: of inputs that need not be read by way of a buffer
		var readers [3]*reader[T]
		for i, x := range in {
			if isPlain[T](x) {
				all[i] = plain[T](x)
				rows[i] = all[i][:count:count]
				continue
			}
			readers[i], rows[i] = newReader[T](x), make([]T, count)
			readers[i].copy(rows[i], 0)
		}
		var to []T
		var w *writer[T]
		if isPlain[T](out) {
			to = plain[T](out)
		} else {
			w = newWriter[T](out)
		}
		dst := to
		if w != nil {
			dst = make([]T, count)
		}
		for row := start; row < end; row++ {
			for i, x := range in {
				switch {
				case x.layout.Len() == count: // the same for all
				case all[i] != nil:
					rows[i] = all[i][row*count:][:count:count]
				default:
					readers[i].copy(rows[i], row*count)
				}
			}
			if w == nil {
				dst = to[row*count:][:count:count]
			}
			f(dst, &rows, &scratch, eps) // rows by value would be copied, which waits for all that was stored before
			if w != nil {
				w.copy(dst, row*count)
			}
		}
	})
}

// spreadOf returns the mean of a row, as near as T has it, and 1/√(var + eps).
func spreadOf[T float32 | float64](x []T, eps float64) (mean, scale T) {
	var sum, squares float64
	inBlocks(0, len(x), func(from, n int) { sum += blockSum(x[from : from+n]) })
	middle := sum / float64(len(x))
	mean = T(middle)
	inBlocks(0, len(x), func(from, n int) { squares += blockSquares(x[from:from+n], mean) })
	off := float64(mean) - middle
	return mean, T(1 / math.Sqrt(max(squares/float64(len(x))-off*off, 0)+eps))
}

// layerNorm computes one row of the inputs x, weight and bias.
func layerNorm[T float32 | float64](dst []T, in *[3][]T, _ *[2][]T, eps float64) {
	x, w, b := in[0], in[1], in[2]
	mean, scale := spreadOf(x, eps)
	if v := vectorsFor[T](); v.Normalize != nil {
		v.Normalize(dst, x, w, b, mean, scale)
		return
	}
	for i := range dst {
		dst[i] = T(T((x[i]-mean)*scale)*w[i]) + b[i]
	}
}

// layerNormGradient computes one row of dL/dx of the inputs dL/dy, x and weight.
func layerNormGradient[T float32 | float64](dst []T, in *[3][]T, scratch *[2][]T, eps float64) {
	g, x, w := in[0], in[1], in[2]
	if scratch[0] == nil {
		scratch[0], scratch[1] = make([]T, len(x)), make([]T, len(x))
	}
	h, normal := scratch[0], scratch[1]
	mean, scale := spreadOf(x, eps)
	var sum, dot float64
	v := vectorsFor[T]()
	if v.LessTimes == nil {
		for i := range dst {
			h[i], normal[i] = g[i]*w[i], (x[i]-mean)*scale
			sum += float64(h[i])
			dot += float64(h[i]) * float64(normal[i])
		}
	} else {
		v.Mul(h, g, w)
		v.Affine(normal, x, mean, scale)
		inBlocks(0, len(x), func(from, n int) {
			sum += float64(v.Sum(h[from : from+n]))
			dot += float64(v.Dot(h[from:from+n], normal[from:from+n]))
		})
	}
	less, times := T(sum/float64(len(x))), T(dot/float64(len(x)))
	if v.LessTimes != nil {
		v.LessTimes(dst, h, normal, less, times, scale)
		return
	}
	for i := range dst {
		dst[i] = T(h[i]-less-T(normal[i]*times)) * scale
	}
}

// vectorsFor returns the vector loops for T.
func vectorsFor[T float32 | float64]() *cpu.Vectors[T] {
	if v, ok := any(vectors32).(*cpu.Vectors[T]); ok {
		return v
	}
	return any(vectors64).(*cpu.Vectors[T])
}
