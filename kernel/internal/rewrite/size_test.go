package rewrite

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// A function fits a screen or two, and nothing that makes a program of a cell is a type that does everything. Tables
// are written in init.
func TestSizes(t *testing.T) {
	const longest, most = 100, 50
	fset := token.NewFileSet()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string]int{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			at := fset.Position(f.Pos())
			if lines := fset.Position(f.End()).Line - at.Line + 1; lines > longest && f.Name.Name != "init" {
				t.Errorf("%s: %s has %d lines, more than %d", at, f.Name.Name, lines, longest)
			}
			if f.Recv != nil {
				methods[ReceiverType(f.Recv.List[0].Type)]++
			}
		}
	}
	for name, n := range methods {
		if n > most && name != "mistake" { // which explains, in a method for each kind of mistake
			t.Errorf("%s has %d methods, more than %d", name, n, most)
		}
	}
	if methods["work"] == 0 {
		t.Error("there is no type work")
	}
}
