package einops

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lectern-go/lectern/internal/callsite"
	"github.com/lectern-go/lectern/tensor"
)

// Check returns x if its shape is what the annotation says, and panics with an
// [*Error] that names the axis and both sizes otherwise.
//
//	q = einops.Check(q, "batch seq heads hidden")
//	w = einops.Check(w, "hidden hidden")                  // square: one name, one size
//	x = einops.Check(x, "x: float32 [batch 3 height width]")
//	m = einops.Check(m, "bool [... seq seq]")
//
// An annotation is a list of axes: a name, which stands for one size; a number; _ for
// any size; ... for any axes, and *name for any axes, remembered under a name; (heads
// hidden) for an axis that is a product. The list may be in brackets after a dtype
// ("float32", or "float", "int", "number" for any of a kind, or several as in
// "float16|bfloat16"), and all of it may follow a name of the tensor for messages and
// a colon.
//
// Names are compared within the annotation. To compare them across tensors use a
// [Scope]. [SetChecks] turns checks off.
func Check(x *tensor.Tensor, annotation string) *tensor.Tensor {
	if checksOff.Load() {
		return x
	}
	s := singles.Get().(*Scope)
	s.bound = s.bound[:0]
	must(s.check(x, annotation))
	singles.Put(s)
	return x
}

// singles are scopes for one annotation each, reused to save memory.
var singles = sync.Pool{New: func() any { return &Scope{single: true} }}

var checksOff atomic.Bool

// SetChecks turns the checks of [Check] and [Scope] on or off for the whole
// program and returns whether they were on. They are on at first. A check that is off
// costs one atomic load: a nanosecond.
func SetChecks(on bool) (was bool) { return !checksOff.Swap(!on) }

// A Scope checks several tensors whose axes must agree: a name that one check has
// bound to a size has that size in all later ones.
//
//	var s einops.Scope
//	s.Check(q, "q: batch heads seq1 hidden")
//	s.Check(k, "k: batch heads seq2 hidden")
//
// The zero value is ready. A nil *Scope checks nothing. Only one goroutine may use a scope
// at a time.
type Scope struct {
	bound  []binding
	checks int             // tensors checked so far
	here   *callsite.Place // of the running check, once it binds a name
	single bool            // for one annotation: places are not needed
}

// binding is the size that a name has, and who said so.
type binding struct {
	name   string
	len    int
	dims   []int // of a *name
	tensor string
	axis   int
	place  *callsite.Place
}

// Check is like the function [Check], with the names bound in this scope. New names
// are bound, unless the check fails.
func (s *Scope) Check(x *tensor.Tensor, annotation string) *tensor.Tensor {
	if s == nil || checksOff.Load() {
		return x
	}
	must(s.check(x, annotation))
	return x
}

// Bind fixes sizes beforehand, such as those of a configuration. It panics with an
// [*Error] if a name already has another size.
func (s *Scope) Bind(sizes ...Size) {
	if s == nil {
		return
	}
	s.here = nil
	for _, size := range sizes {
		if b := s.find(size.Name, false); b == nil {
			s.bound = append(s.bound, binding{name: strings.Clone(size.Name), len: size.Len, axis: unknown, place: s.place()})
		} else if b.len != size.Len {
			must(&Error{Kind: tensor.ErrShape, Op: "bind", Reason: fmt.Sprintf("axis %q can't be %d: it is %s", size.Name, size.Len, b.said()), Sizes: s.Sizes()})
		}
	}
}

// Size returns the size that a name has been bound to. It panics with an
// [*Error] if no check has bound it.
func (s *Scope) Size(name string) int { return s.Sizes().Of(name) }

// Sizes returns all sizes bound so far, in that order.
func (s *Scope) Sizes() Sizes {
	if s == nil {
		return nil
	}
	var list Sizes
	for i := range s.bound {
		if b := &s.bound[i]; b.dims == nil {
			list = append(list, Size{Name: b.name, Len: b.len})
		}
	}
	return list
}

func (s *Scope) find(name string, many bool) *binding {
	for i := range s.bound {
		if s.bound[i].name == name && (s.bound[i].dims != nil) == many {
			return &s.bound[i]
		}
	}
	return nil
}

// said tells where a name got its size: `2 by axis 0 of "q", at model.go:12`.
func (b *binding) said() string {
	size, by := fmt.Sprint(b.len), "Bind"
	switch {
	case b.dims != nil:
		size, by = fmt.Sprint(b.dims), fmt.Sprintf("the axes from %d on of %s", b.axis, b.tensor)
	case b.axis != unknown:
		by = fmt.Sprintf("axis %d of %s", b.axis, b.tensor)
	}
	if b.place != nil {
		if at := b.place.Position(); at != "" {
			by += ", at " + at
		}
	}
	return size + " by " + by
}

