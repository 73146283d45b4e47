package tensor

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Views: another layout over the same storage. No element moves, and a write
// through one view shows in all others.

// relayout is what a view does to a layout: the method of [Layout] and its arguments,
// as data, so that a graph can be kept. undo is the inverse method, for the gradient;
// 0 if the view leaves out elements or repeats them.
type relayout struct {
	do, undo viewMethod
	n        [4]int // arguments of do that are single numbers
	to, from []int  // lists given to do and undo: axes or sizes
}

// viewMethod names a method of Layout.
type viewMethod uint8

const (
	noView viewMethod = iota
	transposed
	permuted
	permutedBack // of the order in the list
	viewed
	expanded
	unsqueezed
	squeezed
	selected
	narrowed
	sliced
	diagonal
	unfolded
)

// apply returns the layout of the view of l.
func (r *relayout) apply(l Layout) (Layout, error) {
	n := &r.n
	switch r.do {
	case transposed:
		return l.Transpose(n[0], n[1])
	case permuted:
		return l.Permute(r.to...)
	case permutedBack:
		inverse := make([]int, len(r.to))
		for i, a := range r.to {
			if a < 0 {
				a += len(r.to)
			}
			inverse[a] = i
		}
		return l.Permute(inverse...)
	case viewed:
		return l.View(r.to...)
	case expanded:
		return l.Expand(r.to...)
	case unsqueezed:
		return l.Unsqueeze(n[0])
	case squeezed:
		return l.Squeeze(r.to...)
	case selected:
		return l.Select(n[0], n[1])
	case narrowed:
		return l.Narrow(n[0], n[1], n[2])
	case sliced:
		return l.Slice(n[0], n[1], n[2], n[3])
	case diagonal:
		return l.Diagonal(n[0], n[1], n[2])
	case unfolded:
		return l.Unfold(n[0], n[1], n[2])
	}
	panic("tensor: a view without a method")
}

// back returns the view that undoes r.
func (r *relayout) back() *relayout { return &relayout{r.undo, r.do, r.n, r.from, r.to} }

var opTranspose, opPermute, opView, opExpand, opSqueeze, opUnsqueeze, opSelect, opSlice, opDiagonal, opUnfold opOf[*relayout]

func init() {
	view := func(o *opOf[*relayout], name string) {
		define(&o.op, op{
			name: name,
			forward: func(c *call) *Tensor {
				x := c.input()
				l, err := o.given(c).apply(x.layout)
				x.must(name, err)
				return x.alias(l)
			},
			gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return o.given(c).backward(c.input(), g) }}},
		})
	}
	view(&opTranspose, "transpose")
	view(&opPermute, "permute")
	view(&opView, "view")
	view(&opExpand, "expand")
	opExpand.gradients = []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return g.sumTo(c.input().layout.Shape) }}}
	view(&opSqueeze, "squeeze")
	view(&opUnsqueeze, "unsqueeze")
	view(&opSelect, "select")
	view(&opSlice, "slice")
	view(&opDiagonal, "diagonal")
	view(&opUnfold, "unfold")
}

// backward is the gradient of a view of x: the inverse relayout if there is one,
// otherwise zeros into which the gradient is added through the view.
func (r *relayout) backward(x, g *Tensor) *Tensor {
	if r.undo != noView {
		return opUnview.apply(r.back(), g)
	}
	return opSpread.apply(spread{x.layout.Shape, r}, g)
}

// opUnview undoes a view that only renames positions. It works for every layout, and
// copies where it must.
var opUnview opOf[*relayout]

func init() {
	define(&opUnview.op, op{
		name: "view backward",
		forward: func(c *call) *Tensor {
			x, r := c.input(), opUnview.given(c)
			l, err := r.apply(x.layout)
			if err != nil {
				x = x.Detach().Contiguous()
				l, err = r.apply(x.layout)
			}
			x.must(c.op.name, err)
			return x.alias(l)
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return opUnview.given(c).backward(c.input(), g) }}},
	})
}

