package tensor

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Joining tensors into one, and cutting one into several. Cutting gives views.

// Each input's gradient is the part of the gradient where it lies.
var opCat opOf[int]

func init() {
	define(&opCat.op, op{
		name:     "cat",
		forward:  catForward,
		variadic: true,
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, i int) *Tensor {
			axis, start := opCat.given(c), 0
			for _, x := range c.in[:i] {
				start += x.layout.Shape[axis]
			}
			return g.Narrow(axis, start, c.in[i].layout.Shape[axis])
		}}},
	})
}

// Cat returns a new tensor with the given tensors one after the other along an axis.
// Dtypes are promoted. It panics if there are none, if one of them is a single number,
// or if their sizes differ on another axis.
func Cat(axis int, tensors ...*Tensor) *Tensor {
	if len(tensors) == 0 {
		fail(ErrValue, "cat", "", "no tensors are given", "")
	}
	for i, t := range tensors {
		if t == nil {
			fail(ErrValue, "cat", "", fmt.Sprintf("tensor %d is nil", i), "")
		}
	}
	if tensors[0].Dim() == 0 {
		fail(ErrShape, "cat", describe(tensors...), "tensor 0 is a single number, without an axis to join along", "use Stack")
	}
	return opCat.apply(tensors[0].axis("cat", axis), tensors...)
}

func catForward(c *call) *Tensor {
	axis, first := opCat.given(c), c.in[0]
	shape := first.Shape()
	shape[axis] = 0
	for i, x := range c.in {
		if x.Dim() != len(shape) {
			fail(ErrShape, "cat", describe(c.in...), fmt.Sprintf("tensor %d has %s, tensor 0 has %d", i, humanize.Count(x.Dim(), "axis"), len(shape)), "")
		}
		for a, size := range x.layout.Shape {
			if a != axis && size != shape[a] {
				fail(ErrShape, "cat", describe(c.in...), fmt.Sprintf("axis %d has size %d in tensor %d and %d in tensor 0", a, size, i, shape[a]),
					fmt.Sprintf("only axis %d may differ", axis))
			}
		}
		shape[axis] += x.layout.Shape[axis]
	}
	out := c.result(resultDtype("cat", c.in...), shape, false)
	if out.interleave(axis, c.in) || out.joinRows(axis, c.in) {
		return out
	}
	start := 0
	for _, x := range c.in {
		l, err := out.layout.Narrow(axis, start, x.layout.Shape[axis])
		out.must("cat", err)
		out.alias(l).assign(x)
		start += x.layout.Shape[axis]
	}
	return out
}

// interleave writes the elements of two tensors in turn and reports whether it can: they must lie along memory.
func (t *Tensor) interleave(axis int, in []*Tensor) bool {
	if len(in) != 2 || layout.Product(t.layout.Shape[axis:]) != 2 || t.storage.Device != nil {
		return false
	}
	for _, x := range in {
		if x.layout.Shape[axis] != 1 || x.storage.Device != nil || x.dtype != t.dtype || !x.IsContiguous() {
			return false
		}
	}
	loops.Interleave(t.array(), in[0].array(), in[1].array())
	return true
}

// joinRows writes the parts of each row, which is everything from an axis on, one after the other, and reports
// whether it can: the part of a row must lie along memory. Writing one tensor's parts of all rows, then the next
// one's, would go through the memory of out once for each tensor.
func (t *Tensor) joinRows(axis int, in []*Tensor) bool {
	const least = 64 // bytes of a row, and a quarter of that rows
	size := t.dtype.Size()
	row := layout.Product(t.layout.Shape[axis:]) * size
	if t.storage.Device != nil || row < least || t.Len()*size/row < least/4 {
		return false
	}
	type part struct {
		memory []byte
		outer  Layout
		step   int // from one row to the next, for inputs that have more than one
		bytes  int
	}
	var parts []part
	for _, x := range in {
		inner := Layout{Shape: x.layout.Shape[axis:], Strides: x.layout.Strides[axis:]}
		if x.storage.Device != nil || x.dtype != t.dtype || !inner.IsContiguous() {
			return false
		}
		if x.Len() > 0 {
			outer := Layout{Shape: x.layout.Shape[:axis], Strides: x.layout.Strides[:axis], Offset: x.layout.Offset}
			p := part{memory: bytesOf(x.storage), outer: outer.Merged(), bytes: inner.Len() * size}
			if p.outer.Rank() == 1 {
				p.step = p.outer.Strides[0]
			}
			parts = append(parts, p)
		}
	}
	to := t.memory()
	loops.ParallelRows(len(to)/row, loops.ParallelFrom*size/row, func(start, end int) {
		for i := start; i < end; i++ {
			dst := to[i*row:][:row]
			for j := range parts {
				p := &parts[j]
				at := p.outer.Offset + i*p.step // without a division
				if p.outer.Rank() > 1 {
					at = p.outer.Place(i)
				}
				copy(dst[:p.bytes], p.memory[at*size:])
				dst = dst[p.bytes:]
			}
		}
	})
	return true
}

