package einops

import (
	"cmp"
	"slices"

	"github.com/lectern-go/lectern/tensor"
)

// program is an einsum worked out for operands of given shapes and strides: the tensor
// operations to run. Operands are numbered; the result of a product takes the number
// after the last.
type program struct {
	operands []dims
	steps    []instruction
	results  int // tensors that a run holds
}

type opcode int

const (
	takeDiagonal opcode = iota // args: two axes
	dropAxes                   // args: shape without axes of size 1 that are repeated by others
	sumAxes                    // args: axes
	multiply                   // a product without a sum: elementwise, repeated as needed
	matmul                     // a batched matrix product
	permute                    // args: the order of the output
)

// instruction is one step. A unary one replaces tensor a, and a product makes tensor
// out from a and b: each is permuted and reshaped first, and the product reshaped
// afterwards; nil arguments skip that.
type instruction struct {
	code                   opcode
	args                   []int
	a, b, out              int
	orderA, orderB         []int
	shapeA, shapeB, shapeC []int

	labels []int // axes of the result, for explanations
	sizes  []int
	sums   []int
	flops  float64
}

// fits reports whether the program is for operands like these.
func (p *program) fits(operands []*tensor.Tensor) bool {
	for i, x := range operands {
		d := &p.operands[i]
		if x.Dtype() != d.dtype {
			return false
		}
		for j := range d.shape {
			if x.Size(j) != d.shape[j] || x.Stride(j) != d.strides[j] {
				return false
			}
		}
	}
	return true
}

func (p *program) run(operands []*tensor.Tensor) *tensor.Tensor {
	var room [8]*tensor.Tensor
	t := room[:]
	if p.results > len(room) {
		t = make([]*tensor.Tensor, p.results)
	}
	copy(t, operands)
	for i := range p.steps {
		s := &p.steps[i]
		switch s.code {
		case takeDiagonal:
			t[s.a] = t[s.a].Diagonal(0, s.args[0], s.args[1])
		case dropAxes:
			t[s.a] = t[s.a].View(s.args...)
		case sumAxes:
			t[s.a] = t[s.a].Sum(s.args...).To(t[s.a].Dtype())
		case permute:
			t[s.a] = t[s.a].Permute(s.args...)
		default:
			a, b := arranged(t[s.a], s.orderA, s.shapeA), arranged(t[s.b], s.orderB, s.shapeB)
			t[s.a], t[s.b] = nil, nil
			if s.code == matmul {
				a = a.Matmul(b)
			} else {
				a = a.Mul(b)
			}
			t[s.out] = arranged(a, nil, s.shapeC)
		}
	}
	return t[p.results-1]
}

func arranged(t *tensor.Tensor, order, shape []int) *tensor.Tensor {
	if order != nil {
		t = t.Permute(order...)
	}
	if shape != nil {
		t = t.Reshape(shape...)
	}
	return t
}

// term is an intermediate tensor: for each of its axes, the axis of the einsum that it
// is, with sizes and strides.
type term struct {
	id     int
	labels []int
	sizes  []int
	stride []int
}

func (t *term) set() (s uint64) {
	for _, l := range t.labels {
		s |= 1 << l
	}
	return s
}

func (t *term) without(at int) {
	t.labels, t.sizes, t.stride = slices.Delete(t.labels, at, at+1), slices.Delete(t.sizes, at, at+1), slices.Delete(t.stride, at, at+1)
}

// compile chooses the operations for operands of given shapes.
func (c *contraction) compile(operands []dims) (*program, *Error) {
	sizes, err := c.sizes(operands)
	if err != nil {
		return nil, err
	}
	p := &program{operands: operands, results: 2*len(operands) - 1}
	var kept uint64
	for _, l := range c.out {
		kept |= 1 << l.axis
	}
	terms := make([]*term, len(operands))
	for i, o := range operands {
		terms[i] = &term{id: i, sizes: slices.Clone(o.shape), stride: slices.Clone(o.strides)}
		for _, l := range c.in[i] {
			terms[i].labels = append(terms[i].labels, l.axis)
		}
		p.simplify(terms[i], sizes)
	}
	for i, t := range terms {
		others := kept
		for j, o := range terms {
			if i != j {
				others |= o.set()
			}
		}
		p.sumAlone(t, others)
	}
	last := terms[0]
	sets := make([]uint64, len(terms))
	for i, t := range terms {
		sets[i] = t.set()
	}
	next := len(operands)
	for _, pair := range order(sets, kept, sizes) {
		a, b := terms[pair[0]], terms[pair[1]]
		terms[pair[0]], terms[pair[1]] = nil, nil
		needed := kept
		for _, t := range terms {
			if t != nil {
				needed |= t.set()
			}
		}
		last = p.product(a, b, next, needed, c.out)
		terms = append(terms, last)
		next++
	}
	want := make([]int, len(c.out))
	for i, l := range c.out {
		want[i] = slices.Index(last.labels, l.axis)
	}
	if !slices.IsSorted(want) {
		p.steps = append(p.steps, instruction{code: permute, a: last.id, args: want})
		ordered := &term{}
		for _, i := range want {
			ordered.labels, ordered.sizes = append(ordered.labels, last.labels[i]), append(ordered.sizes, last.sizes[i])
		}
		p.describe(ordered)
	}
	return p, nil
}

