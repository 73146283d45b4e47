package rewrite

import (
	"go/ast"
	"go/types"
	"regexp"
)

var printing = regexp.MustCompile(`^(Print|Fprint|Scan|Fscan)`)

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
	if o := c.info.Uses[named(call.Fun)]; o != nil {
		_, builtin := o.(*types.Builtin)
		if builtin && (o.Name() == "copy" || o.Name() == "recover") || o.Pkg() != nil && o.Pkg().Path() == "fmt" && printing.MatchString(o.Name()) {
			return "" // the results of Println are of no interest
		}
	}
	if types.Identical(tv.Type, types.Universe.Lookup("error").Type()) {
		return "EchoErr" // called for its effect
	}
	return "Echo"
}
