package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// redirect makes code that reads standard input read package show's instead, which asks in the notebook.
func (a *assembly) redirect() {
	for id, o := range a.user.info.Uses { // gonbui asks in its own way, and the answer comes by standard input
		if o.Name() == "RequestInput" && o.Pkg() != nil && o.Pkg().Path() == "github.com/janpfeifer/gonb/gonbui" && a.mine(a.user, id) {
			return
		}
	}
	a.eachPart(a.redirectIn)
}

func (a *assembly) redirectIn(c *checked, root ast.Node) {
	ast.PreorderStack(root, nil, func(n ast.Node, stack []ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok || a.dropped[id] {
			return true
		}
		o := c.info.Uses[sel.Sel]
		if o == nil || o.Pkg() == nil || !a.mine(c, sel) {
			return true
		}
		switch path, name := o.Pkg().Path(), o.Name(); {
		case path == "os" && name == "Stdin":
			if a.staysFile(c, sel, stack) {
				return true
			}
		case path == "fmt" && (name == "Scan" || name == "Scanln" || name == "Scanf"):
		default:
			return true
		}
		name := sel.Sel.Name
		a.replace(c, sel.Pos(), sel.End(), showName+"."+strings.ToUpper(name[:1])+name[1:])
		a.dropped[id] = true
		return true
	})
}

// staysFile reports whether os.Stdin is needed as the file that it is: package show's is only an io.Reader. As a
// value it may be read elsewhere, and a note says that nothing comes then.
func (a *assembly) staysFile(c *checked, x *ast.SelectorExpr, stack []ast.Node) bool {
	if len(stack) > 0 {
		switch p := stack[len(stack)-1].(type) {
		case *ast.SelectorExpr: // its method
			return p.Sel.Name != "Read"
		case *ast.BinaryExpr, *ast.ExprStmt:
			return true
		case *ast.UnaryExpr:
			return p.Op == token.AND
		}
	}
	reads, empty := false, false
	if t := c.becomes(x, stack); t != nil {
		if i, ok := t.Underlying().(*types.Interface); ok {
			empty = i.Empty() // it is printed, or compared
			reads = i.NumMethods() == 1 && i.Method(0).Name() == "Read"
		}
	}
	if !reads && !empty {
		a.note("os.Stdin", "os.Stdin is used as a file here, and nothing can be read from it: what you type is read where os.Stdin becomes an io.Reader, as in bufio.NewScanner(os.Stdin)")
	}
	return !reads
}

// becomes is the type that the value of an expression is converted to where it is, below stack; nil if it stays
// what it is.
func (c *checked) becomes(x ast.Expr, stack []ast.Node) types.Type {
	child := ast.Node(x)
	for i := len(stack) - 1; i >= 0; i-- {
		switch p := stack[i].(type) {
		case *ast.ParenExpr:
		case *ast.KeyValueExpr:
			if p.Key == child {
				m, _ := c.literal(stack[i-1]).(*types.Map)
				return keyOf(m)
			}
		case *ast.IndexExpr:
			m, _ := c.info.TypeOf(p.X).Underlying().(*types.Map)
			return keyOf(m)
		case *ast.SendStmt:
			if ch, ok := c.info.TypeOf(p.Chan).Underlying().(*types.Chan); ok && p.Value == child {
				return ch.Elem()
			}
			return nil
		case *ast.CallExpr:
			if tv := c.info.Types[p.Fun]; tv.IsType() {
				return tv.Type
			}
			s, ok := c.info.TypeOf(p.Fun).Underlying().(*types.Signature)
			at := slices.Index(p.Args, child.(ast.Expr))
			if !ok || at < 0 {
				return nil
			}
			n := s.Params().Len()
			if s.Variadic() && at >= n-1 && !p.Ellipsis.IsValid() {
				return s.Params().At(n - 1).Type().(*types.Slice).Elem()
			}
			return s.Params().At(at).Type()
		case *ast.AssignStmt:
			if at := slices.Index(p.Rhs, child.(ast.Expr)); p.Tok == token.ASSIGN && at >= 0 && len(p.Lhs) == len(p.Rhs) {
				return c.info.TypeOf(p.Lhs[at])
			}
			return nil
		case *ast.ValueSpec:
			if p.Type != nil {
				return c.info.TypeOf(p.Type)
			}
			return nil
		case *ast.CompositeLit:
			switch t := c.literal(p).(type) {
			case *types.Struct:
				for j, e := range p.Elts {
					kv, keyed := e.(*ast.KeyValueExpr)
					switch {
					case e != child:
					case keyed:
						return c.info.TypeOf(kv.Key)
					default:
						return t.Field(j).Type()
					}
				}
				return nil
			case interface{ Elem() types.Type }:
				return t.Elem()
			}
			return nil
		case *ast.ReturnStmt:
			return c.returned(p, child, stack[:i])
		default:
			return nil
		}
		child = stack[i]
	}
	return nil
}

// literal is what a composite literal is made of. One that leaves out its type may leave out & as well.
func (c *checked) literal(n ast.Node) types.Type {
	t := c.info.TypeOf(n.(*ast.CompositeLit)).Underlying()
	if p, ok := t.(*types.Pointer); ok {
		return p.Elem().Underlying()
	}
	return t
}

// keyOf is the type of a map's keys; nil if there is no map.
func keyOf(m *types.Map) types.Type {
	if m == nil {
		return nil
	}
	return m.Key()
}

// returned is the type that a function below stack returns a result as.
func (c *checked) returned(r *ast.ReturnStmt, result ast.Node, stack []ast.Node) types.Type {
	at := slices.Index(r.Results, result.(ast.Expr))
	for _, n := range slices.Backward(stack) {
		var t types.Type
		switch f := n.(type) {
		case *ast.FuncLit:
			t = c.info.TypeOf(f)
		case *ast.FuncDecl:
			t = c.info.Defs[f.Name].Type()
		default:
			continue
		}
		if res := t.(*types.Signature).Results(); at >= 0 && res.Len() == len(r.Results) {
			return res.At(at).Type()
		}
		return nil
	}
	return nil
}
