package tensor

import (
	"fmt"
	"math"
	"slices"

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

// Cat returns a new tensor with the tensors given one behind the other along an
// axis. Dtypes are promoted. It panics if there are none, if one is a single
// number, or if sizes differ on another axis.
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
	if out.joinRows(axis, c.in) {
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

// joinRows writes the parts of each row, all that lies behind an axis, one behind the other, and reports whether it
// can: the part of a row must lie along memory. The parts of all rows, one after the other, would be as many ways
// through the memory of out.
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
			parts = append(parts, part{bytesOf(x.storage), outer, inner.Len() * size})
		}
	}
	to := t.memory()
	loops.ParallelRows(len(to)/row, loops.ParallelFrom*size/row, func(start, end int) {
		for i := start; i < end; i++ {
			dst := to[i*row:][:row]
			for _, p := range parts {
				copy(dst[:p.bytes], p.memory[p.outer.Place(i)*size:])
				dst = dst[p.bytes:]
			}
		}
	})
	return true
}

// Stack returns a new tensor with the tensors given, which have one shape, side
// by side along a new axis. It panics if there are none or shapes differ.
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
			fail(ErrShape, "stack", describe(tensors...), fmt.Sprintf("tensor %d has shape %v, tensor 0 has %v", i, t.layout.Shape, tensors[0].layout.Shape), "use Cat to join along an axis that is there")
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

// SplitSizes returns views of the sizes given along an axis. It panics unless
// they add up to its size.
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

// Chunk returns at most n views of equal size along an axis, the last of which
// may be shorter; fewer if they suffice. It panics if n is less than 1.
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
// each to the next, and from the last on. Positions are treated as in Slice.
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

// Repeat returns a copy in which the whole of t is repeated along each axis;
// counts beyond its axes come first. It panics if there are fewer counts than
// axes or one is negative. Expand repeats without copying.
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
