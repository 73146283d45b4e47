package rewrite

import (
	"go/ast"
	"strings"
)

// redirect lets code that reads standard input read package show's instead, which asks in the notebook, and code that
// ends the program end it with its values kept.
func (a *assembly) redirect() {
	for id, o := range a.user.info.Uses { // gonbui asks in its own way, and what is typed comes by standard input
		if o.Name() == "RequestInput" && o.Pkg() != nil && o.Pkg().Path() == "github.com/janpfeifer/gonb/gonbui" && a.mine(a.user, id) {
			return
		}
	}
	a.eachPart(a.redirectIn)
}

func (a *assembly) redirectIn(c *checked, root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
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
