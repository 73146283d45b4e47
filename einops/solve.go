package einops

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/lectern-go/lectern/tensor"
)

// solve fills sizes, one for each elementary axis, from the given lengths and the
// shape, size(i) for axis i of the tensor.
func (p *plan) solve(shape []int, given []Size, sizes []int) *Error {
	for i := range p.axes {
		sizes[i] = p.axes[i].length
	}
	for _, g := range given {
		at := p.find(g.Name)
		switch {
		case at == unknown || g.Name == "..." || g.Name == "_" || g.Name == "":
			return p.unused(shape, g.Name)
		case g.into != nil:
		case g.Len < 0 || g.Len > maxLength:
			return p.sizeError(shape, sizes, at, ErrLength, fmt.Sprintf("the length %d given for axis %q is not possible", g.Len, p.axes[at].name), "")
		case sizes[at] != unknown && sizes[at] != g.Len:
			return p.sizeError(shape, sizes, at, ErrLength, fmt.Sprintf("axis %q is given two lengths, %d and %d", p.axes[at].name, sizes[at], g.Len), "")
		default:
			sizes[at] = g.Len
		}
	}
	for i := range p.input {
		if err := p.solveAxis(shape, i, sizes); err != nil {
			return err
		}
	}
	for at := p.old; at < len(p.axes); at++ {
		if sizes[at] == unknown {
			return p.sizeError(shape, sizes, at, ErrLength, fmt.Sprintf("the length of the new axis %q is not given", p.axes[at].name),
				fmt.Sprintf("pass einops.Axis(%q, length)", p.axes[at].name))
		}
	}
	for _, g := range given {
		if g.into != nil {
			*g.into = sizes[p.find(g.Name)]
		}
	}
	return nil
}

// solveAxis works out the elementary axes of one axis of the input: at most
// one may be unknown.
func (p *plan) solveAxis(shape []int, i int, sizes []int) *Error {
	b := &p.input[i]
	missing, known := unknown, 1
	for _, a := range b.axes {
		switch {
		case sizes[a] != unknown:
			known = capped(known, sizes[a])
		case missing == unknown:
			missing = a
		default:
			var open []string
			for _, a := range b.axes {
				if sizes[a] == unknown {
					open = append(open, p.axes[a].name)
				}
			}
			err := p.sizeError(shape, sizes, missing, ErrLength, fmt.Sprintf("axis %d has size %d, and the lengths of %s can't both be worked out from it",
				i, shape[i], names(open)), fmt.Sprintf("pass einops.Axis(%q, length)", open[0]))
			err.Start, err.End = b.start, b.end
			return err
		}
	}
	at := func(reason, hint string) *Error {
		err := p.sizeError(shape, sizes, missing, tensor.ErrShape, reason, hint)
		err.Start, err.End = b.start, b.end
		return err
	}
	size := shape[i]
	switch {
	case missing == unknown && size != known:
		hint := ""
		if slices.ContainsFunc(b.axes, func(a int) bool { return p.axes[a].name != "" }) {
			hint = "leave out one length, and it will be worked out"
		}
		return at(fmt.Sprintf("axis %d has size %d, not %s", i, size, p.product(b, sizes)), hint)
	case missing == unknown:
	case known == 0:
		return at(fmt.Sprintf("the length of %q can't be worked out: a length beside it is 0", p.axes[missing].name), "")
	case size%known != 0:
		return at(fmt.Sprintf("axis %d has size %d, not divisible by %s", i, size, p.product(b, sizes)), divisors(size, known))
	default:
		sizes[missing] = size / known
	}
	return nil
}

// divisors suggests the lengths nearest to n that divide size.
func divisors(size, n int) string {
	if n > size || size > 1<<20 {
		return ""
	}
	below, above := n, n
	for size%below != 0 {
		below--
	}
	for size%above != 0 {
		above++
	}
	return fmt.Sprintf("%d and %d divide %d", below, above, size)
}

// product writes the known lengths of a bundle: "h=4", or "h·w = 2·3 = 6".
func (p *plan) product(b *bundle, sizes []int) string {
	var known, values []string
	total := 1
	for _, a := range b.axes {
		if sizes[a] == unknown {
			continue
		}
		name := p.axes[a].name
		if name == "" {
			name = fmt.Sprint(sizes[a])
		}
		known, values = append(known, name), append(values, fmt.Sprint(sizes[a]))
		total = capped(total, sizes[a])
	}
	switch {
	case len(known) == 0:
		return "1"
	case len(known) == 1 && known[0] == values[0]:
		return known[0]
	case len(known) == 1:
		return known[0] + "=" + values[0]
	}
	return fmt.Sprintf("%s = %s = %d", joined(known, "·"), joined(values, "·"), total)
}

// capped multiplies lengths; products too large for any tensor stay at a number that
// fits none.
func capped(a, b int) int {
	if high, low := bits.Mul64(uint64(a), uint64(b)); high == 0 && low < 1<<62 {
		return int(low)
	}
	return 1 << 62
}

// unused refuses a length for an axis that is not in the pattern.
func (p *plan) unused(shape []int, name string) *Error {
	var known []string
	for _, a := range p.axes {
		if a.name != "" && a.name != "..." && a.name != "_" {
			known = append(known, a.name)
		}
	}
	hint := nearest(name, known)
	if hint == "" && len(known) > 0 {
		hint = "its axes are " + names(known)
	}
	err := p.fail(0, len(p.pattern), fmt.Sprintf("a length is given for axis %q, which the pattern does not have", name), hint)
	err.Kind, err.Shapes = ErrLength, [][]int{slices.Clone(shape)}
	return err
}

// sizeError describes a failure with the sizes known so far; at is the elementary axis
// to mark.
func (p *plan) sizeError(shape, sizes []int, at int, kind error, reason, hint string) *Error {
	e := &Error{Kind: kind, Op: p.op, Pattern: p.pattern, Reason: reason, Hint: hint, Shapes: [][]int{slices.Clone(shape)}}
	if at != unknown {
		e.Start, e.End = p.axes[at].start, p.axes[at].end
	}
	for i, a := range p.axes {
		if i < len(sizes) && sizes[i] != unknown && a.name != "" && a.name != "..." && a.name != "_" {
			e.Sizes = append(e.Sizes, Size{Name: a.name, Len: sizes[i]})
		}
	}
	return e
}
