package rewrite

import (
	"go/ast"
	"go/token"
	"sort"
	"strings"
)

// An edit replaces the bytes [lo, hi) of a cell by code of ours.
type edit struct {
	lo, hi int
	s      string
}

// edits are applied in the order of their places; at one place insertions come first, in the order in which they were
// made. An edit inside a replaced piece is dropped.
type edits []edit

func (e *edits) replace(lo, hi int, s string) { *e = append(*e, edit{lo, hi, s}) }

func (e *edits) insert(at int, s string) { *e = append(*e, edit{at, at, s}) }

// blank replaces code by spaces, so that what follows keeps its column.
func (e *edits) blank(code string, lo, hi int) {
	e.replace(lo, hi, strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return ' '
	}, code[lo:hi]))
}

// within returns the edits of the bytes [lo, hi).
func (e edits) within(lo, hi int) (in edits) {
	for _, x := range e {
		if x.lo >= lo && x.hi <= hi {
			in = append(in, x)
		}
	}
	return in
}

// text is the bytes [lo, hi) of a cell with the edits that lie in them.
func (e edits) text(src *Source, lo, hi int) *Text {
	t := &Text{}
	e.apply(t, src, lo, hi)
	return t
}

// apply adds the bytes [lo, hi) of a cell with the edits that lie in them.
func (e edits) apply(t *Text, src *Source, lo, hi int) {
	sorted := e.within(lo, hi)
	sort.SliceStable(sorted, func(i, j int) bool {
		a, b := sorted[i], sorted[j]
		return a.lo < b.lo || a.lo == b.lo && a.hi == a.lo && b.hi > b.lo
	})
	at := lo
	for _, x := range sorted {
		if x.lo < at {
			continue
		}
		t.User(src, at, x.lo)
		t.Inject(x.s)
		at = x.hi
	}
	t.User(src, at, hi)
}

// The following methods turn positions in a checked program into edits of the cell.

func (w *work) at(c *checked, p token.Pos) int {
	_, off, _ := c.user(p)
	return off
}

func (w *work) end(c *checked, p token.Pos) int { return w.at(c, p-1) + 1 }

func (w *work) insert(c *checked, p token.Pos, s string) { w.edits.insert(w.at(c, p), s) }

func (w *work) replace(c *checked, lo, hi token.Pos, s string) {
	w.edits.replace(w.at(c, lo), w.end(c, hi), s)
}

func (w *work) blank(c *checked, lo, hi token.Pos) {
	w.edits.blank(w.src.Code, w.at(c, lo), w.end(c, hi))
}

// after adds code after a statement.
func (w *work) after(c *checked, st ast.Stmt, s string) { w.edits.insert(w.end(c, st.End()), s) }

// mine reports whether a node was written by the user in this cell.
func (w *work) mine(c *checked, n ast.Node) bool {
	src, _, exact := c.user(n.Pos())
	return exact && src == w.src
}
