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

// Go keeps the results of tests while the files that they have read are the same. Where they start the go command,
// which reads others, they say so.
func TestKeptResults(t *testing.T) {
	starts, says := map[string]bool{}, map[string]bool{} // by folder
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."), d.Name() == "testdata", d.Name() == "e2e":
			return filepath.SkipDir // the tests in browsers have a module of their own, and are always run again
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			folder := filepath.Dir(path)
			switch name.Sel.Name {
			case "DependsOn":
				says[folder] = true
			case "Command", "CommandContext":
				for _, arg := range call.Args {
					if word, ok := arg.(*ast.BasicLit); ok && word.Value == `"go"` {
						starts[folder] = true
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder := range starts {
		if !says[folder] {
			t.Errorf("tests in %s start the go command, and none calls testenv.DependsOn with the folder that it reads", folder)
		}
	}
	if len(starts) == 0 {
		t.Error("no test starts the go command, which can't be")
	}
}
