package tensor

import (
	"math"
	"runtime"
	"slices"
)

// KeepDim, given among the axes of a reduction, keeps the reduced axes with
// size 1: x.Sum(-1, tensor.KeepDim).
const KeepDim = math.MinInt

// reduced says over which axes a reduction goes.
type reduced struct {
	axes  []bool // for each axis of the input
	keep  bool
	count int // elements behind each result
}

// reductionOver reads the axes that a method was given; none means all.
func (t *Tensor) reductionOver(op string, axes []int) reduced {
	r := reduced{axes: make([]bool, len(t.layout.shape)), count: 1}
	all := true
	for _, a := range axes {
		if a == KeepDim {
			r.keep = true
			continue
		}
		if t.Dim() == 0 && (a == 0 || a == -1) {
			continue // a single number may be taken for a row of one
		}
		all = false
		a = t.axis(op, a)
		if r.axes[a] {
			fail(ErrIndex, op, describe(t), "axis "+commas([]int{a})+" is named twice", "")
		}
		r.axes[a] = true
	}
	for i, size := range t.layout.shape {
		r.axes[i] = r.axes[i] || all
		if r.axes[i] {
			r.count *= size
		}
	}
	return r
}

// shape returns the shape of the result, with or without the reduced axes.
func (r reduced) shape(in []int, keep bool) []int {
	shape := make([]int, 0, len(in))
	for i, size := range in {
		switch {
		case !r.axes[i]:
			shape = append(shape, size)
		case keep:
			shape = append(shape, 1)
		}
	}
	return shape
}

// back expands the gradient of a reduction's result to the shape of its input.
func (r reduced) back(g *Tensor, in *Tensor) *Tensor {
	return g.Reshape(r.shape(in.layout.shape, true)...).Expand(in.layout.shape...)
}

// lastAxes returns t with the reduced axes moved to the end, so that the
// elements behind each result follow each other.
func (r reduced) lastAxes(t *Tensor) *Tensor {
	var kept, gone []int
	for i := range t.layout.shape {
		if r.axes[i] {
			gone = append(gone, i)
		} else {
			kept = append(kept, i)
		}
	}
	l, err := t.layout.Permute(slices.Concat(kept, gone)...)
	t.must("reduce", err)
	return t.alias(l)
}

// d(Σx)/dx = 1
var opSum op

func init() {
	define(&opSum, op{
		name:    "sum",
		forward: sumForward,
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
			return c.attr.(reduced).back(g, c.input())
		}}},
		flops: func(c *call, _ *Tensor) int { return c.input().Len() },
	})
}

// Sum returns the sum over axes, or over all elements if none is named. Sums of
// whole numbers and bools are int64. Floats are added pairwise in blocks, in an
// order that depends on the sizes alone. It panics if there is no such axis.
func (t *Tensor) Sum(axes ...int) *Tensor {
	return apply(&opSum, t.reductionOver("sum", axes), t)
}

// d(mean x)/dx = 1/n
var opMean op

func init() {
	define(&opMean, op{
		name: "mean",
		forward: func(c *call) *Tensor {
			x := c.input()
			if !x.dtype.IsFloat() {
				fail(ErrDtype, "mean", x.dtype.String(), "the mean of whole numbers is not a whole number", "convert with To(tensor.Float32)")
			}
			sum := reduceAs(x, c.attr.(reduced), wideSum(x.dtype), sums)
			zipInto(sum, sum, scalar(float64(c.attr.(reduced).count), Float64).expanded(sum.layout.shape), binaryKernels{f32: div[float32], f64: div[float64]})
			return sum.To(x.dtype)
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
			r := c.attr.(reduced)
			return r.back(g.Div(r.count), c.input())
		}}},
		flops: func(c *call, _ *Tensor) int { return c.input().Len() },
	})
}

// Mean returns the mean over axes, or over all elements if none is named. It
// panics unless t is floating point, or if there is no such axis.
func (t *Tensor) Mean(axes ...int) *Tensor {
	return apply(&opMean, t.reductionOver("mean", axes), t)
}

func sumForward(c *call) *Tensor {
	x := c.input()
	dtype := x.dtype
	if !dtype.IsFloat() {
		dtype = Int64
	}
	return reduceAs(x, c.attr.(reduced), wideSum(dtype), sums).To(dtype)
}

// wideSum is the dtype that sums of d are held in until they are rounded once.
func wideSum(d Dtype) Dtype {
	if d.IsFloat() && d != Float64 {
		return Float32
	}
	return d
}

// folding reduces a block of elements to one number and two such numbers to
// one. The order of both is fixed, so the result is the same on every run.
type folding[T number] struct {
	start T
	block func(x []T) T
	join  func(a, b T) T
}

type foldings struct {
	f32 folding[float32]
	f64 folding[float64]
	i64 folding[int64]
}

var sums = foldings{sumFolding[float32](), sumFolding[float64](), sumFolding[int64]()}

func sumFolding[T number]() folding[T] {
	return folding[T]{0, sumBlock[T], func(a, b T) T { return a + b }}
}

// sumBlock adds in eight lanes, which is both faster and, for floats, more
// exact than one running sum.
func sumBlock[T number](x []T) T {
	var lane [8]T
	for len(x) >= 8 {
		for i := range lane {
			lane[i] += x[i]
		}
		x = x[8:]
	}
	for i, v := range x {
		lane[i] += v
	}
	return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))
}

// reduceAs folds the elements behind each result; out has dtype, and the shape
// that r asks for.
func reduceAs(x *Tensor, r reduced, dtype Dtype, f foldings) *Tensor {
	out := newTensor(dtype, r.shape(x.layout.shape, r.keep), false)
	x = r.lastAxes(x)
	switch formats[dtype].arithmetic {
	case inFloat32:
		fold(plain[float32](out), x, r.count, f.f32)
	case inFloat64:
		fold(plain[float64](out), x, r.count, f.f64)
	default:
		fold(plain[int64](out), x, r.count, f.i64)
	}
	return out
}

// fold reduces each run of count elements of x to one element of out: each block
// to a number, and those in pairs. Threads share the runs or, if there are few,
// the blocks; the order of the sums is the same.
func fold[T number](out []T, x *Tensor, count int, f folding[T]) {
	blocks := (count + blockLen - 1) / blockLen
	block := func(r *reader[T], i, b int) T {
		n := min(blockLen, count-b*blockLen)
		return f.block(r.block(i*count+b*blockLen, n))
	}
	if blocks > 1 && len(out) < runtime.GOMAXPROCS(0) {
		partial := make([]T, blocks)
		for i := range out {
			parallelRows(blocks, parallelFrom/blockLen, func(first, last int) {
				r := newReader[T](x)
				for b := first; b < last; b++ {
					partial[b] = block(r, i, b)
				}
			})
			out[i] = f.join(f.start, joinPairs(partial, f.join))
		}
		return
	}
	parallelRows(len(out), parallelFrom/max(count, 1), func(start, end int) {
		r := newReader[T](x)
		partial := make([]T, blocks)
		for i := start; i < end; i++ {
			for b := range partial {
				partial[b] = block(r, i, b)
			}
			out[i] = f.start
			if blocks > 0 {
				out[i] = f.join(f.start, joinPairs(partial, f.join))
			}
		}
	})
}

// joinPairs joins neighbours, then their results, and so on: a balanced tree.
func joinPairs[T number](x []T, join func(a, b T) T) T {
	if len(x) == 1 {
		return x[0]
	}
	half := (len(x) + 1) / 2
	return join(joinPairs(x[:half], join), joinPairs(x[half:], join))
}
