package rewrite

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// A notebook defines flags in one cell and gives them values in another: definitions live on (see settings.go), and the
// flags of a cell that has arguments are parsed for it.

// definesFlag returns the function of package flag that a call defines a flag by, or nil.
func (c *checked) definesFlag(call *ast.CallExpr) *types.Func {
	f, ok := c.info.Uses[named(call.Fun)].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "flag" || f.Signature().Recv() != nil || f.Signature().Params().Len() < 3 {
		return nil
	}
	return f
}

// parsesFlags returns the index of the cell's statement after which flags are parsed, or -1; if those of earlier cells
// will do, it parses them right away.
func (a *assembly) parsesFlags(t *Text) int {
	if a.r.Args == "" || a.tests {
		return -1
	}
	last := -1
	for i, st := range a.body {
		ast.Inspect(st, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && i < len(a.stmts) && a.user.definesFlag(call) != nil {
				last = i
			}
			_, lit := n.(*ast.FuncLit)
			return !lit
		})
	}
	if last < 0 && a.s.vars[cellstate.FlagsName].typ != "" {
		t.Inject(persistName, ".ParseFlags()\n")
	}
	return last
}

// flagNames are the names of the flags that the program itself may define, as far as they are constants. A cell that
// runs again defines its flags again, which Go would not allow.
func (a *assembly) flagNames() (names []string) {
	a.g.inspect(func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f := a.g.c.definesFlag(call)
		if f == nil {
			return true
		}
		for i, arg := range call.Args {
			if v := a.g.c.info.Types[arg].Value; f.Signature().Params().At(i).Name() == "name" && v != nil && v.Kind() == constant.String {
				names = append(names, constant.StringVal(v))
			}
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}
