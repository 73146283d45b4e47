package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// The naive twins of operations are written with what stands here: scalars one
// after the other, each step counted where it happens. It shares no code with the
// operations, neither their loops nor their costs.

// meter counts what a twin does.
type meter struct {
	flops int
	bytes int // of distinct elements that a pass reads, and of those that it writes
}

// The steps that count: everything else, such as a comparison or a copy, is none.

func (m *meter) add(a, b float64) float64     { m.flops++; return a + b }
func (m *meter) sub(a, b float64) float64     { m.flops++; return a - b }
func (m *meter) mul(a, b float64) float64     { m.flops++; return a * b }
func (m *meter) div(a, b float64) float64     { m.flops++; return a / b }
func (m *meter) neg(a float64) float64        { m.flops++; return -a }
func (m *meter) larger(a, b float64) float64  { m.flops++; return max(a, b) }
func (m *meter) smaller(a, b float64) float64 { m.flops++; return min(a, b) }

// call is one call of a function, or of one that rounds.
func (m *meter) call(f func(float64) float64, a float64) float64 { m.flops++; return f(a) }

func (m *meter) call2(f func(a, b float64) float64, a, b float64) float64 { m.flops++; return f(a, b) }

// array is a tensor as a twin sees it: the value of each position in row-major
// order, and where in memory it lies.
type array struct {
	shape  []int
	values []float64
	place  []int
	size   int  // bytes of an element
	number bool // a Go number, which has no say in the size of a result
}

// arrayOf returns the array of a tensor with its layout.
func arrayOf(t *Tensor) *array {
	a := &array{shape: t.Shape(), values: t.Floats(), size: t.dtype.Size()}
	for i := range a.values {
		at := t.layout.Offset
		for axis, p := range placeOf(i, a.shape) {
			at += p * t.layout.Strides[axis]
		}
		a.place = append(a.place, at)
	}
	return a
}

func arraysOf(in []*Tensor) []*array {
	all := make([]*array, len(in))
	for i, x := range in {
		all[i] = arrayOf(x)
	}
	return all
}

// newArray returns an array in memory of its own.
func newArray(shape []int, size int, values ...float64) *array {
	a := &array{shape: shape, values: values, size: size}
	if values == nil {
		a.values = make([]float64, layout.Product(shape))
	}
	for i := range a.values {
		a.place = append(a.place, i)
	}
	return a
}

// num is a Go number as an operand: it lies in 8 bytes.
func num(v float64) *array {
	a := newArray(nil, 8, v)
	a.number = true
	return a
}

// placeOf returns the position along each axis of the i-th element.
func placeOf(i int, shape []int) []int {
	index := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		index[axis] = i % shape[axis]
		i /= shape[axis]
	}
	return index
}

// flatOf is the inverse of placeOf.
func flatOf(index, shape []int) int {
	i := 0
	for axis, p := range index {
		i = i*shape[axis] + p
	}
	return i
}

// view returns another arrangement of the same memory: from tells which position
// of x stands at one of the view.
func (x *array) view(shape []int, from func(index []int) []int) *array {
	v := &array{shape: shape, size: x.size, number: x.number}
	for i := range layout.Product(shape) {
		at := flatOf(from(placeOf(i, shape)), x.shape)
		v.values, v.place = append(v.values, x.values[at]), append(v.place, x.place[at])
	}
	return v
}

func (x *array) reshape(shape ...int) *array {
	v := *x
	v.shape = shape
	return &v
}

// expand repeats axes of size 1, and adds axes in front.
func (x *array) expand(shape []int) *array {
	extra := len(shape) - len(x.shape)
	return x.view(shape, func(index []int) []int {
		at := slices.Clone(index[extra:])
		for i, size := range x.shape {
			if size == 1 {
				at[i] = 0
			}
		}
		return at
	})
}

func (x *array) transpose() *array {
	n := len(x.shape)
	swapped := func(s []int) []int {
		s = slices.Clone(s)
		s[n-1], s[n-2] = s[n-2], s[n-1]
		return s
	}
	return x.view(swapped(x.shape), swapped)
}

