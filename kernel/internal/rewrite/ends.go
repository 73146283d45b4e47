package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// A package's own variables begin anew in each cell's process. Package persist carries what every process has, such as
// its environment; of the rest the user is told once, where a cell sets it.

// sets are functions that change what their package keeps, of which nothing lives on.
var sets = map[string]bool{
	"encoding/gob.Register": true, "encoding/gob.RegisterName": true, "expvar.Publish": true, "database/sql.Register": true,
	"image.RegisterFormat": true, "mime.AddExtensionType": true, "net/http.Handle": true, "net/http.HandleFunc": true,
	"log/slog.SetDefault": true, "log/slog.SetLogLoggerLevel": true,
	"runtime/debug.SetMemoryLimit": true, "runtime/debug.SetMaxStack": true, "runtime/debug.SetMaxThreads": true, "runtime/debug.SetTraceback": true,
}

// noteEnding says of what a piece of the cell sets in other packages that it ends with the cell.
func (w *work) noteEnding(c *checked, root ast.Node) {
	if fd, ok := root.(*ast.FuncDecl); ok && strings.HasPrefix(fd.Name.Name, "init_") { // it runs in every cell
		return
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, l := range n.Lhs {
					w.noteVariable(c, l)
				}
			}
		case *ast.IncDecStmt:
			w.noteVariable(c, n.X)
		case *ast.CallExpr:
			f, ok := c.info.Uses[named(n.Fun)].(*types.Func)
			if !ok || f.Pkg() == nil || f.Signature().Recv() != nil {
				break
			}
			switch name := f.Pkg().Path() + "." + f.Name(); {
			case name == "runtime.SetFinalizer" || name == "runtime.AddCleanup":
				w.note("ends "+name, "what %s is to call is called in this cell or never: later cells have the value without it", name)
			case sets[name]:
				w.noteEnds(f.Pkg().Name()+"."+f.Name(), "what %s sets ends with this cell")
			}
		}
		return true
	})
}

// noteVariable is noteEnding of what a statement assigns to: a variable of a package, or a part of it.
func (w *work) noteVariable(c *checked, x ast.Expr) {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.IndexExpr:
			x = e.X
			continue
		case *ast.StarExpr:
			x = e.X
			continue
		case *ast.SelectorExpr:
			if v, ok := c.info.Uses[e.Sel].(*types.Var); ok && !v.IsField() {
				if v.Pkg() != c.pkg && v.Pkg().Path()+"."+v.Name() != "time.Local" {
					w.noteEnds(v.Pkg().Name()+"."+v.Name(), "%s is a variable of another package: what is set there ends with this cell")
				}
				return
			}
			x = e.X
			continue
		}
		return
	}
}

// noteEnds says once that something ends with the cell.
func (w *work) noteEnds(name, what string) {
	w.note("ends "+name, what+". A function whose name begins with init_ runs in every cell", fmt.Sprint(name))
}