// opSpread puts each element of a view's gradient back where it came from.
var opSpread opOf[spread]

func init() {
	define(&opSpread.op, op{
		name: "spread",
		forward: func(c *call) *Tensor {
			s, g := opSpread.given(c), c.input()
			sum := g.beside(wideSum(g.dtype), s.shape, true)
			l, err := s.view.apply(sum.layout)
			g.must(c.op.name, err)
			accumulate(sum, l, g)
			return sum.To(g.dtype)
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
			return opSlice.apply(opSpread.given(c).view, g)
		}}},
		flops: func(c *call, out *Tensor) int {
			l, _ := opSpread.given(c).view.apply(out.layout)
			return additions(l)
		},
	})
}

// spread is a view and the shape that it was taken from.
type spread struct {
	shape []int
	view  *relayout
}

// accumulate adds g to the positions of a layout in sum's storage, one after
// the other, as positions may coincide.
func accumulate(sum *Tensor, at Layout, g *Tensor) {
	switch {
	case sum.storage.Device != nil && !at.MayOverlap():
		sum.alias(at).assign(g)
	case sum.storage.Device != nil:
		places := make([]int64, 0, g.Len())
		loops.Walk(&at, 0, g.Len(), func(_, first, run, stride int) {
			for i := range run {
				places = append(places, int64(first+i*stride))
			}
		})
		scatterOn("spread", sum, g, places, 1)
	case sum.dtype == Float64:
		addAt[float64](sum, &at, g)
	default:
		addAt[float32](sum, &at, g)
	}
}

// additions counts the sums of accumulate: none if every element has its own place, as
// that is a copy.
func additions(at Layout) int {
	if at.MayOverlap() {
		return at.Len()
	}
	return 0
}

func addAt[T numbers.Number](sum *Tensor, at *Layout, g *Tensor) {
	to, r := elements[T](sum.storage), newReader[T](g)
	loops.InBlocks(0, g.Len(), func(start, n int) {
		values := r.Block(start, n)
		loops.Walk(at, start, n, func(done, first, run, stride int) {
			for i, v := range values[done : done+run] {
				to[first+i*stride] += v
			}
		})
	})
}

// Transpose returns a view with two axes exchanged. It panics if there is no
// such axis.
func (t *Tensor) Transpose(a, b int) *Tensor {
	return opTranspose.apply(&relayout{do: transposed, undo: transposed, n: [4]int{a, b}}, t)
}

// T returns a view with the last two axes exchanged: the transposed matrix. It
// panics if there are fewer than two axes.
func (t *Tensor) T() *Tensor {
	t.exist("transpose")
	if t.Dim() < 2 {
		fail(ErrShape, "transpose", describe(t), "a transposed matrix needs two axes", "add one with Unsqueeze")
	}
	return t.Transpose(-2, -1)
}

// Permute returns a view whose axis i is axis order[i] of t. It panics unless
// each axis is named once.
func (t *Tensor) Permute(order ...int) *Tensor {
	axes := copied(order)
	return opPermute.apply(&relayout{do: permuted, undo: permutedBack, to: axes, from: axes}, t)
}

// View returns a view of the same elements, in the same order, in another
// shape. One size may be -1. It panics if the number of elements differs, or if no
// strides can show t's memory in that shape; in that case, Reshape copies.
func (t *Tensor) View(shape ...int) *Tensor {
	t.exist("view")
	return opView.apply(&relayout{do: viewed, undo: viewed, to: copied(shape), from: t.layout.Shape}, t)
}

// copied returns a copy of arguments that a gradient will need. Unlike slices.Clone,
// it lets callers keep their lists of arguments on the stack.
func copied(list []int) []int { return append(make([]int, 0, len(list)), list...) }

// Reshape returns the same elements in another shape: a view where View can
// make one, otherwise a copy. It panics if the number of elements differs.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	t.exist("reshape")
	to, err := t.layout.InferShape(shape)
	t.must("reshape", err)
	if slices.Equal(to, t.layout.Shape) {
		return t
	}
	if _, ok := t.layout.ViewStrides(to); !ok {
		t = t.Contiguous()
	}
	return t.View(to...)
}

