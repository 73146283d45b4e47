package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
)

// outsideLiterals are the nodes of a piece of code, without what is inside its function literals.
func outsideLiterals(root ast.Node) iter.Seq[ast.Node] {
	return func(yield func(ast.Node) bool) {
		more := true
		ast.Inspect(root, func(n ast.Node) bool {
			_, literal := n.(*ast.FuncLit)
			more = more && (n == nil || yield(n))
			return more && !literal
		})
	}
}

// identifiersOf are the names in lists of receivers, parameters, results or fields; a list may be nil.
func identifiersOf(lists ...*ast.FieldList) (ids []*ast.Ident) {
	for _, list := range lists {
		if list != nil {
			for _, f := range list.List {
				ids = append(ids, f.Names...)
			}
		}
	}
	return ids
}

// expressions are names, as expressions.
func expressions(ids []*ast.Ident) (list []ast.Expr) {
	for _, id := range ids {
		list = append(list, id)
	}
	return list
}

// setBy are the expressions that a node gives values to, as far as it is a statement that does; some may be nil.
func setBy(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	}
	return nil
}

// isPanic reports whether a statement is a call of panic, after which nothing may follow.
func isPanic(st ast.Stmt) bool {
	if x, ok := st.(*ast.ExprStmt); ok {
		if call, ok := x.X.(*ast.CallExpr); ok {
			id, ok := call.Fun.(*ast.Ident)
			return ok && id.Name == "panic"
		}
	}
	return false
}

// functionParts are those of a declaration or literal of a function; all are nil for something else.
func functionParts(fn ast.Node) (recv *ast.FieldList, typ *ast.FuncType, body *ast.BlockStmt) {
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		return fn.Recv, fn.Type, fn.Body
	case *ast.FuncLit:
		return nil, fn.Type, fn.Body
	}
	return nil, nil, nil
}

// signature is the type of a declaration or literal of a function.
func (c *checked) signature(fn ast.Node) *types.Signature {
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		return c.info.Defs[fn.Name].(*types.Func).Signature()
	case *ast.FuncLit:
		sig, _ := c.info.TypeOf(fn).(*types.Signature)
		return sig
	}
	return nil
}

// declaredIn reports whether a variable, if it is one, is declared inside a piece of code.
func declaredIn(o types.Object, n ast.Node) bool {
	return o != nil && o.Pos() >= n.Pos() && o.Pos() < n.End()
}

// lookup is what a name means at a place of the program, or nil.
func (c *checked) lookup(name string, p token.Pos) types.Object {
	_, o := c.pkg.Scope().Innermost(p).LookupParent(name, p)
	return o
}

// root is the variable that an expression on the left of an assignment begins with, or nil.
func (c *checked) root(e ast.Expr) *ast.Ident {
	for e != nil {
		switch x := e.(type) {
		case *ast.Ident:
			if v, ok := c.info.ObjectOf(x).(*types.Var); ok && !v.IsField() && x.Name != "_" {
				return x
			}
			return nil
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return nil
		}
	}
	return nil
}