// reader returns one element of an operand of a pass.
type readElement func(operand, at int) float64

// pass computes an array, element by element, from operands: the unit in which
// memory is read and written.
func (m *meter) pass(shape []int, size int, f func(i int, read readElement) float64, operands ...*array) *array {
	out := newArray(shape, size)
	touched := make([]map[int]bool, len(operands))
	for i := range operands {
		touched[i] = map[int]bool{}
	}
	read := func(operand, at int) float64 {
		x := operands[operand]
		touched[operand][x.place[at]] = true
		return x.values[at]
	}
	for i := range out.values {
		out.values[i] = f(i, read)
	}
	for i, x := range operands {
		m.bytes += len(touched[i]) * x.size
	}
	m.bytes += len(out.values) * size
	return out
}

// commonShape is that to which operands are broadcast.
func commonShape(operands []*array) []int {
	var shape []int
	for _, x := range operands {
		for len(shape) < len(x.shape) {
			shape = slices.Insert(shape, 0, 1)
		}
		for i, size := range x.shape {
			at := len(shape) - len(x.shape) + i
			shape[at] = max(shape[at], size)
		}
	}
	return shape
}

// each computes an array position by position; size 0 means that of the largest
// operand.
func (m *meter) each(size int, f func(v []float64) float64, operands ...*array) *array {
	shape := commonShape(operands)
	wide := make([]*array, len(operands))
	largest := 0
	for i, x := range operands {
		wide[i] = x.expand(shape)
		if !x.number {
			largest = max(largest, x.size)
		}
	}
	if size == 0 {
		size = largest
	}
	v := make([]float64, len(wide))
	return m.pass(shape, size, func(i int, read readElement) float64 {
		for k := range wide {
			v[k] = read(k, i)
		}
		return f(v)
	}, wide...)
}

// fold reduces over axes: sums and the like begin at start.
func (m *meter) fold(x *array, axes []int, keep bool, size int, start float64, step func(acc, v float64) float64, end func(acc float64) float64) *array {
	return m.reduce(x, axes, keep, size, func(run []float64) float64 {
		acc := start
		for _, v := range run {
			acc = step(acc, v)
		}
		if end != nil {
			acc = end(acc)
		}
		return acc
	})
}

// reduce computes one element from each run of those along axes; nil means all.
func (m *meter) reduce(x *array, axes []int, keep bool, size int, f func(run []float64) float64) *array {
	gone := func(axis int) bool { return axes == nil || slices.Contains(axes, axis) }
	var kept, shape, behind []int
	for axis, n := range x.shape {
		if gone(axis) {
			kept = append(kept, 1)
			behind = append(behind, n)
		} else {
			kept = append(kept, n)
			shape = append(shape, n)
			behind = append(behind, 1)
		}
	}
	out := m.pass(kept, size, func(i int, read readElement) float64 {
		first := placeOf(i, kept)
		run := make([]float64, layout.Product(behind))
		for j := range run {
			at := placeOf(j, behind)
			for axis := range at {
				at[axis] += first[axis]
			}
			run[j] = read(0, flatOf(at, x.shape))
		}
		return f(run)
	}, x)
	if !keep {
		out = out.reshape(shape...)
	}
	return out
}

// rows computes each row along an axis from the same row of the operands; those
// of one row serve all.
func (m *meter) rows(axis int, f func(rows [][]float64) []float64, operands ...*array) *array {
	x := operands[0]
	n := x.shape[axis]
	done := map[int][]float64{}
	wide := make([]*array, len(operands))
	for k, o := range operands {
		wide[k] = o.expand(x.shape)
	}
	return m.pass(x.shape, x.size, func(i int, read readElement) float64 {
		index := placeOf(i, x.shape)
		at := index[axis]
		index[axis] = 0
		first := flatOf(index, x.shape)
		if done[first] == nil {
			rows := make([][]float64, len(wide))
			for k := range wide {
				for j := range n {
					index[axis] = j
					rows[k] = append(rows[k], read(k, flatOf(index, x.shape)))
				}
			}
			done[first] = f(rows)
		}
		return done[first][at]
	}, wide...)
}