// Contiguous returns t if its elements already lie in row-major order,
// otherwise a copy in which they do.
func (t *Tensor) Contiguous() *Tensor {
	t.exist("contiguous")
	if t.IsContiguous() {
		return t
	}
	return t.inOrderCopy()
}

// Expand returns a view in which axes of size 1 are repeated to the given sizes,
// without copying: their stride is 0. New axes come first; -1 keeps a size. It panics
// where a size other than 1 would have to change.
func (t *Tensor) Expand(shape ...int) *Tensor {
	return opExpand.apply(&relayout{do: expanded, to: copied(shape)}, t)
}

// Unsqueeze returns a view with a new axis of size 1 before axis; -1 appends it.
// It panics if axis is out of range.
func (t *Tensor) Unsqueeze(axis int) *Tensor {
	t.exist("unsqueeze")
	return opUnsqueeze.apply(&relayout{do: unsqueezed, undo: viewed, n: [4]int{axis}, from: t.layout.Shape}, t)
}

// Squeeze returns a view without the named axes, as far as they have size 1, or
// without all axes of size 1 if none is named. It panics if there is no such axis.
func (t *Tensor) Squeeze(axes ...int) *Tensor {
	t.exist("squeeze")
	return opSqueeze.apply(&relayout{do: squeezed, undo: viewed, to: slices.Clone(axes), from: t.layout.Shape}, t)
}

// Flatten joins the axes from first to last into one, as a view where that is
// possible and a copy otherwise. Flatten(0, -1) gives a vector. It panics if there is
// no such axis, or if first comes after last.
func (t *Tensor) Flatten(first, last int) *Tensor {
	t.exist("flatten")
	if t.Dim() == 0 {
		return t.Reshape(1)
	}
	first, last = t.axis("flatten", first), t.axis("flatten", last)
	if first > last {
		fail(ErrIndex, "flatten", describe(t), fmt.Sprintf("first axis %d comes after last axis %d", first, last), "")
	}
	s := t.layout.Shape
	return t.Reshape(slices.Concat(s[:first], []int{layout.Product(s[first : last+1])}, s[last+1:])...)
}

// Select returns a view of position i of an axis; the axis disappears. It panics if
// axis or position is out of range.
func (t *Tensor) Select(axis, i int) *Tensor {
	return opSelect.apply(&relayout{do: selected, n: [4]int{axis, i}}, t)
}

// Narrow returns a view of length positions of an axis, from start on. It panics
// if they don't lie within the axis.
func (t *Tensor) Narrow(axis, start, length int) *Tensor {
	return opSlice.apply(&relayout{do: narrowed, n: [4]int{axis, start, length}}, t)
}

// Slice returns a view of every step-th position of an axis in [start, stop).
// As in Python, negative bounds count from the end and bounds outside are clipped. It
// panics if there is no such axis, or if step is less than 1.
func (t *Tensor) Slice(axis, start, stop, step int) *Tensor {
	return opSlice.apply(&relayout{do: sliced, n: [4]int{axis, start, stop, step}}, t)
}

// Diagonal returns a view with a diagonal of axes a and b as the last axis; offset 0
// is the main diagonal, and positive ones lie above it. It panics if a equals b.
func (t *Tensor) Diagonal(offset, a, b int) *Tensor {
	return opDiagonal.apply(&relayout{do: diagonal, n: [4]int{offset, a, b}}, t)
}

// Unfold returns a view of all windows of size positions along an axis, step apart:
// the axis then counts the windows, and a new last axis has the positions within one.
// Windows may overlap. It panics if no window fits.
func (t *Tensor) Unfold(axis, size, step int) *Tensor {
	return opUnfold.apply(&relayout{do: unfolded, n: [4]int{axis, size, step}}, t)
}
