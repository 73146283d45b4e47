package tensor

import (
	"runtime"
	"slices"
	"strconv"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// KeepDim, given among the axes of a reduction, keeps the reduced axes with
// size 1: x.Sum(-1, tensor.KeepDim).
const KeepDim = layout.KeepDim

// reduced says over which axes a reduction goes.
type reduced struct {
	axes  []bool // for each axis of the input
	keep  bool
	count int // elements behind each result
}

// reductionOver reads the axes that a method was given; none means all.
func (t *Tensor) reductionOver(op string, axes []int) reduced {
	t.exist(op)
	r := reduced{axes: make([]bool, len(t.layout.Shape)), count: 1}
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
			fail(ErrIndex, op, describe(t), "axis "+strconv.Itoa(a)+" is named twice", "")
		}
		r.axes[a] = true
	}
	for i, size := range t.layout.Shape {
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
	return g.Reshape(r.shape(in.layout.Shape, true)...).Expand(in.layout.Shape...)
}

// lastAxes returns t with the reduced axes moved to the end, so that the
// elements behind each result follow each other.
func (r reduced) lastAxes(t *Tensor) *Tensor {
	var kept, gone []int
	for i := range t.layout.Shape {
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
		flops: inputElements,
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
			zipAs("div", sum.dtype, sum, sum, scalar(float64(c.attr.(reduced).count), Float64).expanded(sum.layout.Shape), quotients)
			return sum.To(x.dtype)
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
			r := c.attr.(reduced)
			return r.back(g.Div(r.count), c.input())
		}}},
		flops: func(c *call, out *Tensor) int { return c.input().Len() + out.Len() }, // a sum and a quotient
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
// one. The order of both is fixed, so the result is the same on every run and
// for every layout.
type folding[T numbers.Number] struct {
	start T
	block func(x []T) T
	join  func(a, b T) T

	// step does for many blocks side by side what block does for one element of
	// each. block deals its elements out to lanes in turn, and in the end joins
	// lanes of the upper half to those of the lower half until one is left.
	step  func(sums, x []T)
	lanes int
}

type foldings struct {
	name string // by which other devices know it

	f32 folding[float32]
	f64 folding[float64]
	i64 folding[int64]
}

var sums = foldings{
	"sum",
	vectorFolding(sumFolding[float32](), vectors32.Sum, vectors32.Add),
	vectorFolding(sumFolding[float64](), vectors64.Sum, vectors64.Add),
	sumFolding[int64](),
}

// vectorFolding is a folding with its loops in vector instructions, if there are
// any; they add in the same order.
func vectorFolding[T numbers.Number](f folding[T], block func(x []T) T, add func(dst, x, y []T)) folding[T] {
	if block != nil {
		f.block = block
		f.step = func(sums, x []T) { add(sums[:len(x)], sums, x) }
	}
	return f
}

func sumFolding[T numbers.Number]() folding[T] {
	return folding[T]{0, sumBlock[T], func(a, b T) T { return a + b }, func(sums, x []T) {
		for i, v := range x {
			sums[i] += v
		}
	}, cpu.SumLanes}
}

// sumBlock adds in lanes, which is both faster and, for floats, more exact than
// one running sum.
func sumBlock[T numbers.Number](x []T) T {
	var lane [cpu.SumLanes]T
	for len(x) >= len(lane) {
		for i := range lane {
			lane[i] += x[i]
		}
		x = x[len(lane):]
	}
	for i, v := range x {
		lane[i] += v
	}
	return joinLanes(&lane)
}

// joinLanes adds the upper half of the lanes to the lower half until one is left.
func joinLanes[T numbers.Number](lane *[cpu.SumLanes]T) T {
	for half := len(lane) / 2; half > 0; half /= 2 {
		for i := range half {
			lane[i] += lane[i+half]
		}
	}
	return lane[0]
}

// reduceAs folds the elements behind each result; out has dtype, and the shape
// that r asks for.
func reduceAs(x *Tensor, r reduced, dtype Dtype, f foldings) *Tensor {
	out := x.beside(dtype, r.shape(x.layout.Shape, r.keep), false)
	if out.storage.device != nil {
		if r.count == 0 {
			out.fill(f.ofNothing(dtype))
		} else {
			reduceOn(f.name, dtype, out, r.lastAxes(x), r.count)
		}
		return out
	}
	switch formats[dtype].arithmetic {
	case inFloat32:
		reduceInto(plain[float32](out), x, r, f.f32)
	case inFloat64:
		reduceInto(plain[float64](out), x, r, f.f64)
	default:
		reduceInto(plain[int64](out), x, r, f.i64)
	}
	return out
}

// ofNothing is what no elements are reduced to.
func (f *foldings) ofNothing(dtype Dtype) float64 {
	switch formats[dtype].arithmetic {
	case inFloat32:
		return float64(f.f32.start)
	case inFloat64:
		return f.f64.start
	}
	return float64(f.i64.start)
}

func reduceInto[T numbers.Number](out []T, x *Tensor, r reduced, f folding[T]) {
	if column, width := r.columnAxis(x); width > 0 {
		foldColumns(out, x, r, column, f)
		return
	}
	fold(out, r.lastAxes(x), r.count, f)
}

