package rewrite

import (
	"bytes"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Pos is a place in a cell as its user sees it: the cell's number, and the line and column counted from 1, the column
// in characters. Line 0 means code that no user wrote.
type Pos struct{ Cell, Line, Col int }

// A Source is the text of one cell.
type Source struct {
	Cell int
	Code string

	once  sync.Once
	begin []int // where the lines begin

	c string // the C code before its import "C"
}

// lines returns where the lines begin.
func (s *Source) lines() []int {
	s.once.Do(func() {
		for at, l := 0, 0; ; at += l {
			s.begin = append(s.begin, at)
			if l = strings.IndexByte(s.Code[at:], '\n') + 1; l == 0 {
				return
			}
		}
	})
	return s.begin
}

// Pos returns the place of a byte offset.
func (s *Source) Pos(off int) Pos {
	off = max(0, min(off, len(s.Code)))
	line := sort.SearchInts(s.lines(), off+1)
	return Pos{s.Cell, line, utf8.RuneCountInString(s.Code[s.begin[line-1]:off]) + 1}
}

// offset is the inverse of Pos.
func (s *Source) offset(p Pos) int {
	at := s.lines()[min(p.Line, len(s.begin))-1]
	for i, r := range s.Code[at:] {
		if p.Col--; p.Col <= 0 || r == '\n' {
			return at + i
		}
	}
	return len(s.Code)
}

// Line returns the text of a line, counted from 1, or "".
func (s *Source) Line(n int) string {
	if n < 1 || n > len(s.lines()) {
		return ""
	}
	l, _, _ := strings.Cut(s.Code[s.begin[n-1]:], "\n")
	return l
}

// A segment says that n bytes of a text from out on are those of src from off on.
type segment struct {
	out, off, n int
	src         *Source
}

// A Text is Go code put together from pieces of cells and code of ours.
type Text struct {
	b    strings.Builder
	segs []segment // in the order of out
}

// Inject adds code of ours.
func (t *Text) Inject(parts ...string) {
	for _, s := range parts {
		t.b.WriteString(s)
	}
}

// User adds the bytes [lo, hi) of a cell.
func (t *Text) User(src *Source, lo, hi int) {
	if lo < hi {
		t.segs = append(t.segs, segment{t.b.Len(), lo, hi - lo, src})
		t.b.WriteString(src.Code[lo:hi])
	}
}

// imports adds imports of paths under the names in m.
func (t *Text) imports(m map[string]string) {
	for _, name := range sortedKeys(m) {
		fmt.Fprintf(&t.b, "import %s %q\n", name, m[name])
	}
}

// Append adds another text.
func (t *Text) Append(o *Text) {
	for _, s := range o.segs {
		s.out += t.b.Len()
		t.segs = append(t.segs, s)
	}
	t.b.WriteString(o.String())
}

// part is the text from lo to hi.
func (t *Text) part(lo, hi int) *Text {
	p := &Text{}
	p.b.WriteString(t.String()[lo:hi])
	for _, s := range t.segs {
		if from, to := max(s.out, lo), min(s.out+s.n, hi); from < to {
			p.segs = append(p.segs, segment{from - lo, s.off + from - s.out, to - from, s.src})
		}
	}
	return p
}

// Len returns the length in bytes.
func (t *Text) Len() int { return t.b.Len() }

func (t *Text) String() string { return t.b.String() }

// Locate returns where the byte at offset out came from. For code of ours that is the nearest user's code before it,
// else after it, and exact is false; src is nil if there is none at all.
func (t *Text) Locate(out int) (src *Source, off int, exact bool) {
	i := sort.Search(len(t.segs), func(i int) bool { return t.segs[i].out > out })
	if i == 0 {
		if len(t.segs) == 0 {
			return nil, 0, false
		}
		return t.segs[0].src, t.segs[0].off, false
	}
	s := t.segs[i-1]
	if out < s.out+s.n {
		return s.src, s.off + out - s.out, true
	}
	return s.src, s.off + s.n, false
}

// Find is the inverse of Locate: it returns the offset in the text of a byte of a cell. A byte that was left out gives
// the nearest one before it.
func (t *Text) Find(src *Source, off int) (out int, exact bool) {
	out = -1
	best := -1
	for _, s := range t.segs {
		if s.src != src {
			continue
		}
		if off >= s.off && off < s.off+s.n {
			return s.out + off - s.off, true
		}
		if end := s.off + s.n; end <= off && end > best { // a cursor stands at the end of what was typed
			best, out = end, s.out+s.n
		}
	}
	return out, false
}

// Source returns the text with line directives, so that the compiler, stack traces and the program itself speak of the
// user's lines: the file of cell 3 is called cell[3].
func (t *Text) Source() string {
	text := t.String()
	var b strings.Builder
	at := 0
	var next place // where the compiler takes the text from at on to be
	for _, s := range t.segs {
		ours := text[at:s.out]
		b.WriteString(ours)
		next.pass(ours)
		p := s.src.Pos(s.off)
		column := s.off - s.src.begin[p.Line-1] + 1 // in bytes, as the compiler counts
		here := place{s.src, p.Line, column}
		if next == here {
			// The compiler's time grows with the directives: it is not told what it knows.
		} else if s.out == 0 || text[s.out-1] == '\n' {
			if column == 1 { // a directive for the compiler in the user's text must stay at the beginning of its line
				fmt.Fprintf(&b, "//line cell[%d]:%d\n", p.Cell, p.Line)
			} else {
				fmt.Fprintf(&b, "/*line cell[%d]:%d:%d*/", p.Cell, p.Line, column)
			}
		} else {
			fmt.Fprintf(&b, " /*line cell[%d]:%d:%d*/", p.Cell, p.Line, column)
		}
		piece := text[s.out : s.out+s.n]
		b.WriteString(piece)
		at = s.out + s.n
		if next = here; strings.Contains(piece, "line ") { // the user's own directive, perhaps
			next = place{}
		}
		next.pass(piece)
	}
	b.WriteString(text[at:])
	return b.String()
}

// A place is one of the user's, with the column in bytes.
type place struct {
	src          *Source
	line, column int
}

// pass moves a place over a piece of text.
func (p *place) pass(text string) {
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		p.line += strings.Count(text, "\n")
		text, p.column = text[i+1:], 1
	}
	p.column += len(text)
}