// describe notes what the latest step makes.
func (p *program) describe(t *term) {
	s := &p.steps[len(p.steps)-1]
	s.labels, s.sizes = slices.Clone(t.labels), slices.Clone(t.sizes)
}

// simplify takes diagonals of axes that are named twice, and drops axes of size
// 1 that others repeat: a product repeats them by itself.
func (p *program) simplify(t *term, sizes []int) {
	for again := true; again; {
		again = false
		for i, l := range t.labels {
			j := slices.Index(t.labels[i+1:], l) + i + 1
			if j == i {
				continue
			}
			n, stride := t.sizes[i], t.stride[i]+t.stride[j]
			t.without(j)
			t.without(i)
			t.labels, t.sizes, t.stride = append(t.labels, l), append(t.sizes, n), append(t.stride, stride)
			p.steps = append(p.steps, instruction{code: takeDiagonal, a: t.id, args: []int{i, j}})
			p.describe(t)
			again = true
			break
		}
	}
	dropped := false
	for i := len(t.labels) - 1; i >= 0; i-- {
		if t.sizes[i] == 1 && sizes[t.labels[i]] != 1 {
			t.without(i)
			dropped = true
		}
	}
	if dropped {
		p.steps = append(p.steps, instruction{code: dropAxes, a: t.id, args: slices.Clone(t.sizes)})
		p.describe(t)
	}
}

// sumAlone sums over the axes that nothing else has, before any product, where that is
// cheapest.
func (p *program) sumAlone(t *term, others uint64) {
	var axes, labels []int
	flops := 1.
	for i, l := range t.labels {
		flops *= float64(t.sizes[i])
		if others&(1<<l) == 0 {
			axes, labels = append(axes, i), append(labels, l)
		}
	}
	if len(axes) == 0 {
		return
	}
	for _, at := range slices.Backward(axes) {
		t.without(at)
	}
	rowMajor(t)
	p.steps = append(p.steps, instruction{code: sumAxes, a: t.id, args: axes, sums: labels, flops: flops})
	p.describe(t)
}

// rowMajor gives a term the strides of a new tensor.
func rowMajor(t *term) {
	stride := 1
	for i := len(t.sizes) - 1; i >= 0; i-- {
		t.stride[i] = stride
		stride *= max(t.sizes[i], 1)
	}
}

// product multiplies two terms. Their axes are of four kinds:
//
//	batch  in both and in the result    one matrix product for each
//	rows   in the first only            m of an m×k matrix
//	cols   in the second only           n of a k×n matrix
//	sums   in both, not in the result   k
//
// Several axes of one kind are joined into one, in the order of their strides,
// so that memory in any order is joined without a copy where that is possible.
func (p *program) product(a, b *term, id int, needed uint64, out []label) *term {
	rank := func(l int) int { return slices.IndexFunc(out, func(o label) bool { return o.axis == l }) }
	// The columns of a product vary fastest: give them to the operand that has the axis
	// that should come last, so that the result needs no permutation.
	last := func(t, other *term) int {
		latest := unknown
		for _, l := range t.labels {
			if !slices.Contains(other.labels, l) {
				latest = max(latest, rank(l))
			}
		}
		return latest
	}
	if lastA, lastB := last(a, b), last(b, a); lastA > lastB && lastB != unknown {
		a, b = b, a
	}
	f := factors{a: a, b: b}
	f.divide(needed, rank)
	t := &term{id: id, labels: slices.Concat(f.batch, f.rows, f.cols)}
	if len(f.sums) == 0 { // elementwise: any order will do, so take that of the output, the rest last
		slices.SortStableFunc(t.labels, func(x, y int) int { return cmp.Compare(uint(rank(x)), uint(rank(y))) })
	}
	t.sizes = f.list(t.labels)
	t.stride = make([]int, len(t.labels))
	rowMajor(t)

	s := instruction{a: a.id, b: b.id, out: id, sums: f.sums, flops: float64(product(t.sizes))}
	if len(f.sums) == 0 {
		s.code = multiply
		s.orderA, s.shapeA = a.spread(t)
		s.orderB, s.shapeB = b.spread(t)
	} else {
		f.matmul(&s, t)
	}
	p.steps = append(p.steps, s)
	p.describe(t)
	return t
}

