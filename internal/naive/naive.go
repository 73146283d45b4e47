// Package naive computes operations as a reader would by hand: scalar by scalar, with each step counted where it
// happens. The naive versions against which operations are tested are written with it. It shares no code with the
// operations, neither their loops nor their costs.
package naive

import (
	"math"
	"slices"
)

// Meter counts what a naive version does.
type Meter struct {
	FLOPs int
	Bytes int // of distinct elements that a pass reads, and of those that it writes
}

// The steps that count are those on one or two numbers: nothing else counts, such as a comparison or a copy.

// Plus is a + b.
func (m *Meter) Plus(a, b float64) float64 { m.FLOPs++; return a + b }

// Minus is a - b.
func (m *Meter) Minus(a, b float64) float64 { m.FLOPs++; return a - b }

// Times is a·b.
func (m *Meter) Times(a, b float64) float64 { m.FLOPs++; return a * b }

// Over is a/b.
func (m *Meter) Over(a, b float64) float64 { m.FLOPs++; return a / b }

// Negative is -a.
func (m *Meter) Negative(a float64) float64 { m.FLOPs++; return -a }

// Larger is the larger of both.
func (m *Meter) Larger(a, b float64) float64 { m.FLOPs++; return max(a, b) }

// Smaller is the smaller of both.
func (m *Meter) Smaller(a, b float64) float64 { m.FLOPs++; return min(a, b) }

// Apply is one call to a function, or of one that rounds.
func (m *Meter) Apply(f func(float64) float64, a float64) float64 { m.FLOPs++; return f(a) }

// Apply2 is one call to a function of two numbers.
func (m *Meter) Apply2(f func(a, b float64) float64, a, b float64) float64 { m.FLOPs++; return f(a, b) }

