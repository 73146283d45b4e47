package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
)

// effects are what a program does beside giving values to variables, as far as its text tells.
type effects struct {
	goroutines bool // a goroutine may go on when its main ends
	process    bool // it changes the process, reads standard input, or goes on when a cell has ended
	writes     bool // it sets a variable of another package, or takes its address
}

// starting are methods and functions that start goroutines, such as that of sync.WaitGroup.
var starting = map[string]bool{"Go": true, "AfterFunc": true}

// lasting are names of what has to do with standard input, changes the process, or goes on when a cell has ended.
var lasting = map[string]bool{"Stdin": true, "Scan": true, "Scanln": true, "Scanf": true, "Setenv": true, "Unsetenv": true, "Clearenv": true, "Chdir": true, "Exit": true,
	"Pull": true, "Pull2": true}

// effects are those of all that the program has.
func (g *graph) effects() (e effects) {
	sets := func(x ast.Expr) { e.writes = e.writes || g.c.ofPackage(x) }
	g.inspect(func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			e.goroutines = true
		case *ast.SelectorExpr:
			e.goroutines = e.goroutines || starting[n.Sel.Name]
			e.process = e.process || lasting[n.Sel.Name]
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				sets(x)
			}
		case *ast.IncDecStmt:
			sets(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				sets(n.X)
			}
		}
		return true
	})
	return e
}

// ofPackage reports whether an expression names something of a package.
func (c *checked) ofPackage(x ast.Expr) bool {
	s, ok := x.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	if !ok {
		return false
	}
	_, ok = c.info.Uses[id].(*types.PkgName)
	return ok
}
