package rewrite

import (
	"go/ast"
	"strings"
)

// redirectInput lets code that reads standard input read package show's instead, which asks in the notebook. GoNB gives a cell an input
// that never comes.
func (w *work) redirectInput() {
	ast.Inspect(w.c.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		o := w.c.info.Uses[sel.Sel]
		if o == nil || o.Pkg() == nil {
			return true
		}
		switch path, name := o.Pkg().Path(), o.Name(); {
		case path == "os" && name == "Stdin":
		case path == "fmt" && (name == "Scan" || name == "Scanln" || name == "Scanf"):
		default:
			return true
		}
		if src, _, exact := w.c.user(sel.Pos()); exact && src == w.src {
			name := sel.Sel.Name
			w.replace(sel.Pos(), sel.End(), showName+"."+strings.ToUpper(name[:1])+name[1:])
			w.usesShow = true
		}
		return true
	})
}