// Truth is 1 for true, as in masks, and 0 for false.
func Truth(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// Array is a tensor as a naive version sees it: the value at each position in row-major order, and where in memory it
// is.
type Array struct {
	Shape  []int
	Values []float64
	Place  []int
	Size   int  // bytes of an element
	Number bool // a Go number, which has no say in the size of a result
}

// New returns an array in new memory.
func New(shape []int, size int, values ...float64) *Array {
	a := &Array{Shape: shape, Values: values, Size: size}
	if values == nil {
		a.Values = make([]float64, product(shape))
	}
	for i := range a.Values {
		a.Place = append(a.Place, i)
	}
	return a
}

// Num is a Go number as an operand: it is part of the code, and in no memory.
func Num(v float64) *Array {
	a := New(nil, 0, v)
	a.Number = true
	return a
}

// product is the number of elements of a shape.
func product(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

// Position returns the position along each axis of the i-th element.
func Position(i int, shape []int) []int {
	index := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		index[axis] = i % shape[axis]
		i /= shape[axis]
	}
	return index
}

// Flat is the inverse of Position.
func Flat(index, shape []int) int {
	i := 0
	for axis, p := range index {
		i = i*shape[axis] + p
	}
	return i
}

// View returns another arrangement of the same memory: from tells which position of x
// is at a position of the view.
func (x *Array) View(shape []int, from func(index []int) []int) *Array {
	v := &Array{Shape: shape, Size: x.Size, Number: x.Number}
	for i := range product(shape) {
		at := Flat(from(Position(i, shape)), x.Shape)
		v.Values, v.Place = append(v.Values, x.Values[at]), append(v.Place, x.Place[at])
	}
	return v
}

// Reshape returns the same elements in another shape.
func (x *Array) Reshape(shape ...int) *Array {
	v := *x
	v.Shape = shape
	return &v
}

// Expand repeats axes of size 1, and adds axes in front.
func (x *Array) Expand(shape []int) *Array {
	extra := len(shape) - len(x.Shape)
	return x.View(shape, func(index []int) []int {
		at := slices.Clone(index[extra:])
		for i, size := range x.Shape {
			if size == 1 {
				at[i] = 0
			}
		}
		return at
	})
}

// Transpose swaps the last two axes.
func (x *Array) Transpose() *Array {
	n := len(x.Shape)
	swapped := func(s []int) []int {
		s = slices.Clone(s)
		s[n-1], s[n-2] = s[n-2], s[n-1]
		return s
	}
	return x.View(swapped(x.Shape), swapped)
}

// Read returns one element of an operand of a pass.
type Read func(operand, at int) float64

// Pass computes an array, element by element, from operands: the unit in which
// memory is read and written.
func (m *Meter) Pass(shape []int, size int, f func(i int, read Read) float64, operands ...*Array) *Array {
	out := New(shape, size)
	touched := make([]map[int]bool, len(operands))
	for i := range operands {
		touched[i] = map[int]bool{}
	}
	read := func(operand, at int) float64 {
		x := operands[operand]
		touched[operand][x.Place[at]] = true
		return x.Values[at]
	}
	for i := range out.Values {
		out.Values[i] = f(i, read)
	}
	for i, x := range operands {
		m.Bytes += len(touched[i]) * x.Size
	}
	m.Bytes += len(out.Values) * size
	return out
}

// commonShape is the shape to which operands are broadcast.
func commonShape(operands []*Array) []int {
	var shape []int
	for _, x := range operands {
		for len(shape) < len(x.Shape) {
			shape = slices.Insert(shape, 0, 1)
		}
		for i, size := range x.Shape {
			at := len(shape) - len(x.Shape) + i
			shape[at] = max(shape[at], size)
		}
	}
	return shape
}

// Each computes an array position by position; size 0 means the size of the largest
// operand.
func (m *Meter) Each(size int, f func(v []float64) float64, operands ...*Array) *Array {
	shape := commonShape(operands)
	wide := make([]*Array, len(operands))
	largest := 0
	for i, x := range operands {
		wide[i] = x.Expand(shape)
		if !x.Number {
			largest = max(largest, x.Size)
		}
	}
	if size == 0 {
		size = largest
	}
	v := make([]float64, len(wide))
	return m.Pass(shape, size, func(i int, read Read) float64 {
		for k := range wide {
			v[k] = read(k, i)
		}
		return f(v)
	}, wide...)
}

// Fold reduces over axes: sums and the like begin at start.
func (m *Meter) Fold(x *Array, axes []int, keep bool, size int, start float64, step func(acc, v float64) float64, end func(acc float64) float64) *Array {
	return m.Reduce(x, axes, keep, size, func(run []float64) float64 {
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

// Reduce computes one element from each run of those along axes; nil means all.
func (m *Meter) Reduce(x *Array, axes []int, keep bool, size int, f func(run []float64) float64) *Array {
	gone := func(axis int) bool { return axes == nil || slices.Contains(axes, axis) }
	var kept, shape, behind []int
	for axis, n := range x.Shape {
		if gone(axis) {
			kept = append(kept, 1)
			behind = append(behind, n)
		} else {
			kept = append(kept, n)
			shape = append(shape, n)
			behind = append(behind, 1)
		}
	}
	out := m.Pass(kept, size, func(i int, read Read) float64 {
		first := Position(i, kept)
		run := make([]float64, product(behind))
		for j := range run {
			at := Position(j, behind)
			for axis := range at {
				at[axis] += first[axis]
			}
			run[j] = read(0, Flat(at, x.Shape))
		}
		return f(run)
	}, x)
	if !keep {
		out = out.Reshape(shape...)
	}
	return out
}

// Rows computes each row along an axis from the same row of the operands; an operand
// with a single row serves all.
func (m *Meter) Rows(axis int, f func(rows [][]float64) []float64, operands ...*Array) *Array {
	x := operands[0]
	n := x.Shape[axis]
	done := map[int][]float64{}
	wide := make([]*Array, len(operands))
	for k, o := range operands {
		wide[k] = o.Expand(x.Shape)
	}
	return m.Pass(x.Shape, x.Size, func(i int, read Read) float64 {
		index := Position(i, x.Shape)
		at := index[axis]
		index[axis] = 0
		first := Flat(index, x.Shape)
		if done[first] == nil {
			rows := make([][]float64, len(wide))
			for k := range wide {
				for j := range n {
					index[axis] = j
					rows[k] = append(rows[k], read(k, Flat(index, x.Shape)))
				}
			}
			done[first] = f(rows)
		}
		return done[first][at]
	}, wide...)
}

// Passes of which gradients consist: each reads its operands from memory, and writes its result.

// Add is x + y.
func (m *Meter) Add(x, y *Array) *Array {
	return m.Each(0, func(v []float64) float64 { return m.Plus(v[0], v[1]) }, x, y)
}

// Sub is x - y.
func (m *Meter) Sub(x, y *Array) *Array {
	return m.Each(0, func(v []float64) float64 { return m.Minus(v[0], v[1]) }, x, y)
}

// Mul is x·y.
func (m *Meter) Mul(x, y *Array) *Array {
	return m.Each(0, func(v []float64) float64 { return m.Times(v[0], v[1]) }, x, y)
}

// Div is x/y.
func (m *Meter) Div(x, y *Array) *Array {
	return m.Each(0, func(v []float64) float64 { return m.Over(v[0], v[1]) }, x, y)
}

// Neg is -x.
func (m *Meter) Neg(x *Array) *Array {
	return m.Each(0, func(v []float64) float64 { return m.Negative(v[0]) }, x)
}

// Square is x².
func (m *Meter) Square(x *Array) *Array {
	return m.Each(0, func(v []float64) float64 { return m.Times(v[0], v[0]) }, x)
}

// Call computes a function of one number.
func (m *Meter) Call(f func(float64) float64, x *Array) *Array {
	return m.Each(0, func(v []float64) float64 { return m.Apply(f, v[0]) }, x)
}

// Where compares: the result is a mask.
func (m *Meter) Where(holds func(a, b float64) bool, x, y *Array) *Array {
	return m.Each(1, func(v []float64) float64 { return Truth(holds(v[0], v[1])) }, x, y)
}

// Not is true where a mask is false.
func (m *Meter) Not(x *Array) *Array { return m.Where(Equals, x, Nothing) }

// And is true where both masks are true.
func (m *Meter) And(x, y *Array) *Array {
	return m.Where(func(a, b float64) bool { return a != 0 && b != 0 }, x, y)
}

// Nothing is a 0 that takes no memory.
var Nothing = func() *Array { a := Num(0); a.Size = 0; return a }()

// Equals reports a = b, for Where.
func Equals(a, b float64) bool { return a == b }

// Greater reports a > b.
func Greater(a, b float64) bool { return a > b }

// Less reports a < b.
func Less(a, b float64) bool { return a < b }

// Fill is x with value where the mask is set.
func (m *Meter) Fill(x, mask *Array, value float64) *Array {
	return m.Each(x.Size, func(v []float64) float64 {
		if v[1] != 0 {
			return value
		}
		return v[0]
	}, x, mask)
}

// Choose is x where the mask is set, and y elsewhere.
func (m *Meter) Choose(mask, x, y *Array) *Array {
	return m.Each(x.Size, func(v []float64) float64 {
		if v[0] != 0 {
			return v[1]
		}
		return v[2]
	}, mask, x, y)
}

// Keep is x where y is not 0, and 0 elsewhere.
func (m *Meter) Keep(x, y *Array) *Array {
	return m.Each(0, func(v []float64) float64 {
		if v[1] == 0 {
			return 0
		}
		return v[0]
	}, x, y)
}

// Sigmoid is 1/(1+e⁻ᵛ) of one number.
func (m *Meter) Sigmoid(v float64) float64 {
	return m.Over(1, m.Plus(1, m.Apply(math.Exp, m.Negative(v))))
}

// SiLUSlope is g times the derivative of x·σ(x), in one pass.
func (m *Meter) SiLUSlope(g, x *Array) *Array {
	return m.Each(0, func(v []float64) float64 {
		s := m.Sigmoid(v[1])
		return m.Times(v[0], m.Times(s, m.Plus(1, m.Times(v[1], m.Minus(1, s)))))
	}, g, x)
}

// Sum adds up over axes; keep leaves them with size 1.
func (m *Meter) Sum(x *Array, axes []int, keep bool) *Array {
	size := x.Size
	if size == 1 { // sums of a mask are int64
		size = 8
	}
	return m.Fold(x, axes, keep, size, 0, m.Plus, nil)
}

// Mean is the mean over axes.
func (m *Meter) Mean(x *Array, axes []int, keep bool) *Array {
	return m.Reduce(x, axes, keep, x.Size, m.mean)
}

func (m *Meter) mean(run []float64) float64 { return m.Over(m.sum(run), float64(len(run))) }

func (m *Meter) sum(run []float64) float64 {
	sum := 0.
	for _, v := range run {
		sum = m.Plus(sum, v)
	}
	return sum
}

// Largest is the largest number of a run.
func (m *Meter) Largest(run []float64) float64 {
	best := math.Inf(-1)
	for _, v := range run {
		best = m.Larger(best, v)
	}
	return best
}

// Squares is Σ (x - mean)², for which the differences are computed once.
func (m *Meter) Squares(run []float64) (mean, sum float64, differences []float64) {
	mean = m.mean(run)
	for _, v := range run {
		d := m.Minus(v, mean)
		differences = append(differences, d)
		sum = m.Plus(sum, m.Times(d, d))
	}
	return mean, sum, differences
}

// SumTo sums over what broadcasting added or repeated.
func (m *Meter) SumTo(g *Array, shape []int) *Array {
	if slices.Equal(g.Shape, shape) {
		return g
	}
	var axes []int
	extra := len(g.Shape) - len(shape)
	for axis, size := range g.Shape {
		if axis < extra || shape[axis-extra] == 1 && size > 1 {
			axes = append(axes, axis)
		}
	}
	if axes == nil {
		return g.Reshape(shape...)
	}
	return m.Sum(g, axes, true).Reshape(shape...)
}

// Back expands the result of a reduction to the shape of its input.
func Back(x *Array, axes []int, shape []int) *Array {
	kept := slices.Clone(shape)
	for axis := range kept {
		if axes == nil || slices.Contains(axes, axis) {
			kept[axis] = 1
		}
	}
	return x.Reshape(kept...).Expand(shape)
}

// Matmul multiplies the matrices in the last two axes; batches are broadcast.
func (m *Meter) Matmul(x, y *Array) *Array {
	a, b := len(x.Shape), len(y.Shape)
	rows, inner, columns := x.Shape[a-2], x.Shape[a-1], y.Shape[b-1]
	batch := commonShape([]*Array{{Shape: x.Shape[:a-2]}, {Shape: y.Shape[:b-2]}})
	x, y = x.Expand(slices.Concat(batch, []int{rows, inner})), y.Expand(slices.Concat(batch, []int{inner, columns}))
	shape := slices.Concat(batch, []int{rows, columns})
	return m.Pass(shape, x.Size, func(i int, read Read) float64 {
		index := Position(i, shape)
		last := len(index)
		left, right := slices.Clone(index), slices.Clone(index)
		sum := 0.
		for k := range inner {
			left[last-1], right[last-2] = k, k
			sum = m.Plus(sum, m.Times(read(0, Flat(left, x.Shape)), read(1, Flat(right, y.Shape))))
		}
		return sum
	}, x, y)
}

// Flip reverses the order along an axis.
func (m *Meter) Flip(x *Array, axis int) *Array {
	return m.Rows(axis, func(rows [][]float64) []float64 { slices.Reverse(rows[0]); return rows[0] }, x)
}

// Cumsum adds up along an axis.
func (m *Meter) Cumsum(x *Array, axis int) *Array {
	return m.Rows(axis, func(rows [][]float64) []float64 {
		sum := 0.
		for i, v := range rows[0] {
			sum = m.Plus(sum, v)
			rows[0][i] = sum
		}
		return rows[0]
	}, x)
}

// Into adds the elements of g into zeros, at the places that place gives; this counts
// unless each has its own place.
func (m *Meter) Into(g *Array, shape []int, adds bool, place func(index []int) []int) *Array {
	sources := map[int][]int{}
	for i := range g.Values {
		at := Flat(place(Position(i, g.Shape)), shape)
		sources[at] = append(sources[at], i)
	}
	return m.Pass(shape, g.Size, func(i int, read Read) float64 {
		sum := 0.
		for _, from := range sources[i] {
			if adds {
				sum = m.Plus(sum, read(0, from))
			} else {
				sum = read(0, from)
			}
		}
		return sum
	}, g)
}

// LayerNorm normalizes rows of n elements.
func (m *Meter) LayerNorm(x, w, b *Array, n int, eps float64) *Array {
	flat := func(a *Array) *Array { return a.Reshape(len(a.Values)/n, n) }
	return m.Rows(1, func(rows [][]float64) []float64 {
		_, sum, differences := m.Squares(rows[0])
		scale := m.Over(1, m.Apply(math.Sqrt, m.Plus(m.Over(sum, float64(n)), eps)))
		for i, d := range differences {
			differences[i] = m.Plus(m.Times(m.Times(d, scale), rows[1][i]), rows[2][i])
		}
		return differences
	}, flat(x), flat(w), flat(b)).Reshape(x.Shape...)
}
