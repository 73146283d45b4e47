package einops

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// Einsum multiplies tensors and sums the products over every axis that the
// output does not name:
//
//	einops.Einsum("batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2", x, y)
//
// is, for each batch, seq1 and seq2, the sum over hidden of x times y. Axes of
// different operands with the same name are one axis; a size of 1 is repeated to the
// size of the others. An axis named twice in one operand takes the diagonal. ...
// stands for any axes, matched from the last one back and repeated in the same way.
//
// Two operands become one batched matrix product, which reads them with their
// strides, without copies; only axes that have to be joined and do not follow
// each other in memory are copied. With three or more, the order of the products
// is the one with the fewest multiplications ([ExplainEinsum] shows it). The
// result is new, or a view if the pattern only permutes axes or takes diagonals of one
// operand; its axes may be strided.
//
// It panics with an [*Error] if the pattern is not well formed, if sizes or dtypes
// differ, or if the number of operands is wrong.
func Einsum(pattern string, operands ...*tensor.Tensor) *tensor.Tensor {
	return einsum("einsum", pattern, operands)
}

// EinsumStrict is [Einsum], but refuses what is allowed but more often a slip than
// intended: a name that appears only once in the whole pattern (Einsum silently sums
// over a misspelt axis), and an axis of size 1 that meets a larger one of the same
// name.
func EinsumStrict(pattern string, operands ...*tensor.Tensor) *tensor.Tensor {
	return einsum("strict einsum", pattern, operands)
}

// maxNames is how many different axes an einsum may have: they are bits of a
// word.
const maxNames = 64

// contraction is an einsum pattern worked out for operands of given ranks.
type contraction struct {
	parser
	names  []string // axes, in the order of their first use; "..." for those of an ellipsis
	in     [][]label
	out    []label
	latest atomic.Pointer[program] // of the shapes seen last
}

// label is one axis of an operand or of the output.
type label struct {
	axis       int // index into names
	start, end int
}

func einsum(op, pattern string, operands []*tensor.Tensor) *tensor.Tensor {
	for i, x := range operands {
		if x == nil {
			must(&Error{Kind: ErrOperand, Op: op, Pattern: pattern, End: len(pattern), Reason: fmt.Sprintf("operand %d is nil", i)})
		}
	}
	c := contractionFor(op, pattern, operands)
	p := c.latest.Load()
	if p == nil || !p.fits(operands) {
		shapes := make([]dims, len(operands))
		for i, x := range operands {
			shapes[i] = dims{x.Shape(), x.Strides(), x.Dtype()}
		}
		var err *Error
		p, err = c.compile(shapes)
		must(err)
		c.latest.Store(p)
	}
	return p.run(operands)
}

// dims is what a program depends on.
type dims struct {
	shape, strides []int
	dtype          tensor.Dtype
}

type einsumKey struct {
	op, pattern string
	count       int
	ranks       [16]uint8
}

var contractions = cache[einsumKey, *contraction]{limit: 512}

func contractionFor(op, pattern string, operands []*tensor.Tensor) *contraction {
	key := einsumKey{op: op, pattern: pattern, count: len(operands)}
	cached := len(operands) <= len(key.ranks)
	for i, x := range operands {
		if cached = cached && x.Dim() < 256; cached {
			key.ranks[i] = uint8(x.Dim())
		}
	}
	if cached {
		if c, ok := contractions.get(key); ok {
			return c
		}
	}
	ranks := make([]int, len(operands))
	for i, x := range operands {
		ranks[i] = x.Dim()
	}
	c, err := newContraction(op, pattern, ranks)
	if err != nil {
		for _, x := range operands {
			err.Shapes = append(err.Shapes, x.Shape())
		}
	}
	must(err)
	if cached {
		contractions.put(key, c)
	}
	return c
}

// newContraction reads a pattern for operands of the given ranks.
func newContraction(op, pattern string, ranks []int) (*contraction, *Error) {
	c := &contraction{parser: parser{op, pattern}}
	arrow, err := c.arrow()
	if err != nil {
		return nil, err
	}
	var sides []*side
	for start := 0; ; {
		end := arrow
		if comma := strings.IndexByte(pattern[start:arrow], ','); comma >= 0 {
			end = start + comma
		}
		s, err := c.operand(start, end, rules{underscore: true, duplicates: true})
		if err != nil {
			return nil, err
		}
		sides = append(sides, s)
		if end == arrow {
			break
		}
		start = end + 1
	}
	right, err := c.operand(arrow+2, len(pattern), rules{})
	if err != nil {
		return nil, err
	}
	if len(sides) != len(ranks) {
		err := c.fail(0, arrow, fmt.Sprintf("the pattern is for %s, %d given", humanize.Count(len(sides), "operand"), len(ranks)), "separate operands with commas")
		err.Kind = ErrOperand
		return nil, err
	}
	ellipsis := 0 // axes of the longest one
	for i, s := range sides {
		n := len(s.groups)
		if s.ellipsis != nil {
			n--
			ellipsis = max(ellipsis, ranks[i]-n)
		}
		if s.ellipsis == nil && n != ranks[i] || n > ranks[i] {
			err := c.fail(s.start, s.end, fmt.Sprintf("the pattern of operand %d is for %s, the tensor has %d", i, atLeast(s.ellipsis != nil, n), ranks[i]),
				"name every axis once, or let ... stand for those left out")
			err.Kind = tensor.ErrShape
			return nil, err
		}
	}
	for range ellipsis {
		c.names = append(c.names, "...")
	}
	for i, s := range sides {
		c.in = append(c.in, c.labels(s, ranks[i]-len(s.groups)+1, ellipsis, true))
	}
	if right.ellipsis == nil && ellipsis > 0 {
		for _, s := range sides {
			if s.ellipsis != nil {
				return nil, c.fail(s.ellipsis.start, s.ellipsis.end, "the output does not have the ellipsis of the operands", "write ... in the output, or name the axes to sum over")
			}
		}
	}
	known := c.names[ellipsis:]
	for _, g := range right.groups {
		if name := g.items[0].name; !g.isEllipsis() && !slices.Contains(known, name) {
			hint := nearest(name, known)
			if hint == "" {
				hint = "name it in an operand"
			}
			return nil, c.fail(g.start, g.end, fmt.Sprintf("axis %q of the output is in no operand", name), hint)
		}
	}
	c.out = c.labels(right, ellipsis, ellipsis, false)
	if len(c.names) > maxNames {
		return nil, c.fail(0, len(pattern), fmt.Sprintf("the pattern has %s, more than %d", humanize.Count(len(c.names), "axis"), maxNames), "multiply in several steps")
	}
	if op == "strict einsum" {
		return c, c.strictNames()
	}
	return c, nil
}

