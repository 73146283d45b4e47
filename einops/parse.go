package einops

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A pattern is two sides with an arrow between them; a side is a list of axes:
//
//	side  = { axis }
//	axis  = name | number | "..." | "(" { name | number | "..." } ")"
//
// separated by spaces. 1 and () are axes of length 1. In an einsum the left
// side is one list for each operand, separated by commas.

// item is one word of a pattern: a name, a number or an ellipsis.
type item struct {
	name       string // "" for a number or ...
	length     int    // of a number
	ellipsis   bool
	start, end int // bytes of the pattern
}

// group is the part of a pattern for one axis of a tensor (for any number of axes, if
// it is an ellipsis): one item, or several in parentheses, or none for 1 and ().
type group struct {
	items      []item
	paren      bool
	start, end int
}

func (g *group) isEllipsis() bool { return !g.paren && len(g.items) == 1 && g.items[0].ellipsis }

// side is one list of axes.
type side struct {
	groups     []group
	start, end int
	ellipsis   *group // the group that holds the ellipsis, or nil
}

// rules are what differs between the sides of different operations.
type rules struct {
	underscore bool // "_" is allowed and stands for no name
	duplicates bool // a name may appear twice: a diagonal
	star       bool // "*name" is a named ellipsis
}

// parser reads one pattern; its errors carry the place.
type parser struct{ op, pattern string }

func (p parser) fail(start, end int, reason, hint string) *Error {
	return &Error{Kind: ErrPattern, Op: p.op, Pattern: p.pattern, Start: start, End: end, Reason: reason, Hint: hint}
}

// arrow splits the pattern at its one "->" and returns the place of the arrow.
func (p parser) arrow() (int, *Error) {
	at := strings.Index(p.pattern, "->")
	if at < 0 {
		hint := `write it as "input axes -> output axes"`
		for _, odd := range []string{"=>", "- >", "→", ">", "-"} {
			if i := strings.Index(p.pattern, odd); i >= 0 {
				return 0, p.fail(i, i+len(odd), "the pattern has no arrow ->", hint)
			}
		}
		return 0, p.fail(len(p.pattern), len(p.pattern), "the pattern has no arrow ->", hint)
	}
	if again := strings.Index(p.pattern[at+2:], "->"); again >= 0 {
		again += at + 2
		return 0, p.fail(again, again+2, "the pattern has a second arrow", "one call makes one step; write two calls")
	}
	return at, nil
}

// side reads the axes in bytes [start, end) of the pattern.
func (p parser) side(start, end int, r rules) (*side, *Error) {
	if len(p.pattern) > maxPattern {
		return nil, p.fail(maxPattern, maxPattern, fmt.Sprintf("the pattern has %d bytes, more than %d", len(p.pattern), maxPattern), "")
	}
	s := &side{start: start, end: end}
	var open *group // in parentheses
	seen := map[string]bool{}
	for at := start; at < end; {
		switch c := p.pattern[at]; c {
		case ' ':
			at++
		case '(':
			if open != nil {
				return nil, p.fail(at, at+1, "parentheses inside parentheses", "compose an axis in one step, or rearrange twice")
			}
			open = &group{paren: true, start: at}
			at++
		case ')':
			if open == nil {
				return nil, p.fail(at, at+1, "this parenthesis was never opened", "")
			}
			at++
			open.end = at
			s.groups = append(s.groups, *open)
			open = nil
		default:
			stop := at + strings.IndexAny(p.pattern[at:end]+" ", " ()")
			it, err := p.word(at, stop, r)
			if err != nil {
				return nil, err
			}
			if err := p.once(it, s, seen, r); err != nil {
				return nil, err
			}
			one := it.length == 1 // it means nothing within parentheses
			switch {
			case open != nil && !one:
				open.items = append(open.items, it)
			case open == nil && one:
				s.groups = append(s.groups, group{start: at, end: stop})
			case open == nil:
				s.groups = append(s.groups, group{items: []item{it}, start: at, end: stop})
			}
			at = stop
		}
	}
	if open != nil {
		return nil, p.fail(open.start, open.start+1, "this parenthesis is never closed", "")
	}
	for i := range s.groups {
		for _, it := range s.groups[i].items {
			if it.ellipsis {
				s.ellipsis = &s.groups[i]
			}
		}
	}
	return s, nil
}