// Stack returns a new tensor with the given tensors, which have the same shape, side
// by side along a new axis. It panics if there are none or their shapes differ.
func Stack(axis int, tensors ...*Tensor) *Tensor {
	if len(tensors) == 0 {
		fail(ErrValue, "stack", "", "no tensors are given", "")
	}
	rows := make([]*Tensor, len(tensors))
	for i, t := range tensors {
		if t == nil {
			fail(ErrValue, "stack", "", fmt.Sprintf("tensor %d is nil", i), "")
		}
		if !sameShape(t, tensors[0]) {
			fail(ErrShape, "stack", describe(tensors...), fmt.Sprintf("tensor %d has shape %v, tensor 0 has %v", i, t.layout.Shape, tensors[0].layout.Shape), "use Cat to join along an existing axis")
		}
		rows[i] = t.Unsqueeze(axis)
	}
	if axis < 0 {
		axis += tensors[0].Dim() + 1
	}
	return Cat(axis, rows...)
}

// Split returns views of size positions each along an axis; the last may be
// shorter. It panics if size is less than 1 or there is no such axis.
func (t *Tensor) Split(axis, size int) []*Tensor {
	t.exist("split")
	axis = t.axis("split", axis)
	if size < 1 {
		fail(ErrValue, "split", describe(t), fmt.Sprintf("parts of size %d", size), "give a size of at least 1")
	}
	n := t.layout.Shape[axis]
	needParts("split", t, n/size)
	sizes := make([]int, max(1, (n-1)/size+1))
	for i := range sizes {
		sizes[i] = min(size, n-i*size)
	}
	return t.SplitSizes(axis, sizes...)
}

// needParts panics if there is no memory for n views.
func needParts(op string, t *Tensor, n int) {
	const bytes = 256 // of one, about
	if n > math.MaxInt/bytes {
		n = math.MaxInt / bytes
	}
	needRoom(op, t.layout.Shape, n*bytes)
}

// SplitSizes returns views of the given sizes along an axis. It panics unless they add
// up to its size.
func (t *Tensor) SplitSizes(axis int, sizes ...int) []*Tensor {
	t.exist("split")
	axis = t.axis("split", axis)
	sum := 0
	for _, size := range sizes {
		sum += size
	}
	if sum != t.layout.Shape[axis] {
		fail(ErrShape, "split", describe(t), fmt.Sprintf("sizes %v add up to %d, axis %d has %d", sizes, sum, axis, t.layout.Shape[axis]), "")
	}
	parts, start := make([]*Tensor, len(sizes)), 0
	for i, size := range sizes {
		parts[i] = t.Narrow(axis, start, size)
		start += size
	}
	return parts
}

// Chunk returns at most n views of equal size along an axis, fewer if those cover it;
// the last may be shorter. It panics if n is less than 1.
func (t *Tensor) Chunk(axis, n int) []*Tensor {
	t.exist("chunk")
	axis = t.axis("chunk", axis)
	if n < 1 {
		fail(ErrValue, "chunk", describe(t), humanize.Count(n, "part"), "ask for at least 1")
	}
	size := t.layout.Shape[axis]
	if size == 0 {
		needParts("chunk", t, n)
		return t.SplitSizes(axis, make([]int, n)...)
	}
	return t.Split(axis, (size-1)/n+1)
}

// SplitInto returns exactly n views along an axis, the first of which are one
// larger if n does not divide its size. It panics if n is less than 1.
func (t *Tensor) SplitInto(axis, n int) []*Tensor {
	t.exist("split")
	axis = t.axis("split", axis)
	if n < 1 {
		fail(ErrValue, "split", describe(t), humanize.Count(n, "part"), "ask for at least 1")
	}
	size := t.layout.Shape[axis]
	needParts("split", t, n)
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = size / n
		if i < size%n {
			sizes[i]++
		}
	}
	return t.SplitSizes(axis, sizes...)
}

// SplitAt returns the views between positions of an axis: before the first, from
// each to the next, and from the last one on. Positions are treated as in Slice.
func (t *Tensor) SplitAt(axis int, positions ...int) []*Tensor {
	t.exist("split")
	axis = t.axis("split", axis)
	n := t.layout.Shape[axis]
	parts, start := make([]*Tensor, 0, len(positions)+1), 0
	for _, stop := range append(slices.Clone(positions), n) {
		parts = append(parts, t.Slice(axis, start, stop, 1))
		start = stop
	}
	return parts
}