// CellPos reads a place as programs made by Source name it, such as cell[3]:5 or cell[3]:5:12. The column is in bytes.
func CellPos(s string) (p Pos, ok bool) {
	m := cellPos.FindStringSubmatch(s)
	if m == nil {
		return p, false
	}
	p.Cell, _ = strconv.Atoi(m[1])
	p.Line, _ = strconv.Atoi(m[2])
	p.Col, _ = strconv.Atoi(m[3])
	return p, true
}

var cellPos = regexp.MustCompile(`\bcell\[(\d+)\]:(\d+)(?::(\d+))?`)

// Place returns where a place of the text, counted from line 1, came from: of code of ours, the nearest that a user
// wrote before it.
func (t *Text) Place(line, column int) Pos {
	off := 0
	for text := t.String(); line > 1; line-- {
		i := strings.IndexByte(text[off:], '\n')
		if i < 0 {
			return Pos{}
		}
		off += i + 1
	}
	src, at, _ := t.Locate(off + max(0, column-1))
	if src == nil {
		return Pos{}
	}
	return src.Pos(at)
}

// lineLen is the length of the first line with its newline.
func lineLen[T string | []byte](s T) int {
	for i := range len(s) {
		if s[i] == '\n' {
			return i + 1
		}
	}
	return len(s)
}

// nextLine returns where the first line begins, after what begins at at, into which no raw string and no comment
// reaches.
func nextLine(code []byte, at int) int {
	end := at + lineLen(code[at:])
	if !bytes.ContainsAny(code[at:end], "`*") {
		return end
	}
	for t := range scan(code[at:], nil) {
		if at+t.lo >= end {
			break
		}
		if hi := at + t.hi; hi > end {
			end = hi + lineLen(code[hi:])
		}
	}
	return end
}
