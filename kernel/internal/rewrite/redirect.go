package rewrite

import (
	"go/ast"
	"strings"
)

// redirect lets code that reads standard input read package show's instead, which asks in the notebook, and code that
// ends the program end it with its values kept.
func (w *work) redirect() {
	for id, o := range w.user.info.Uses { // gonbui asks in its own way, and what is typed comes by standard input
		if o.Name() == "RequestInput" && o.Pkg() != nil && o.Pkg().Path() == "github.com/janpfeifer/gonb/gonbui" && w.mine(w.user, id) {
			return
		}
	}
	w.eachDecl(w.final, func(_ *decl, n ast.Node) { w.redirectIn(w.final, n) })
	for _, st := range w.body {
		w.redirectIn(w.user, st)
	}
}

func (w *work) redirectIn(c *checked, root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok || w.dropped[id] {
			return true
		}
		o := c.info.Uses[sel.Sel]
		if o == nil || o.Pkg() == nil || !w.mine(c, sel) {
			return true
		}
		switch path, name := o.Pkg().Path(), o.Name(); {
		case path == "os" && name == "Stdin":
		case path == "fmt" && (name == "Scan" || name == "Scanln" || name == "Scanf"):
		default:
			return true
		}
		name := sel.Sel.Name
		w.replace(c, sel.Pos(), sel.End(), showName+"."+strings.ToUpper(name[:1])+name[1:])
		w.dropped[id] = true
		return true
	})
}