// Repeat returns a copy in which the whole of t is repeated along each axis; counts
// for new axes come first. It panics if there are fewer counts than axes or if one is
// negative. Expand repeats without copying.
func (t *Tensor) Repeat(counts ...int) *Tensor {
	t.exist("repeat")
	extra := len(counts) - t.Dim()
	if extra < 0 {
		fail(ErrShape, "repeat", describe(t), fmt.Sprintf("%s for %s", humanize.Count(len(counts), "count"), humanize.Count(t.Dim(), "axis")), "give one for each axis, 1 where nothing repeats")
	}
	// Each axis of size s becomes two, (count, s), and then one again.
	var once, expanded, shape []int
	for i, count := range counts {
		size := 1
		if i >= extra {
			size = t.layout.Shape[i-extra]
		}
		if count < 0 {
			fail(ErrValue, "repeat", describe(t), fmt.Sprintf("count %d of axis %d is negative", count, i), "")
		}
		once = append(once, 1, size)
		expanded = append(expanded, count, size)
		shape = append(shape, count*size)
	}
	return t.Reshape(once...).Expand(expanded...).inOrderCopy().View(shape...)
}

// RepeatInterleave returns a copy in which each position of an axis appears count times in a row, as keys do when
// several heads share them: 1, 2 becomes 1, 1, 2, 2 where [Tensor.Repeat] gives 1, 2, 1, 2. It panics if there is no
// such axis or if count is negative.
func (t *Tensor) RepeatInterleave(axis, count int) *Tensor {
	const op = "repeat interleave"
	axis = t.exist(op).axis(op, axis)
	if count < 0 {
		fail(ErrValue, op, describe(t), fmt.Sprintf("the count %d is negative", count), "")
	}
	shape := t.Shape()
	expanded := slices.Insert(t.Shape(), axis+1, count)
	shape[axis] *= count
	return t.Unsqueeze(axis + 1).Expand(expanded...).inOrderCopy().View(shape...)
}

// Putting axes and positions in another order.

// Roll returns a copy with the positions of an axis moved up by shift; those that drop
// off the end come back at the start. A negative shift moves down. It panics if there
// is no such axis.
func (t *Tensor) Roll(axis, shift int) *Tensor {
	axis = t.exist("roll").axis("roll", axis)
	n := t.layout.Shape[axis]
	if n == 0 {
		return t.Clone()
	}
	cut := n - ((shift%n)+n)%n
	return Cat(axis, t.Narrow(axis, cut, n-cut), t.Narrow(axis, 0, cut))
}

// Pad returns a copy with positions of value before and after those of an axis. It
// panics if there is no such axis or a width is negative.
func (t *Tensor) Pad(axis, before, behind int, value float64) *Tensor {
	axis = t.exist("pad").axis("pad", axis)
	if before < 0 || behind < 0 {
		fail(ErrValue, "pad", describe(t), fmt.Sprintf("the widths %d and %d are not both at least 0", before, behind), "cut with Narrow")
	}
	edge := func(width int) *Tensor {
		shape := t.Shape()
		shape[axis] = width
		return With(t.dtype, t.Device()).Full(value, shape...)
	}
	return Cat(axis, edge(before), t, edge(behind))
}

// Movedim returns a view in which axis from has moved to place to; the others keep
// their order. It panics if there is no such axis.
func (t *Tensor) Movedim(from, to int) *Tensor {
	from, to = t.exist("movedim").axis("movedim", from), t.axis("movedim", to)
	order := make([]int, 0, t.Dim())
	for a := range t.Dim() {
		if a != from {
			order = append(order, a)
		}
	}
	return t.Permute(slices.Insert(order, to, from)...)
}

// Unflatten returns a view in which an axis is split into several of the given sizes,
// one of which may be -1: the reverse of [Tensor.Flatten]. It panics if there is no
// such axis or the sizes don't multiply to its size.
func (t *Tensor) Unflatten(axis int, sizes ...int) *Tensor {
	axis = t.exist("unflatten").axis("unflatten", axis)
	part, err := ContiguousLayout(t.layout.Shape[axis]).InferShape(sizes)
	t.must("unflatten", err)
	return t.View(slices.Concat(t.layout.Shape[:axis], part, t.layout.Shape[axis+1:])...)
}

// Meshgrid returns, for vectors of n, m, ... elements, as many views of shape
// [n m ...]: the i-th varies along axis i alone, where it has the elements of vector
// i. It panics if one is not a vector.
func Meshgrid(vectors ...*Tensor) []*Tensor {
	shape, grids := make([]int, len(vectors)), make([]*Tensor, len(vectors))
	for i, v := range vectors {
		if v.exist("meshgrid").Dim() != 1 {
			fail(ErrShape, "meshgrid", describe(vectors...), fmt.Sprintf("tensor %d has %s, not 1", i, humanize.Count(v.Dim(), "axis")), "flatten it with View(-1)")
		}
		shape[i] = v.Len()
	}
	for i, v := range vectors {
		column := slices.Repeat([]int{1}, len(vectors))
		column[i] = v.Len()
		grids[i] = v.Reshape(column...).Expand(shape...)
	}
	return grids
}

