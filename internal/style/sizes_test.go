package style

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A function of the kernel fits a screen or two, and no type of it does everything. Tables are written in init.
func TestSizes(t *testing.T) {
	const longest, most = 100, 50
	fset := token.NewFileSet()
	methods := map[string]int{}
	err := filepath.WalkDir(filepath.Join("..", "..", "kernel"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == "testdata":
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
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
				methods[filepath.Dir(path)+": "+receiver(f.Recv.List[0].Type)]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range methods {
		if n > most {
			t.Errorf("%s has %d methods, more than %d", name, n, most)
		}
	}
	if methods[filepath.Join("..", "..", "kernel", "server")+": execution"] == 0 {
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
