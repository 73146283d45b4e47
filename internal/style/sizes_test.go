package style

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// A function of the kernel fits a screen or two, and no type of it does everything. Tables are written in init.
func TestSizes(t *testing.T) {
	const longest, most = 100, 50
	fset := token.NewFileSet()
	methods := map[string]int{}
	goFiles(t, "kernel", 200, func(name string, text []byte) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			at := fset.Position(f.Pos())
			if lines := fset.Position(f.End()).Line - at.Line + 1; lines > longest && f.Name.Name != "init" {
				t.Errorf("%s: %s has %d lines, more than %d", at, f.Name.Name, lines, longest)
			}
			if f.Recv != nil {
				methods[path.Dir(name)+": "+receiver(f.Recv.List[0].Type)]++
			}
		}
	})
	for name, n := range methods {
		if n > most {
			t.Errorf("%s has %d methods, more than %d", name, n, most)
		}
	}
	if methods["kernel/server: execution"] == 0 {
		t.Error("the kernel has no type execution")
	}
}

// receiver is the name of the type in a receiver.
func receiver(x ast.Expr) string {
	switch t := x.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	}
	return x.(*ast.Ident).Name
}
