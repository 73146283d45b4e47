package mathml

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth bounds the nesting of groups, so that a hostile formula cannot
// exhaust the stack; no readable formula comes near.
const maxDepth = 80

type parser struct {
	src   string
	pos   int
	depth int
	font  font
}

// atom is a finished piece of a formula.
type atom struct {
	ml     string
	class  class
	sign   string // the bare text of an operator whose spacing the row decides
	name   bool   // a function name, set apart by thin spaces
	limits bool   // scripts belong above and below
	count  int    // how many elements ml holds
}

func (p *parser) fail(off int, format string, args ...any) {
	panic(&Error{Source: p.src, Offset: off, Msg: fmt.Sprintf(format, args...)})
}

func (p *parser) enter(off int) {
	if p.depth++; p.depth > maxDepth {
		p.fail(off, "the formula nests more than %d levels deep", maxDepth)
	}
}

// rowEnd is what may end a row besides a closing brace and the end.
type rowEnd int

const (
	stopAtEnd     rowEnd = iota
	stopAtBracket        // the ] of \sqrt[3]
)

// row parses up to something that only its caller can make sense of: the end, a
// closing brace, \right, or a table's separators, which it does not consume.
// prev is the class of what comes before, none at the start of a group.
func (p *parser) row(end rowEnd, prev class) atom {
	p.enter(p.pos)
	defer func(f font) { p.depth--; p.font = f }(p.font)
	var items []atom
	var suffix string
	for {
		t := p.peek()
		if ends(t) || end == stopAtBracket && t.is("]") {
			break
		}
		if style, ok := styles[t.text]; ok && t.kind == command {
			p.next()
			items = append(items, atom{ml: style, class: space})
			suffix += "</mstyle>"
			continue
		}
		a := p.scripted()
		items = append(items, a)
	}
	return p.join(items, prev, suffix)
}

var styles = map[string]string{
	"displaystyle": `<mstyle displaystyle="true" scriptlevel="0">`,
	"textstyle":    `<mstyle displaystyle="false" scriptlevel="0">`,
}

