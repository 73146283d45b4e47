package einops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// Sizes holds axis lengths by name, in the order of the pattern.
type Sizes []Size

// Of returns the length of a named axis. It panics with an [*Error] if there is no
// axis of that name.
func (s Sizes) Of(name string) int {
	known := make([]string, len(s))
	for i, size := range s {
		if size.Name == name {
			return size.Len
		}
		known[i] = size.Name
	}
	hint := nearest(name, known)
	if hint == "" && len(known) > 0 {
		hint = "there are " + names(known)
	}
	must(&Error{Kind: ErrLength, Op: "size", Reason: fmt.Sprintf("there is no axis %q", name), Hint: hint})
	return 0
}

// String returns "batch=2, seq=3".
func (s Sizes) String() string { return joined(s, ", ") }

// ParseShape returns the lengths of the axes of x that a pattern names: "_" and ...
// skip axes; 1, () and other numbers check them. Composed axes are taken apart if
// enough lengths are given.
//
//	s := einops.ParseShape(x, "batch _ height width")
//	einops.Rearrange(y, "(b h w) c -> b c h w", einops.Axis("b", s.Of("batch")), ...)
//
// It panics with an [*Error] if the pattern is not well formed or does not fit.
func ParseShape(x *tensor.Tensor, pattern string, axes ...Size) Sizes {
	p := planFor(parsing, pattern, x)
	shape := x.Shape()
	lengths := make([]int, len(p.axes))
	if len(axes) == 0 {
		for i, b := range p.input {
			if len(b.axes) > 1 {
				err := p.sizeError(shape, nil, unknown, ErrLength, fmt.Sprintf("axis %d is composed of several, whose lengths are not given", i), "pass lengths with einops.Axis, or name the axis as one")
				err.Start, err.End = b.start, b.end
				must(err)
			}
		}
	}
	must(p.solve(shape, axes, lengths))
	var s Sizes
	for i, a := range p.axes {
		if strings.Trim(a.name, "._") != "" {
			s = append(s, Size{Name: a.name, Len: lengths[i]})
		}
	}
	return slices.Clip(s)
}