// operand reads one list of axes; an einsum composes none.
func (c *contraction) operand(start, end int, r rules) (*side, *Error) {
	s, err := c.side(start, end, r)
	if err != nil {
		return nil, err
	}
	for _, g := range s.groups {
		switch {
		case len(g.items) == 0:
			return nil, c.fail(g.start, g.end, "an einsum can't use axes of length 1 without a name", "name the axis, or use Rearrange before or after")
		case g.paren:
			return nil, c.fail(g.start, g.end, "an einsum can't compose axes", "use Rearrange before or after")
		case g.items[0].length > 0:
			return nil, c.fail(g.start, g.end, "an einsum can't use axes without a name", "name the axis")
		}
	}
	return s, nil
}

// labels numbers the axes of a side whose ellipsis stands for n axes. Ellipses
// are matched from the last axis back.
func (c *contraction) labels(s *side, n, longest int, add bool) []label {
	var out []label
	for _, g := range s.groups {
		if g.isEllipsis() {
			for i := range n {
				out = append(out, label{longest - n + i, g.start, g.end})
			}
			continue
		}
		name := g.items[0].name
		at := slices.Index(c.names[longest:], name)
		if at < 0 && add {
			c.names = append(c.names, name)
			at = len(c.names) - longest - 1
		}
		out = append(out, label{longest + at, g.start, g.end})
	}
	return out
}

// strictNames refuses names that appear only once.
func (c *contraction) strictNames() *Error {
	uses := make([]int, len(c.names))
	for _, list := range append(slices.Clone(c.in), c.out) {
		for _, l := range list {
			uses[l.axis]++
		}
	}
	for _, list := range c.in {
		for _, l := range list {
			if name := c.names[l.axis]; uses[l.axis] == 1 && name != "..." {
				others := slices.DeleteFunc(slices.Clone(c.names), func(s string) bool { return s == name })
				hint := nearest(name, others)
				if hint == "" {
					hint = "to sum over it on its own, use Einsum or Reduce"
				}
				err := c.fail(l.start, l.end, fmt.Sprintf("axis %q appears only once", name), hint)
				err.Kind = ErrStrict
				return err
			}
		}
	}
	return nil
}

// sizes works out the size of each axis and checks that operands agree.
func (c *contraction) sizes(operands []dims) ([]int, *Error) {
	sizes := make([]int, len(c.names))
	from := make([]string, len(c.names))
	for i := range sizes {
		sizes[i] = unknown
	}
	fail := func(l label, kind error, reason, hint string) *Error {
		err := c.fail(l.start, l.end, reason, hint)
		err.Kind = kind
		for _, o := range operands {
			err.Shapes = append(err.Shapes, o.shape)
		}
		for i, n := range sizes {
			if n != unknown && c.names[i] != "..." && c.names[i] != "_" {
				err.Sizes = append(err.Sizes, Size{Name: c.names[i], Len: n})
			}
		}
		return err
	}
	for i, o := range operands {
		if o.dtype != operands[0].dtype || o.dtype == tensor.Bool {
			hint := "convert one with To"
			reason := fmt.Sprintf("operand 0 is %s and operand %d is %s", operands[0].dtype, i, o.dtype)
			if o.dtype == operands[0].dtype {
				reason, hint = "bools can't be multiplied and added", "convert them with To(tensor.Int64)"
			}
			return nil, fail(label{start: 0, end: len(c.pattern)}, tensor.ErrDtype, reason, hint)
		}
		seen := map[int]int{}
		for j, l := range c.in[i] {
			n, name := o.shape[j], c.names[l.axis]
			here := fmt.Sprintf("%d (axis %d of operand %d)", n, j, i)
			other, again := seen[l.axis]
			seen[l.axis] = n
			switch {
			case again && other != n:
				return nil, fail(l, tensor.ErrShape, fmt.Sprintf("axis %q is %d and %d in one operand; a diagonal needs equal sizes", name, other, n), "")
			case sizes[l.axis] == unknown || sizes[l.axis] == n:
			case (sizes[l.axis] == 1 || n == 1) && (c.op != "strict einsum" || name == "..."):
			case sizes[l.axis] == 1 || n == 1:
				return nil, fail(l, ErrStrict, fmt.Sprintf("axis %q has sizes %s and %s", name, from[l.axis], here), "repeat the axis of size 1 with Repeat or Expand first")
			default:
				return nil, fail(l, tensor.ErrShape, fmt.Sprintf("axis %q has sizes %s and %s", name, from[l.axis], here), "axes of different sizes need different names")
			}
			if sizes[l.axis] == unknown || sizes[l.axis] == 1 {
				sizes[l.axis], from[l.axis] = n, here
			}
		}
	}
	return sizes, nil
}