// check compares a tensor with an annotation and binds its new names. A failed
// check binds none.
func (s *Scope) check(x *tensor.Tensor, text string) *Error {
	a, err := annotationFor(text)
	if err != nil {
		return err
	}
	if x == nil {
		return a.error(s, nil, a.start, a.end, ErrOperand, "the tensor is nil", "")
	}
	s.checks++
	s.here = nil
	if !a.allows(x.Dtype()) {
		return a.error(s, x, a.typeStart, a.typeEnd, tensor.ErrDtype,
			fmt.Sprintf("%s is %s, not %s", a.tensor(s), x.Dtype(), text[a.typeStart:a.typeEnd]), "convert with To")
	}
	n := len(a.side.groups)
	skipped := 0
	if a.side.ellipsis != nil {
		n--
		skipped = x.Dim() - n
	}
	if skipped < 0 || a.side.ellipsis == nil && n != x.Dim() {
		return a.error(s, x, a.start, a.end, tensor.ErrShape,
			fmt.Sprintf("%s has %s, the annotation is for %s", a.tensor(s), atLeast(false, x.Dim()), atLeast(a.side.ellipsis != nil, n)),
			"name every axis once, or let ... stand for those left out")
	}
	before := len(s.bound)
	for pass := range 2 { // products last: they may need names that come after them
		axis := 0
		for i := range a.side.groups {
			g := &a.side.groups[i]
			var err *Error
			switch {
			case g.isEllipsis():
				if pass == 0 {
					err = s.checkMany(a, g, x, axis, skipped)
				}
				axis += skipped
			case (len(g.items) > 1) == (pass == 1):
				err = s.checkAxis(a, g, x, axis)
				axis++
			default:
				axis++
			}
			if err != nil {
				s.bound = s.bound[:before]
				return err
			}
		}
	}
	return nil
}

// checkAxis checks one axis of x against its part of the annotation.
func (s *Scope) checkAxis(a *annotation, g *group, x *tensor.Tensor, axis int) *Error {
	size := x.Size(axis)
	wrong := func(it item, reason string) *Error {
		return a.error(s, x, it.start, it.end, tensor.ErrShape, fmt.Sprintf("axis %d of %s has size %d%s", axis, a.tensor(s), size, reason), "")
	}
	if len(g.items) == 0 {
		if size != 1 {
			return wrong(item{start: g.start, end: g.end}, ", not 1")
		}
		return nil
	}
	known, open := 1, item{}
	for _, it := range g.items {
		if it.length > 0 {
			known = capped(known, it.length)
		} else if b := s.find(it.name, false); b != nil && it.name != "_" {
			known = capped(known, b.len)
			if len(g.items) == 1 && b.len != size {
				return wrong(it, fmt.Sprintf(", but %q is %s", it.name, b.said()))
			}
		} else if open.name != "" {
			err := a.error(s, x, g.start, g.end, ErrLength, fmt.Sprintf("axis %d of %s is a product of %q and %q, and neither is known", axis, a.tensor(s), open.name, it.name),
				"bind one first: Scope.Bind(einops.Axis(name, length))")
			return err
		} else {
			open = it
		}
	}
	product := item{start: g.start, end: g.end}
	switch {
	case open.name == "" && known != size:
		return wrong(product, fmt.Sprintf(", not %d", known))
	case open.name == "":
		return nil
	case known == 0 || size%known != 0:
		return wrong(product, fmt.Sprintf(", not divisible by %d", known))
	case open.name != "_":
		s.bind(a, binding{name: open.name, len: size / known, axis: axis})
	}
	return nil
}

// checkMany checks the axes that ... or *name stands for.
func (s *Scope) checkMany(a *annotation, g *group, x *tensor.Tensor, axis, n int) *Error {
	it := g.items[0]
	if it.name == "" {
		return nil
	}
	dims := make([]int, n)
	for i := range dims {
		dims[i] = x.Size(axis + i)
	}
	if b := s.find(it.name, true); b == nil {
		s.bind(a, binding{name: it.name, dims: dims, axis: axis})
	} else if !slices.Equal(b.dims, dims) {
		return a.error(s, x, it.start, it.end, tensor.ErrShape,
			fmt.Sprintf("the axes of %s that are *%s have sizes %v, but *%s is %s", a.tensor(s), it.name, dims, it.name, b.said()), "")
	}
	return nil
}

// place is where the running check was called, for all names that it binds.
func (s *Scope) place() *callsite.Place {
	if s.here == nil {
		here := callsite.Here()
		s.here = &here
	}
	return s.here
}