// Passes that gradients are made of.

func (m *meter) Add(x, y *array) *array {
	return m.each(0, func(v []float64) float64 { return m.add(v[0], v[1]) }, x, y)
}

func (m *meter) Sub(x, y *array) *array {
	return m.each(0, func(v []float64) float64 { return m.sub(v[0], v[1]) }, x, y)
}

func (m *meter) Mul(x, y *array) *array {
	return m.each(0, func(v []float64) float64 { return m.mul(v[0], v[1]) }, x, y)
}

func (m *meter) Div(x, y *array) *array {
	return m.each(0, func(v []float64) float64 { return m.div(v[0], v[1]) }, x, y)
}

func (m *meter) Neg(x *array) *array {
	return m.each(0, func(v []float64) float64 { return m.neg(v[0]) }, x)
}

func (m *meter) Square(x *array) *array {
	return m.each(0, func(v []float64) float64 { return m.mul(v[0], v[0]) }, x)
}

// Call computes a function of one number.
func (m *meter) Call(f func(float64) float64, x *array) *array {
	return m.each(0, func(v []float64) float64 { return m.call(f, v[0]) }, x)
}

// Where compares: the result is a mask.
func (m *meter) Where(holds func(a, b float64) bool, x, y *array) *array {
	return m.each(1, func(v []float64) float64 { return loops.Truth[float64](holds(v[0], v[1])) }, x, y)
}

func (m *meter) Not(x *array) *array { return m.Where(equals, x, emptyOperand) }

func (m *meter) And(x, y *array) *array {
	return m.Where(func(a, b float64) bool { return a != 0 && b != 0 }, x, y)
}

// emptyOperand is a 0 that takes no memory.
var emptyOperand = func() *array { a := num(0); a.size = 0; return a }()

func equals(a, b float64) bool  { return a == b }
func greater(a, b float64) bool { return a > b }
func less(a, b float64) bool    { return a < b }

// Fill is x with value where the mask is set.
func (m *meter) Fill(x, mask *array, value float64) *array {
	return m.each(x.size, func(v []float64) float64 {
		if v[1] != 0 {
			return value
		}
		return v[0]
	}, x, mask)
}

func (m *meter) Sum(x *array, axes []int, keep bool) *array {
	size := x.size
	if size == 1 { // sums of a mask are int64
		size = 8
	}
	return m.fold(x, axes, keep, size, 0, m.add, nil)
}

func (m *meter) Mean(x *array, axes []int, keep bool) *array {
	return m.reduce(x, axes, keep, x.size, m.mean)
}

func (m *meter) mean(run []float64) float64 { return m.div(m.sum(run), float64(len(run))) }

func (m *meter) sum(run []float64) float64 {
	sum := 0.
	for _, v := range run {
		sum = m.add(sum, v)
	}
	return sum
}

func (m *meter) largest(run []float64) float64 {
	best := math.Inf(-1)
	for _, v := range run {
		best = m.larger(best, v)
	}
	return best
}

// squares is Σ (x - mean)², for which the differences are computed once.
func (m *meter) squares(run []float64) (mean, sum float64, differences []float64) {
	mean = m.mean(run)
	for _, v := range run {
		d := m.sub(v, mean)
		differences = append(differences, d)
		sum = m.add(sum, m.mul(d, d))
	}
	return mean, sum, differences
}

// sumTo sums over what broadcasting added or repeated.
func (m *meter) sumTo(g *array, shape []int) *array {
	if slices.Equal(g.shape, shape) {
		return g
	}
	var axes []int
	extra := len(g.shape) - len(shape)
	for axis, size := range g.shape {
		if axis < extra || shape[axis-extra] == 1 && size > 1 {
			axes = append(axes, axis)
		}
	}
	if axes == nil {
		return g.reshape(shape...)
	}
	return m.Sum(g, axes, true).reshape(shape...)
}