// factors are two terms with their axes by kind; see [program.product].
type factors struct {
	a, b                    *term
	batch, rows, cols, sums []int
}

// divide finds the kinds of the axes. rank is an axis' place in the result.
func (f *factors) divide(needed uint64, rank func(l int) int) {
	for _, l := range f.a.labels {
		switch inB := slices.Contains(f.b.labels, l); {
		case inB && needed&(1<<l) != 0:
			f.batch = append(f.batch, l)
		case inB:
			f.sums = append(f.sums, l)
		default:
			f.rows = append(f.rows, l)
		}
	}
	for _, l := range f.b.labels {
		if !slices.Contains(f.a.labels, l) {
			f.cols = append(f.cols, l)
		}
	}
	slices.SortStableFunc(f.batch, func(x, y int) int { return cmp.Compare(rank(x), rank(y)) })
	byStride := func(t *term, labels []int) {
		slices.SortStableFunc(labels, func(x, y int) int {
			return cmp.Compare(t.stride[slices.Index(t.labels, y)], t.stride[slices.Index(t.labels, x)])
		})
	}
	byStride(f.a, f.rows)
	byStride(f.b, f.cols)
	larger := f.a
	if product(f.b.sizes) > product(f.a.sizes) {
		larger = f.b
	}
	byStride(larger, f.sums)
}

// list returns the sizes of axes.
func (f *factors) list(labels []int) (n []int) {
	for _, l := range labels {
		t := f.a
		if !slices.Contains(t.labels, l) {
			t = f.b
		}
		n = append(n, t.sizes[slices.Index(t.labels, l)])
	}
	return n
}

// matmul makes s the product of matrices that gives t: how they are permuted
// and reshaped before, and t after.
func (f *factors) matmul(s *instruction, t *term) {
	total := func(labels []int) int { return product(f.list(labels)) }
	s.code = matmul
	s.flops *= 2 * float64(total(f.sums))
	s.orderA = permutation(f.a.labels, slices.Concat(f.batch, f.rows, f.sums))
	s.orderB = permutation(f.b.labels, slices.Concat(f.batch, f.sums, f.cols))
	m, k, n := []int{total(f.rows)}, []int{total(f.sums)}, []int{total(f.cols)}
	if len(f.batch) == 0 {
		if len(f.sums) == 1 || len(f.rows) == 0 {
			m = f.list(f.rows) // rows of one matrix need not be joined, and a vector has none
		}
		if len(f.cols) == 0 {
			n = nil
		}
	}
	if len(m) != len(f.rows) || len(f.sums) != 1 {
		s.shapeA = slices.Concat(f.list(f.batch), m, k)
	}
	if len(f.sums) != 1 || len(n) != len(f.cols) {
		s.shapeB = slices.Concat(f.list(f.batch), k, n)
	}
	if len(m) != len(f.rows) || len(n) != len(f.cols) {
		s.shapeC = append([]int{}, t.sizes...)
	}
}

// spread returns how to permute and reshape t so that it is broadcast to the
// axes of result.
func (t *term) spread(result *term) (order, shape []int) {
	var own []int
	for i, l := range result.labels {
		switch {
		case slices.Contains(t.labels, l):
			own, shape = append(own, l), append(shape, result.sizes[i])
		case len(own) > 0:
			shape = append(shape, 1)
		}
	}
	if len(shape) == len(own) {
		shape = nil
	}
	return permutation(t.labels, own), shape
}

// permutation returns the argument of Permute that brings axes from one order
// into another, or nil if they are in that order.
func permutation(from, to []int) []int {
	order := make([]int, len(to))
	for i, l := range to {
		order[i] = slices.Index(from, l)
	}
	if slices.IsSorted(order) {
		return nil
	}
	return order
}

func product(sizes []int) int {
	n := 1
	for _, size := range sizes {
		n *= size
	}
	return n
}
