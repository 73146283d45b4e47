package rewrite

import (
	"go/token"
	"regexp"
	"strings"
)

// A mistake is an error that is being explained. Only propose and write make hints that quote the user's own code with
// a change, and they check first that the change works: a proposal that does not compile costs more trust than it saves
// time.
type mistake struct {
	s, next *Session // before and after the cell
	e       *Error
	src     *Source // the cell with the error
	off     int     // of the error in it
	masked  string  // the cell with the insides of strings and comments blanked, byte by byte
	syntax  bool    // the cell does not parse
	tries   int
	budget  *int // see maxChecked
}

// maxTries bounds the checks that one hint may cost; each takes about as long as the cell's own. maxChecked bounds the
// bytes of code that all hints of a cell may check: in a cell of 100,000 lines a check takes a second.
const (
	maxTries   = 8
	maxChecked = 1 << 20
)

// newMistake returns nil if the error is in code that the current cell has not brought along.
func newMistake(s, next *Session, e *Error, budget *int) *mistake {
	src := next.sources[e.Pos.Cell]
	if src == nil || e.Pos.Line == 0 || e.Pos.Cell != next.current {
		return nil
	}
	src = &Source{Cell: src.Cell, Code: strings.ReplaceAll(src.Code, "\r\n", "\n")}
	return &mistake{s: s, next: next, e: e, src: src, off: src.offset(e.Pos), masked: mask(src.Code), syntax: syntaxMsg.MatchString(e.Msg), budget: budget}
}

// syntaxMsg are the beginnings of what Go's scanner and parser say.
var syntaxMsg = regexp.MustCompile(`^(expected|missing [',]|unexpected|illegal (?:character|label|rune)|string literal|more than one|curly|escape|unknown escape|invalid digit|(?:middle|final) index required|.*literal has no|'_' must)`)

// mask blanks what is inside strings, and comments, so that patterns see code only. Every byte keeps its place.
func mask(code string) string {
	b := []byte(code)
	for t := range scan([]byte(code), nil) {
		lo, hi, with := t.lo, t.hi, byte('_')
		switch t.tok {
		case token.STRING, token.CHAR:
			lo, hi = lo+1, hi-1
		case token.COMMENT:
			with = ' '
		default:
			continue
		}
		for i := lo; i < hi; i++ {
			if b[i] != '\n' {
				b[i] = with
			}
		}
	}
	return string(b)
}

// lineAt returns the bounds of the line with a byte, without its newline.
func (m *mistake) lineAt(off int) (lo, hi int) {
	lo = strings.LastIndexByte(m.src.Code[:off], '\n') + 1
	return lo, lo + len(strings.TrimRight(m.src.Code[lo:lo+lineLen(m.src.Code[lo:])], "\n"))
}

// move puts the error at other bytes of the cell.
func (m *mistake) move(lo, hi int) {
	m.off, m.e.Pos, m.e.End = lo, m.src.Pos(lo), 0
	if end := m.src.Pos(hi); end.Line == m.e.Pos.Line {
		m.e.End = end.Col
	}
}

// works reports whether the cell is right, as far as the bytes [lo, hi) of code go, when it reads like that.
func (m *mistake) works(code string, lo, hi int) bool {
	m.tries++
	for d := range m.s.eachDecl() {
		*m.budget -= d.hi - d.lo
	}
	if *m.budget -= len(code); m.tries > maxTries || *m.budget < 0 {
		return false
	}
	fixed := &Source{Cell: m.src.Cell, Code: code}
	first, last := fixed.Pos(lo).Line, fixed.Pos(hi).Line
	for _, e := range m.s.rewrite(m.src.Cell, code).r.Errors {
		if _, unused := unusedName(e.Msg); unused {
			continue // its use is still to be written
		}
		if e.Pos.Cell != m.src.Cell || e.Pos.Line >= first && e.Pos.Line <= last || syntaxMsg.MatchString(e.Msg) && e.Pos.Line < first {
			return false
		}
	}
	return true
}

// replaced returns the cell with other text at [lo, hi).
func (m *mistake) replaced(lo, hi int, text string) string {
	return m.src.Code[:lo] + text + m.src.Code[hi:]
}

// propose returns the first text that works in place of [lo, hi), or "". There is no such place if the mistake is
// in an earlier cell.
func (m *mistake) propose(lo, hi int, texts ...string) string {
	if lo < 0 {
		return ""
	}
	for _, t := range texts {
		if t != "" && m.works(m.replaced(lo, hi, t), lo, lo+len(t)) {
			return t
		}
	}
	for _, t := range texts {
		if t = m.defined(lo, hi, t); t != "" {
			return t
		}
	}
	return ""
}

// defined returns the whole line with text at [lo, hi), and := in place of =, if that works: in Python's manner,
// two things are often missing at once.
func (m *mistake) defined(lo, hi int, text string) string {
	start, end := m.lineAt(lo)
	g := re(`^\s*(NAME)(?:\s*,\s*NAME)*\s*(=)[^=]`).FindStringSubmatchIndex(m.masked[start:end])
	if text == "" || g == nil || start+g[5] > lo || hi > end || m.next.vars[m.masked[start+g[2]:start+g[3]]].typ != "" {
		return ""
	}
	line := m.src.Code[start:start+g[4]] + ":" + m.src.Code[start+g[4]:lo] + text + m.src.Code[hi:end]
	if !m.works(m.replaced(start, end, line), start, start+len(line)) {
		return ""
	}
	return strings.TrimSpace(line)
}

// write makes a hint of a proposal: what to do, and the text for [lo, hi) that does it. Without one that works it is
// the hint otherwise.
func (m *mistake) write(why string, lo, hi int, otherwise string, texts ...string) string {
	t := m.propose(lo, hi, texts...)
	if t == "" {
		return otherwise
	}
	if why == "" {
		return "write " + t
	}
	return why + ": write " + t
}

// find returns where the source of an expression is that Go has quoted in its own spacing: at the error, or around
// it on its line.
func (m *mistake) find(expr string) (lo, hi int, ok bool) {
	start, end := m.lineAt(m.off)
	lo = -1
	for at := start; at < end; at++ {
		h, found := matchSpaced(m.src.Code[at:], expr)
		if found && at <= m.off && at+h >= m.off {
			if lo < 0 || at == m.off {
				lo, hi = at, at+h
			}
		}
	}
	return lo, hi, lo >= 0
}

// matchSpaced returns how much of code reads like expr, whatever the spaces are.
func matchSpaced(code, expr string) (n int, ok bool) {
	if code == "" || expr == "" || code[0] != expr[0] {
		return 0, false
	}
	i := 0
	for j := 0; j < len(expr); {
		switch {
		case i < len(code) && code[i] == expr[j]:
			i++
			j++
		case expr[j] == ' ':
			j++
		case i < len(code) && (code[i] == ' ' || code[i] == '\t'):
			i++
		default:
			return 0, false
		}
	}
	return i, true
}
