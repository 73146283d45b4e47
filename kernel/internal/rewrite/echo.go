package rewrite

import (
	"go/ast"
	"go/types"
	"strings"
)

// echoCall returns the function of package show that shows the value of the cell's last expression, or "" if it has
// none worth showing.
func (c *checked) echoCall(x ast.Expr) string {
	tv, ok := c.info.Types[x]
	if !ok || tv.IsVoid() || tv.IsType() || tv.Type == nil {
		return ""
	}
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return "Echo"
	}
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.SelectorExpr:
		o := c.info.Uses[f.Sel]
		if o != nil && o.Pkg() != nil && o.Pkg().Path() == "fmt" &&
			(strings.HasPrefix(o.Name(), "Print") || strings.HasPrefix(o.Name(), "Fprint") || strings.HasPrefix(o.Name(), "Scan") || strings.HasPrefix(o.Name(), "Fscan")) {
			return "" // nobody wants to see what Println returns
		}
	case *ast.Ident:
		if b, ok := c.info.Uses[f].(*types.Builtin); ok && (b.Name() == "copy" || b.Name() == "recover") {
			return ""
		}
	}
	if types.Identical(tv.Type, types.Universe.Lookup("error").Type()) {
		return "EchoErr" // called for its effect
	}
	return "Echo"
}
