package rewrite

import (
	"go/token"
	"go/types"
	"strings"
)

// A Cursor is a program made of a cell that is being edited, for questions about a place in it.
type Cursor struct {
	Text *Text
	Off  int // of the place, in the program
	src  *Source
}

// Cursor returns the program for a byte offset in a cell. It works on unfinished code. ok is false on a line that is
// not Go.
func (s *Session) Cursor(code string, off int) (c *Cursor, ok bool) {
	if wholeMagic(code) != "" {
		return nil, false
	}
	lines, blanked := magics(code)
	for _, m := range lines {
		if off >= m.lo && off < m.hi || off == m.hi && off == len(code) {
			return nil, false
		}
	}
	src := &Source{Cell: s.current + 1, Code: code}
	items := split(blanked)
	isMain := false
	declared := map[string]bool{}
	for _, it := range items {
		if d := parseDecl(&Source{Code: blanked}, it); d != nil {
			isMain = isMain || d.key == "main" && d.tok == token.FUNC
			declared[d.key] = true
			for _, n := range d.names {
				declared[n] = true
			}
		}
	}
	t := &Text{}
	t.Inject("package main\n")
	for _, it := range items {
		if it.kind == token.IMPORT {
			t.User(src, it.lo, it.hi)
			t.Inject("\n")
		}
	}
	t.imports(s.importsFor(blanked, items, declared))
	for _, d := range s.sortedDecls() {
		if !declared[d.key] && d.text == nil {
			t.User(d.src, d.lo, d.hi)
			t.Inject("\n")
		}
	}
	for _, name := range sortedKeys(s.vars) {
		if !declared[name] {
			t.Inject("var ", name, " ", s.vars[name].typ, "\n")
		}
	}
	end := func(i int) int { // an item reaches to the next: the cursor may stand in the blanks between
		if i+1 < len(items) {
			return items[i+1].lo
		}
		return len(code)
	}
	for i, it := range items {
		if it.isDecl() {
			t.User(src, it.lo, end(i))
			t.Inject("\n")
		}
	}
	if !isMain {
		t.Inject("func main() {\n")
		if len(items) == 0 {
			t.User(src, 0, len(code))
			t.Inject("\n")
		} else if lo := items[0].lo; lo > 0 && blanked[:lo] == code[:lo] { // no magic
			t.User(src, 0, items[0].lo)
			t.Inject("\n")
		}
		for i, it := range items {
			if !it.isDecl() && it.kind != token.IMPORT {
				t.User(src, it.lo, end(i))
				t.Inject("\n")
			}
		}
		t.Inject("}\n")
	}
	at, _ := t.Find(src, off)
	if at < 0 {
		return nil, false
	}
	return &Cursor{t, at, src}, true
}

// IsText reports whether a byte offset in a cell lies in a comment, a string or a character, where no name can be.
func IsText(code string, off int) bool {
	_, blanked := magics(code)
	for t := range scan([]byte(blanked), nil) {
		if off <= t.lo {
			return false
		}
		open := false // at its end still inside
		switch lit := blanked[t.lo:t.hi]; t.tok {
		case token.COMMENT:
			open = strings.HasPrefix(lit, "//") || len(lit) < 4 || !strings.HasSuffix(lit, "*/")
		case token.STRING, token.CHAR:
			open = len(lit) < 2 || lit[len(lit)-1] != lit[0]
		default:
			continue
		}
		if off < t.hi || open && off == t.hi {
			return true
		}
	}
	return false
}

// ImportPath returns where the path begins in which a byte offset lies, if that is in a string of an import.
func ImportPath(code string, off int) (begin int, ok bool) {
	for _, it := range split(code) {
		if it.kind != token.IMPORT || off <= it.lo {
			continue
		}
		for _, t := range tokens(code[it.lo:it.hi]) {
			lo, hi := it.lo+t.lo, it.lo+t.hi
			closed := t.hi-t.lo > 1 && len(t.lit) > 1 && t.lit[len(t.lit)-1] == t.lit[0]
			if t.tok == token.STRING && off > lo && (off < hi || off == hi && !closed) {
				return lo + 1, !strings.Contains(code[lo+1:off], "\n")
			}
		}
	}
	return 0, false
}

// importsFor finds the packages that a cell and the remembered declarations name.
func (s *Session) importsFor(code string, items []item, declared map[string]bool) map[string]string {
	own := map[string]bool{}
	for _, it := range items {
		if it.kind == token.IMPORT {
			for _, t := range tokens(code[it.lo:it.hi]) {
				if t.tok == token.STRING {
					path := strings.Trim(t.lit, "\"`")
					if p, err := s.packages.Import(path); err == nil {
						own[p.Name()] = true
					}
				} else if t.tok == token.IDENT {
					own[t.lit] = true
				}
			}
		}
	}
	found := map[string]string{}
	scan := func(text string) {
		defined := assigned(tokens(text))
		for _, name := range qualifiers(text) {
			_, isVar := s.vars[name]
			if own[name] || declared[name] || isVar || types.Universe.Lookup(name) != nil {
				continue
			}
			if path := s.imports[name]; path != "" {
				found[name] = path
			} else if path := s.packages.ByName(name); path != "" && !defined[name] {
				found[name] = path
			}
		}
	}
	scan(code)
	for d := range s.eachDecl() {
		if d.text == nil {
			scan(d.src.Code[d.lo:d.hi])
		}
	}
	for name, path := range s.aliases {
		for _, v := range s.vars {
			if strings.Contains(v.typ, name) {
				found[name] = path
			}
		}
	}
	return found
}

// assigned are the names that a cell itself defines, as far as tokens tell.
func assigned(ts []tok) map[string]bool {
	names := map[string]bool{}
	for i, t := range ts {
		if t.tok != token.IDENT || i+1 >= len(ts) {
			continue
		}
		if next := ts[i+1].tok; next == token.DEFINE || next == token.COMMA || i > 0 && ts[i-1].tok == token.VAR {
			names[t.lit] = true
		}
	}
	return names
}

// Cell turns an offset in the program into one in the cell.
func (c *Cursor) Cell(off int) (int, bool) {
	src, at, _ := c.Text.Locate(off)
	if out, _ := c.Text.Find(c.src, at); src != c.src || out != off {
		if off > 0 { // the end of a piece of the cell
			if src, at, exact := c.Text.Locate(off - 1); exact && src == c.src {
				return at + 1, true
			}
		}
		return 0, false
	}
	return at, true
}

// Callee returns the offset in a cell of the name that the place belongs to: the identifier there or before it, or the
// function whose arguments are being written.
func Callee(code string, off int) (int, bool) {
	ts := tokens(code)
	for _, t := range ts {
		if t.tok == token.IDENT && off >= t.lo && off <= t.hi {
			return t.lo, true
		}
	}
	depth := 0
	for i := len(ts) - 1; i >= 0; i-- {
		t := ts[i]
		if t.lo >= off {
			continue
		}
		if depth -= t.nesting(); depth < 0 { // it opens around the place
			depth = 0
			if i > 0 && ts[i-1].tok == token.IDENT && t.tok != token.LBRACK {
				return ts[i-1].lo, true
			}
		}
	}
	for i := len(ts) - 1; i >= 0; i-- {
		if t := ts[i]; t.tok == token.IDENT && t.hi <= off && !strings.Contains(code[t.hi:off], "\n") {
			return t.lo, true
		}
	}
	return 0, false
}