func ends(t token) bool {
	switch t.kind {
	case eof:
		return true
	case char:
		return t.text == "}" || t.text == "&"
	}
	return t.text == `\` || t.text == "right" || t.text == "middle" || t.text == "end"
}

// join sets the atoms of a row side by side. It decides which signs are unary
// and where function names need room, by TeX's rules for classes.
func (p *parser) join(items []atom, prev class, suffix string) atom {
	var b strings.Builder
	count := 0
	lone := len(items) == 1
	for i, a := range items {
		following := none
		for _, n := range items[i+1:] {
			if n.class != space {
				following = n.class
				if n.name {
					following = ord // room between two names too
				}
				break
			}
		}
		if a.name && (prev == ord || prev == close_) {
			b.WriteString(`<mspace width="0.1667em"/>`)
			count++
		}
		switch {
		case a.sign == "":
			b.WriteString(a.ml)
		case a.class == bin && !binary(prev), lone:
			// A unary sign, or a sign alone in a script as in x^*.
			b.WriteString(`<mo form="prefix" stretchy="false" lspace="0" rspace="0">` + escapeText(a.sign) + `</mo>`)
			a.class = ord
		case a.class == bin && (following == none || following == rel || following == close_ || following == punct):
			b.WriteString(`<mo lspace="0" rspace="0">` + escapeText(a.sign) + `</mo>`)
			a.class = ord
		default:
			b.WriteString(a.ml)
		}
		if a.name && following == ord {
			b.WriteString(`<mspace width="0.1667em"/>`)
			count++
		}
		count += max(a.count, 1)
		if a.class != space {
			prev = a.class
		}
	}
	b.WriteString(suffix)
	if suffix != "" {
		count = 2
	}
	out := atom{ml: b.String(), class: ord, count: count}
	if lone && items[0].sign == "" {
		out.limits, out.name = items[0].limits, items[0].name
		out.class = items[0].class
		if out.class != op {
			out.class = ord
		}
	}
	return out
}

// binary reports whether a sign after an atom of this class joins two operands.
func binary(prev class) bool { return prev == ord || prev == close_ }

// scripted parses an atom with the scripts that follow it.
func (p *parser) scripted() atom {
	t := p.peek()
	if t.is("^") || t.is("_") || t.is("'") {
		p.fail(t.off, "there is nothing before %s; write {}%s for a script without a base", t, t)
	}
	base := p.atom(false)
	var sub, sup, primes string
	forced := ""
	for {
		t := p.peek()
		switch {
		case t.isCommand("limits"), t.isCommand("nolimits"):
			p.next()
			if base.class != op {
				p.fail(t.off, "%s only follows an operator such as \\sum", t)
			}
			forced = t.text
		case t.is("'"):
			p.next()
			if sup != "" {
				p.fail(t.off, "a prime after a superscript; write x'^2")
			}
			primes += "′"
		case t.is("^"):
			p.next()
			if sup != "" {
				p.fail(t.off, "two superscripts on one base; use braces")
			}
			sup = p.argument("^").single()
		case t.is("_"):
			p.next()
			if sub != "" {
				p.fail(t.off, "two subscripts on one base; use braces")
			}
			sub = p.argument("_").single()
		default:
			return p.attach(base, sub, sup, primes, forced)
		}
	}
}

// attach puts scripts onto a base.
func (p *parser) attach(base atom, sub, sup, primes, forced string) atom {
	if primes != "" {
		mark := `<mo lspace="0" rspace="0">` + primes + `</mo>`
		if sup != "" {
			sup = "<mrow>" + mark + sup + "</mrow>"
		} else {
			sup = mark
		}
	}
	if sub == "" && sup == "" {
		return base
	}
	limits := base.limits
	b := base.single()
	switch forced {
	case "limits":
		limits = true
		b = strings.ReplaceAll(b, ` movablelimits="true"`, "")
		b = strings.Replace(b, "<mo", `<mo movablelimits="false"`, 1)
	case "nolimits":
		limits = false
	}
	out := base
	out.sign, out.count = "", 1
	if base.class == bin && base.sign != "" {
		b = "<mo>" + escapeText(base.sign) + "</mo>"
	}
	switch {
	case limits && sub != "" && sup != "":
		out.ml = "<munderover>" + b + sub + sup + "</munderover>"
	case limits && sub != "":
		out.ml = "<munder>" + b + sub + "</munder>"
	case limits:
		out.ml = "<mover>" + b + sup + "</mover>"
	case sub != "" && sup != "":
		out.ml = "<msubsup>" + b + sub + sup + "</msubsup>"
	case sub != "":
		out.ml = "<msub>" + b + sub + "</msub>"
	default:
		out.ml = "<msup>" + b + sup + "</msup>"
	}
	return out
}

// single returns the atom as exactly one element, as scripts and fractions need.
func (a atom) single() string {
	if a.count == 1 && a.ml != "" {
		return a.ml
	}
	return "<mrow>" + a.ml + "</mrow>"
}

// argument parses what a command or script applies to: a group or one token.
func (p *parser) argument(of string) atom {
	t := p.peek()
	if ends(t) {
		p.fail(t.off, "%s needs something after it, found %s", of, t)
	}
	if t.is("^") || t.is("_") || t.is("'") {
		p.fail(t.off, "%s needs something after it, found %s; use braces", of, t)
	}
	return p.join([]atom{p.atom(true)}, none, "")
}

// atom parses one atom without its scripts. With one set, as in \frac12, a
// number is a single digit, as TeX reads it.
func (p *parser) atom(one bool) atom {
	t := p.next()
	p.enter(t.off)
	defer func() { p.depth-- }()
	if t.kind == command {
		return p.command(t)
	}
	c := t.text[0]
	switch {
	case c == '{':
		a := p.row(stopAtEnd, none)
		p.expectBrace(t)
		return a
	case isDigit(c):
		end := t.end
		for !one && end < len(p.src) && (isDigit(p.src[end]) || p.src[end] == '.' && end+1 < len(p.src) && isDigit(p.src[end+1])) {
			end++
		}
		p.pos = end
		return atom{ml: "<mn>" + p.font.styleAll(p.src[t.off:end]) + "</mn>", class: ord, count: 1}
	case c == '~':
		return atom{ml: `<mspace width="0.25em"/>`, class: space, count: 1}
	case c == '%':
		p.fail(t.off, `write \%% for a percent sign`)
	case c == '$' || c == '#':
		p.fail(t.off, `write \%s for this sign`, t.text)
	}
	r, _ := utf8.DecodeRuneInString(t.text)
	if s, ok := typed[r]; ok {
		return sign(s)
	}
	if unicode.IsLetter(r) {
		return p.letters(t, one)
	}
	p.fail(t.off, "the character %q has no meaning in a formula; put words into \\text{…}", t.text)
	return atom{}
}

func (p *parser) expectBrace(open token) {
	switch t := p.next(); {
	case t.is("}"):
	case t.kind == eof:
		p.fail(open.off, "this { is never closed")
	default:
		p.fail(t.off, "found %s before the { was closed", t)
	}
}

// letters parses one letter, or in an upright style the whole word.
func (p *parser) letters(t token, one bool) atom {
	end := t.end
	if p.font == roman || p.font == sans || p.font == typewriter || p.font == bold {
		for !one && end < len(p.src) && isLetter(p.src[end]) {
			end++
		}
		p.pos = end
	}
	return identifier(p.font, p.src[t.off:end])
}

// identifier is a letter or a word in a font. A lone letter in <mi> is set in
// italics by the browser, unless told otherwise.
func identifier(f font, s string) atom {
	text := escapeText(f.styleAll(s))
	if f == roman && utf8.RuneCountInString(s) == 1 {
		return atom{ml: `<mi mathvariant="normal">` + text + "</mi>", class: ord, count: 1}
	}
	return atom{ml: "<mi>" + text + "</mi>", class: ord, count: 1}
}

// sign is the atom of a symbol. Spacing that the browsers' operator dictionary
// gets wrong for a plain sign is written out.
func sign(s symbol) atom {
	text := escapeText(s.text)
	a := atom{class: s.class, limits: s.limits, count: 1}
	switch s.class {
	case ord:
		switch s.text {
		case "∇":
			a.ml = `<mi mathvariant="normal">∇</mi>`
		case "/", "|", "‖", "@", ".", `\`:
			a.ml = `<mo stretchy="false" lspace="0" rspace="0">` + text + `</mo>`
			if s.text == "@" {
				a.ml = `<mo lspace="0.2222em" rspace="0.2222em">@</mo>`
			}
		default:
			a.ml = "<mi>" + text + "</mi>"
		}
	case open, close_:
		a.ml = `<mo stretchy="false" lspace="0" rspace="0">` + text + `</mo>`
	case op:
		a.ml = "<mo>" + text + "</mo>"
	case bin:
		a.ml, a.sign = "<mo>"+text+"</mo>", s.text
		if s.text == "mod" || s.text == "⋆" {
			a.ml = `<mo lspace="0.2222em" rspace="0.2222em">` + text + `</mo>`
		}
	case rel:
		a.ml, a.sign = "<mo>"+text+"</mo>", s.text
		switch s.text {
		case ":", "∣", "∥", "↑", "↓":
			a.ml = `<mo stretchy="false" lspace="0.2778em" rspace="0.2778em">` + text + `</mo>`
		}
	case punct:
		a.ml, a.sign = "<mo>"+text+"</mo>", s.text
		if s.text == ":" {
			a.ml = `<mo lspace="0" rspace="0.2222em">:</mo>`
		}
	}
	return a
}