func (s *Scope) bind(a *annotation, b binding) {
	if !s.single {
		b.tensor, b.place = a.tensor(s), s.place()
	} else {
		b.tensor = "the same tensor"
	}
	s.bound = append(s.bound, b)
}

// annotation is the text of a check, parsed once.
type annotation struct {
	text               string
	name               string // of the tensor; may be empty
	types              []tensor.Dtype
	typeStart, typeEnd int
	start, end         int // of the axes
	side               *side
}

var annotations = cache[string, *annotation]{limit: 512}

func annotationFor(text string) (*annotation, *Error) {
	if a, ok := annotations.get(text); ok {
		return a, nil
	}
	a, err := newAnnotation(text)
	if err == nil {
		annotations.put(text, a)
	}
	return a, err
}

func newAnnotation(text string) (*annotation, *Error) {
	a := &annotation{text: text, end: len(text)}
	p := parser{"check", text}
	if colon := strings.IndexByte(text, ':'); colon >= 0 {
		a.name = strings.TrimSpace(text[:colon])
		if a.name == "" || strings.ContainsAny(a.name, "[]()") {
			return nil, p.fail(0, colon+1, "a colon needs the name of the tensor before it", `write "q: batch seq"`)
		}
		a.start = colon + 1
	}
	if open := strings.IndexByte(text[a.start:], '['); open >= 0 {
		a.typeStart, a.typeEnd = a.start, a.start+open
		for a.typeStart < a.typeEnd && text[a.typeStart] == ' ' {
			a.typeStart++
		}
		for a.typeStart < a.typeEnd && text[a.typeEnd-1] == ' ' {
			a.typeEnd--
		}
		a.start += open + 1
		shut := strings.IndexByte(text[a.start:], ']')
		if shut < 0 {
			return nil, p.fail(a.start-1, a.start, "this bracket is never closed", "")
		}
		a.end = a.start + shut
		if rest := strings.TrimSpace(text[a.end+1:]); rest != "" {
			return nil, p.fail(a.end+1, len(text), "there is more after the axes", "write one annotation for one tensor")
		}
		if a.typeStart < a.typeEnd {
			if err := a.readTypes(p); err != nil {
				return nil, err
			}
		}
	}
	var err *Error
	a.side, err = p.side(a.start, a.end, rules{underscore: true, duplicates: true, star: true})
	if err != nil {
		return nil, err
	}
	if g := a.side.ellipsis; g != nil && g.paren {
		return nil, p.fail(g.start, g.end, "an ellipsis can't be part of a product", "write it outside the parentheses")
	}
	return a, nil
}

// readTypes reads "float32|bfloat16".
func (a *annotation) readTypes(p parser) *Error {
	at := a.typeStart
	for word := range strings.SplitSeq(a.text[a.typeStart:a.typeEnd], "|") {
		found := false
		for _, d := range tensor.Dtypes() {
			if dtypeMatches(d, strings.TrimSpace(word)) {
				a.types = append(a.types, d)
				found = true
			}
		}
		if !found {
			known := []string{"float", "int", "number"}
			for _, d := range tensor.Dtypes() {
				known = append(known, d.String())
			}
			hint := nearest(strings.TrimSpace(word), known)
			if hint == "" {
				hint = "there are " + strings.Join(known, ", ")
			}
			return p.fail(at, at+len(word), fmt.Sprintf("%q is not a dtype", strings.TrimSpace(word)), hint)
		}
		at += len(word) + 1
	}
	return nil
}

func dtypeMatches(d tensor.Dtype, word string) bool {
	switch word {
	case "float":
		return d.IsFloat()
	case "int":
		return !d.IsFloat() && d != tensor.Bool
	case "number":
		return d != tensor.Bool
	}
	return d.String() == word
}

func (a *annotation) allows(d tensor.Dtype) bool {
	return a.types == nil || slices.Contains(a.types, d)
}

// tensor names the tensor that is being checked.
func (a *annotation) tensor(s *Scope) string {
	switch {
	case a.name != "":
		return fmt.Sprintf("%q", a.name)
	case s.single:
		return "the tensor"
	}
	return fmt.Sprintf("tensor %d of the scope", s.checks)
}

func (a *annotation) error(s *Scope, x *tensor.Tensor, start, end int, kind error, reason, hint string) *Error {
	e := &Error{Kind: kind, Op: "check", Pattern: a.text, Start: start, End: end, Reason: reason, Sizes: s.Sizes(), Hint: hint}
	if x != nil {
		e.Shapes = [][]int{x.Shape()}
	}
	return e
}
