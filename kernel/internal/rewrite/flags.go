package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A program's command-line flags are those that its own process has defined, but a notebook defines them in one cell
// and gives them values in another. So statements that define flags are remembered, and run again before the flags of
// a cell that has arguments are read.

// rememberFlags notes the statements of the cell that define flags.
func (a *assembly) rememberFlags() {
	for i, st := range a.body {
		if !a.definesFlags(st) || i >= len(a.stmts) {
			continue
		}
		it := a.stmts[i]
		t := &Text{}
		e := a.editsWithin(nil, it.lo, it.hi)
		for _, u := range a.packageUses(a.user, st) { // in another cell the names may mean something else
			e.replace(u.lo, u.hi, a.n.alias(u.path, u.name))
		}
		e.apply(t, a.src, it.lo, it.hi)
		t.Inject("\n")
		a.n.flags = append(a.n.flags, &decl{src: a.src, lo: it.lo, hi: it.hi, text: t})
	}
}

// definesFlags reports whether a statement calls a function of package flag that defines one.
func (a *assembly) definesFlags(st ast.Stmt) (yes bool) {
	ast.Inspect(st, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if id := named(n.Fun); id != nil {
				f, ok := a.user.info.Uses[id].(*types.Func)
				yes = yes || ok && f.Pkg() != nil && f.Pkg().Path() == "flag" && f.Signature().Recv() == nil && f.Signature().Params().Len() >= 3
			}
		}
		return !yes
	})
	return yes
}

// parsesFlags defines the flags of earlier cells in a program that has arguments, and returns the index of the
// statement of the cell behind which they are parsed, or -1.
func (a *assembly) parsesFlags(t *Text) int {
	last := -1
	for i, st := range a.body {
		if i < len(a.stmts) && a.definesFlags(st) {
			last = i
		}
	}
	if a.r.Args == "" || a.tests || len(a.n.flags) == 0 {
		return -1
	}
	for _, d := range a.n.flags {
		if d.src != a.src {
			d.emit(t)
		}
	}
	if last < 0 {
		t.Inject(a.n.alias("flag", "flag"), ".Parse()\n")
	}
	return last
}

// reachFlags adds what the statements of earlier cells that define flags mention, if the program runs them.
func (a *assembly) reachFlags() {
	if a.r.Args == "" || a.tests {
		return
	}
	for _, d := range a.n.flags {
		for _, k := range tokens(d.text.String()) {
			if k.tok == token.IDENT {
				a.g.reachName(k.lit)
			}
		}
	}
}