// once refuses what may appear only once on a side.
func (p parser) once(it item, s *side, seen map[string]bool, r rules) *Error {
	key := it.name
	switch {
	case it.ellipsis:
		key = "..."
		if seen[key] {
			return p.fail(it.start, it.end, "a second ellipsis for one tensor", "only one can stand for all other axes")
		}
	case key == "" || key == "_" && r.underscore:
		return nil
	case seen[key] && !r.duplicates:
		return p.fail(it.start, it.end, fmt.Sprintf("axis %q appears twice", key), "give each axis a different name")
	}
	seen[key] = true
	return nil
}

// word reads one item.
func (p parser) word(start, end int, r rules) (item, *Error) {
	text := p.pattern[start:end]
	it := item{start: start, end: end}
	if text == "..." || text == "…" {
		it.ellipsis = true
		return it, nil
	}
	if r.star && len(text) > 1 && text[0] == '*' {
		it, err := p.word(start+1, end, rules{})
		if err == nil && it.name == "" {
			err = p.fail(start, end, "a * needs a name after it", `write *batch, or ... for axes without a name`)
		}
		it.start, it.ellipsis = start, true
		return it, err
	}
	if dot := strings.IndexByte(text, '.'); dot >= 0 {
		if strings.Contains(text, "...") {
			return it, p.fail(start, end, fmt.Sprintf("%q is not an axis name", text), "put a space between ... and its neighbors")
		}
		return it, p.fail(start+dot, start+dot+1, "a dot outside an ellipsis", "an ellipsis is three dots: ...")
	}
	digits := true
	for i, c := range text {
		switch {
		case !isLetter(c) && !unicode.IsDigit(c) && c != '_':
			_, size := utf8.DecodeRuneInString(text[i:])
			return it, p.fail(start+i, start+i+size, fmt.Sprintf("character %q can't stand in a pattern", c),
				"axes are names or numbers, separated by spaces")
		case !unicode.IsDigit(c):
			digits = false
		}
	}
	if digits {
		for _, c := range text {
			it.length = it.length*10 + digit(c)
			if it.length > maxLength {
				return it, p.fail(start, end, fmt.Sprintf("axis length %s is too large", text), "")
			}
		}
		if it.length == 0 {
			return it, p.fail(start, end, "an axis written as a number must be at least 1", "")
		}
		return it, nil
	}
	it.name = text
	first, _ := utf8.DecodeRuneInString(text)
	switch {
	case text == "_" && r.underscore:
	case unicode.IsDigit(first):
		return it, p.fail(start, end, fmt.Sprintf("%q is not an axis name: names start with a letter", text), "")
	case text[0] == '_' || text[len(text)-1] == '_':
		return it, p.fail(start, end, fmt.Sprintf("%q is not an axis name: names neither start nor end with an underscore", text), "")
	}
	return it, nil
}

// maxLength bounds axis lengths, so that products of a few stay within an int.
const maxLength = 1 << 46

// maxPattern bounds the bytes of a pattern, and so the time to read it and the memory
// for those that are remembered.
const maxPattern = 4096

func isLetter(c rune) bool { return unicode.IsLetter(c) || unicode.Is(unicode.Nl, c) }

// digit returns the value of a decimal digit of any script: Unicode has them
// in runs of ten.
func digit(c rune) int {
	for _, r := range unicode.Nd.R16 {
		if c >= rune(r.Lo) && c <= rune(r.Hi) {
			return int(c-rune(r.Lo)) % 10
		}
	}
	for _, r := range unicode.Nd.R32 {
		if c >= rune(r.Lo) && c <= rune(r.Hi) {
			return int(c-rune(r.Lo)) % 10
		}
	}
	return 0
}
