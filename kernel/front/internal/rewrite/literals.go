package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A function can't be carried to another process. But one that a cell writes down at its top level captures nothing that is not package-level
// and kept itself, so a later cell can write it down again. That works as long as the variable gets no other value.

// functionLiterals finds the variables of the cell that hold such a function: name to literal. others are the variables that are set in any other way.
func functionLiterals(c *checked, body []ast.Stmt) (lits map[string]*ast.FuncLit, others map[string]bool) {
	lits, others = map[string]*ast.FuncLit{}, map[string]bool{}
	global := func(x ast.Expr) string {
		id, ok := ast.Unparen(x).(*ast.Ident)
		if !ok {
			return ""
		}
		obj := c.info.Uses[id]
		if obj == nil {
			obj = c.info.Defs[id]
		}
		if v, ok := obj.(*types.Var); ok && v.Parent() == c.pkg.Scope() {
			return id.Name
		}
		return ""
	}
	top := map[ast.Stmt]bool{}
	for _, st := range body {
		a, ok := st.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			continue
		}
		name := global(a.Lhs[0])
		if name == "" {
			continue
		}
		if isZero(a.Rhs[0]) { // var f func() is waiting for its function
			top[st] = true
			continue
		}
		lit, ok := ast.Unparen(a.Rhs[0]).(*ast.FuncLit)
		if ok && closed(c, lit) {
			lits[name] = lit
			top[st] = true
		}
	}
	ast.Inspect(c.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if len(n.Name.Name) > len(literalFunc) && n.Name.Name[:len(literalFunc)] == literalFunc {
				return false
			}
		case *ast.AssignStmt:
			if top[n] {
				return true
			}
			for _, l := range n.Lhs {
				if name := global(l); name != "" {
					others[name] = true
				}
			}
		case *ast.RangeStmt:
			for _, l := range []ast.Expr{n.Key, n.Value} {
				if l != nil && n.Tok == token.ASSIGN {
					if name := global(l); name != "" {
						others[name] = true
					}
				}
			}
		case *ast.CallExpr: // the registration that we wrote takes the address
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == keepName {
					return false
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				if name := global(n.X); name != "" {
					others[name] = true
				}
			}
		}
		return true
	})
	return lits, others
}

// isZero recognises *new(T), by which a var without a value is written.
func isZero(x ast.Expr) bool {
	star, ok := x.(*ast.StarExpr)
	if !ok {
		return false
	}
	call, ok := star.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == "new"
}

// closed reports whether a literal uses nothing that is local to main.
func closed(c *checked, lit *ast.FuncLit) bool {
	ok := true
	ast.Inspect(lit, func(n ast.Node) bool {
		id, isIdent := n.(*ast.Ident)
		if !isIdent || !ok {
			return ok
		}
		u := c.info.Uses[id]
		if _, imported := u.(*types.PkgName); imported {
			return true
		}
		if u == nil || u.Pkg() != c.pkg || u.Parent() == nil || u.Parent() == c.pkg.Scope() {
			return true
		}
		if _, label := u.(*types.Label); !label && (u.Pos() < lit.Pos() || u.Pos() >= lit.End()) {
			ok = false
		}
		return true
	})
	return ok
}
