package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// Cells with C in them are checked without knowing what C declares: the go command, which builds them, finds that out.
// Later cells can use what code declares with C: the program has the C code of each cell that it has something of.

const cgoPath = "C" // and its name

// preamble is the C code in comments before import "C", written as cgo wants to have it.
func preamble(src *Source, lo, hi int) string {
	text := src.Code[lo:hi]
	var b strings.Builder
	fmt.Fprintf(&b, "// #line %d \"cell[%d]\"\n", src.Pos(lo).Line, src.Cell)
	block := false
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimRight(line, "\r\n")
		if !block {
			if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "//"); ok {
				b.WriteString("// " + rest + "\n")
				continue
			}
			line, block = strings.Replace(line, "/*", "", 1), strings.Contains(line, "/*")
		}
		if i := strings.Index(line, "*/"); i >= 0 {
			line, block = line[:i], false
		}
		b.WriteString("// " + line + "\n")
	}
	return b.String()
}

// preambles are those of the cells of which the program has something.
func (a *assembly) preambles() (list []string) {
	sources := []*Source{a.src}
	for i, p := range a.g.parts {
		if a.g.reached[i] && p.decl != nil && p.decl.src != nil {
			sources = append(sources, p.decl.src)
		}
	}
	slices.SortStableFunc(sources, func(a, b *Source) int { return a.Cell - b.Cell })
	for _, src := range slices.Compact(sources) {
		if src.c != "" {
			list = append(list, src.c)
		}
	}
	return list
}

// usesC reports whether a node names something of C's.
func (c *checked) usesC(n ast.Node) (uses bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == cgoPath {
			p, ok := c.info.Uses[id].(*types.PkgName)
			uses = uses || ok && p.Imported().Path() == cgoPath
		}
		return !uses
	})
	return uses
}

// typeOf is the type of a variable that the cell defines. The checker knows nothing about a converted value of C's; it
// has the type that is written there.
func (p *hoister) typeOf(d definition) types.Type {
	t := d.obj.Type()
	st, ok := unlabeled(p.body[d.stmt]).(*ast.AssignStmt)
	if t != types.Typ[types.Invalid] || !ok || len(st.Lhs) != len(st.Rhs) {
		return t
	}
	for i, x := range st.Lhs {
		if id, ok := x.(*ast.Ident); ok && p.user.info.Defs[id] == d.obj {
			if call, ok := st.Rhs[i].(*ast.CallExpr); ok && p.user.info.Types[call.Fun].IsType() {
				return p.user.info.Types[call.Fun].Type
			}
		}
	}
	return t
}