// Parts of matrices, and matrices backwards.

// The part of a matrix above or below a diagonal is linear: the gradient is the
// same part of the gradient.
var opTril, opTriu opOf[int]

func init() {
	part := func(o *opOf[int], name string, lower bool, again func(g *Tensor, diagonal int) *Tensor) {
		forward := func(c *call) *Tensor {
			x, diagonal := c.input(), o.given(c)
			if c.device != nil {
				out := c.result(x.dtype, x.layout.Shape, false)
				rowsOn(name, x.dtype, out, x, x.Dim()-1, float64(diagonal))
				return out
			}
			turned := func(t *Tensor) Layout {
				l, err := t.layout.Transpose(-1, -2)
				t.must(name, err)
				return l
			}
			if l := turned(x); !x.IsContiguous() && l.IsContiguous() { // the other part of what is in memory
				out := c.result(x.dtype, l.Shape, false)
				loops.KeepPart(out.array(), x.alias(l).array(), -diagonal, !lower)
				out.layout = turned(out)
				return out
			}
			out := c.result(x.dtype, x.layout.Shape, false)
			x.contiguously(func(x *Tensor) { loops.KeepPart(out.array(), x.array(), diagonal, lower) })
			return out
		}
		define(&o.op, op{name: name, forward: forward, gradients: []gradient{
			{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return again(g, o.given(c)) }},
		}})
	}
	part(&opTril, "tril", true, (*Tensor).Tril)
	part(&opTriu, "triu", false, (*Tensor).Triu)
}

// Tril returns a copy of the matrices in the last two axes with zeros above a
// diagonal: 0 is the main one, positive ones lie above it. It panics if there
// are fewer than two axes.
func (t *Tensor) Tril(diagonal int) *Tensor {
	t.exist("tril")
	return triangle(t, &opTril, diagonal)
}

// Triu returns a copy of the matrices in the last two axes with zeros below a
// diagonal; see [Tensor.Tril]. Triu(1) of ones is the mask of the positions that a
// causal model must not see.
func (t *Tensor) Triu(diagonal int) *Tensor {
	t.exist("triu")
	return triangle(t, &opTriu, diagonal)
}

func triangle(t *Tensor, o *opOf[int], diagonal int) *Tensor {
	if t.Dim() < 2 {
		fail(ErrShape, o.name, describe(t), "a triangle needs two axes", "")
	}
	return o.apply(diagonal, t)
}

// Reversing twice changes nothing: the gradient is reversed back.
var opFlip opOf[int]

func init() {
	define(&opFlip.op, op{
		name: "flip",
		forward: func(c *call) *Tensor {
			axis := opFlip.given(c)
			whole := c.outOfOrder()
			if whole == nil {
				return flipped(c, axis)
			}
			order := whole.layout.MemoryOrder()
			turned := &call{op: c.op, attr: slices.Index(order, axis), device: c.device}
			turned.in = append(turned.few[:0], whole.alias(whole.permuted(order)))
			out := flipped(turned, opFlip.given(turned))
			out.layout = out.permuted(inverse(order))
			return out
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return g.Flip(opFlip.given(c)) }}},
	})
}

func flipped(c *call, axis int) *Tensor {
	x := c.input()
	if c.device != nil {
		return flippedOn(x, axis)
	}
	if x.IsContiguous() {
		out := c.result(x.dtype, x.layout.Shape, false)
		inner := layout.Product(x.layout.Shape[axis+1:]) * x.dtype.Size()
		loops.ReverseParts(out.memory(), x.memory(), x.layout.Shape[axis], inner)
		return out
	}
	return flipRows(c)
}

var flipRows = rowForward(&opFlip, loops.UnaryKernels{F32: loops.Reverse[float32], F64: loops.Reverse[float64], I64: loops.Reverse[int64]}, sameDtype)

// Flip returns a copy with the order of elements reversed along each of the
// axes. It panics if there is no such axis, or if one is named twice.
func (t *Tensor) Flip(axes ...int) *Tensor {
	t.exist("flip")
	if t.layout.NamesNumber(axes...) {
		return t.Clone()
	}
	seen := make([]bool, t.Dim())
	out := t
	for _, a := range axes {
		a = t.axis("flip", a)
		if seen[a] {
			fail(ErrIndex, "flip", describe(t), "axis "+strconv.Itoa(a)+" is named twice", "")
		}
		seen[a] = true
		out = opFlip.apply(a, out)
	}
	if out == t {
		return t.Clone()
	}
	return out
}