// back brings the result of a reduction to the shape of its input.
func back(x *array, axes []int, shape []int) *array {
	kept := slices.Clone(shape)
	for axis := range kept {
		if axes == nil || slices.Contains(axes, axis) {
			kept[axis] = 1
		}
	}
	return x.reshape(kept...).expand(shape)
}

// Matmul multiplies the matrices in the last two axes; batches are broadcast.
func (m *meter) Matmul(x, y *array) *array {
	a, b := len(x.shape), len(y.shape)
	rows, inner, columns := x.shape[a-2], x.shape[a-1], y.shape[b-1]
	batch := commonShape([]*array{{shape: x.shape[:a-2]}, {shape: y.shape[:b-2]}})
	x, y = x.expand(slices.Concat(batch, []int{rows, inner})), y.expand(slices.Concat(batch, []int{inner, columns}))
	shape := slices.Concat(batch, []int{rows, columns})
	return m.pass(shape, x.size, func(i int, read readElement) float64 {
		index := placeOf(i, shape)
		last := len(index)
		left, right := slices.Clone(index), slices.Clone(index)
		sum := 0.
		for k := range inner {
			left[last-1], right[last-2] = k, k
			sum = m.add(sum, m.mul(read(0, flatOf(left, x.shape)), read(1, flatOf(right, y.shape))))
		}
		return sum
	}, x, y)
}

// Flip turns the order along an axis around.
func (m *meter) Flip(x *array, axis int) *array {
	return m.rows(axis, func(rows [][]float64) []float64 { slices.Reverse(rows[0]); return rows[0] }, x)
}

// Cumsum adds up along an axis.
func (m *meter) Cumsum(x *array, axis int) *array {
	return m.rows(axis, func(rows [][]float64) []float64 {
		sum := 0.
		for i, v := range rows[0] {
			sum = m.add(sum, v)
			rows[0][i] = sum
		}
		return rows[0]
	}, x)
}

// Into adds the elements of g into zeros, where place says; counted unless each
// has a place of its own.
func (m *meter) Into(g *array, shape []int, adds bool, place func(index []int) []int) *array {
	sources := map[int][]int{}
	for i := range g.values {
		at := flatOf(place(placeOf(i, g.shape)), shape)
		sources[at] = append(sources[at], i)
	}
	return m.pass(shape, g.size, func(i int, read readElement) float64 {
		sum := 0.
		for _, from := range sources[i] {
			if adds {
				sum = m.add(sum, read(0, from))
			} else {
				sum = read(0, from)
			}
		}
		return sum
	}, g)
}

// LayerNorm normalizes rows of n elements.
func (m *meter) LayerNorm(x, w, b *array, n int, eps float64) *array {
	flat := func(a *array) *array { return a.reshape(len(a.values)/n, n) }
	return m.rows(1, func(rows [][]float64) []float64 {
		_, sum, differences := m.squares(rows[0])
		scale := m.div(1, m.call(math.Sqrt, m.add(m.div(sum, float64(n)), eps)))
		for i, d := range differences {
			differences[i] = m.add(m.mul(m.mul(d, scale), rows[1][i]), rows[2][i])
		}
		return differences
	}, flat(x), flat(w), flat(b)).reshape(x.shape...)
}

// closeTo says how an array differs from a tensor.
func (x *array) closeTo(t *Tensor, tolerance float64) error {
	if !slices.Equal(x.shape, t.Shape()) {
		return fmt.Errorf("shape %v, the naive twin has %v", t.Shape(), x.shape)
	}
	if x.size != t.dtype.Size() {
		return fmt.Errorf("%s has %d bytes for each element, the naive twin %d", t.dtype, t.dtype.Size(), x.size)
	}
	for i, got := range t.Floats() {
		if want := x.values[i]; !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) && got != want && !(got != got && want != want) {
			return fmt.Errorf("element %v is %g, that of the naive twin %g", placeOf(i, x.shape), got, want)
		}
	}
	return nil
}