// fold reduces each run of count elements of x to one element of out: each block
// to a number, and those in pairs. Threads share the runs or, if there are few,
// the blocks; the order of the sums is the same.
func fold[T numbers.Number](out []T, x *Tensor, count int, f folding[T]) {
	blocks := (count + blockLen - 1) / blockLen
	needRoom("reduce", x.layout.Shape, 8*blocks) // x may be an expanded view
	if isPlain[T](x) && blocks > 0 {
		foldPlain(out, plain[T](x), count, blocks, f)
		return
	}
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

// foldPlain is fold for numbers that lie in memory as they are computed with.
func foldPlain[T numbers.Number](out, x []T, count, blocks int, f folding[T]) {
	if blocks > 1 && len(out) < cpu.Threads() {
		partial := make([]T, blocks)
		for i := range out {
			x := x[i*count:][:count]
			parallelRows(blocks, parallelFrom/blockLen, func(first, last int) { foldBlocks(partial[first:last], x[first*blockLen:], f) })
			out[i] = f.join(f.start, joinPairs(partial, f.join))
		}
		return
	}
	parallelRows(len(out), parallelFrom/max(count, 1), func(start, end int) {
		if blocks == 1 {
			for i := start; i < end; i++ {
				out[i] = f.join(f.start, f.block(x[i*count:][:count]))
			}
			return
		}
		partial := make([]T, blocks)
		for i := start; i < end; i++ {
			foldBlocks(partial, x[i*count:][:count], f)
			out[i] = f.join(f.start, joinPairs(partial, f.join))
		}
	})
}

// foldBlocks reduces each block of x, as many as there is room for.
func foldBlocks[T numbers.Number](out, x []T, f folding[T]) {
	for b := range out {
		out[b] = f.block(x[b*blockLen : min((b+1)*blockLen, len(x))])
	}
}

// columnAxis returns the last axis that stays, and its size, if its elements
// follow each other in memory and those that are reduced don't: it is then
// better to go through memory once and keep many sums than to go through it once
// for each sum.
func (r reduced) columnAxis(x *Tensor) (axis, width int) {
	for axis = x.Dim() - 1; axis >= 0 && r.axes[axis]; axis-- {
		if x.layout.Strides[axis] == 1 && x.layout.Shape[axis] > 1 {
			return axis, 0
		}
	}
	if axis < 0 || r.count <= 1 || x.layout.Strides[axis] != 1 || x.layout.Shape[axis] < 16 || x.Len() == 0 {
		return axis, 0
	}
	return axis, x.layout.Shape[axis]
}

// foldWidth is how many sums foldColumns keeps at a time.
const foldWidth = 256

// foldColumns is fold for sums along an axis that stays. Each sum is made in the
// order in which fold makes it.
func foldColumns[T numbers.Number](out []T, x *Tensor, r reduced, axis int, f folding[T]) {
	// The axes become: others that stay, those that go, the one of the columns.
	var order, gone []int
	for i := range x.layout.Shape {
		switch {
		case r.axes[i]:
			gone = append(gone, i)
		case i != axis:
			order = append(order, i)
		}
	}
	l, err := x.layout.Permute(slices.Concat(order, gone, []int{axis})...)
	x.must("reduce", err)
	x = x.alias(l)
	width := l.Shape[len(l.Shape)-1]
	pieces := (width + foldWidth - 1) / foldWidth
	blocks := (r.count + blockLen - 1) / blockLen
	parallelRows(len(out)/width*pieces, parallelFrom/(r.count*min(width, foldWidth)), func(start, end int) {
		rows, direct := newReader[T](x), isPlain[T](x)
		var memory []T
		if direct {
			memory = plain[T](x)
		}
		lanes, partial := make([]T, f.lanes*foldWidth), make([]T, blocks*foldWidth)
		pairs := make([]T, blocks)
		for piece := start; piece < end; piece++ {
			outer, first := piece/pieces, piece%pieces*foldWidth
			n := min(foldWidth, width-first)
			for b := range blocks {
				used := min(f.lanes, r.count-b*blockLen) // the others hold nothing
				for a := range used {
					fillWith(lanes[a*foldWidth:][:n], f.start)
				}
				for row := b * blockLen; row < min(r.count, (b+1)*blockLen); row++ {
					lane, at := lanes[row%blockLen%f.lanes*foldWidth:][:n], (outer*r.count+row)*width+first
					if direct {
						f.step(lane, memory[at:][:n])
					} else {
						f.step(lane, rows.block(at, n))
					}
				}
				for half := f.lanes / 2; half > 0; half /= 2 {
					for a := 0; a < half && a+half < used; a++ {
						left, right := lanes[a*foldWidth:][:n], lanes[(a+half)*foldWidth:][:n]
						for i, v := range right {
							left[i] = f.join(left[i], v)
						}
					}
				}
				copy(partial[b*foldWidth:], lanes[:n])
			}
			for i := range n {
				for b := range pairs {
					pairs[b] = partial[b*foldWidth+i]
				}
				out[outer*width+first+i] = f.join(f.start, joinPairs(pairs, f.join))
			}
		}
	})
}

// joinPairs joins neighbours, then their results, and so on: a balanced tree.
func joinPairs[T numbers.Number](x []T, join func(a, b T) T) T {
	switch len(x) {
	case 1:
		return x[0]
	case 8: // the same, without so many calls
		return join(join(join(x[0], x[1]), join(x[2], x[3])), join(join(x[4], x[5]), join(x[6], x[7])))
	}
	half := (len(x) + 1) / 2
	return join(joinPairs(x[:half], join), joinPairs(x[half:], join))
}
