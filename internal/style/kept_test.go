package style

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// Go keeps the results of tests while the files that they have read are the same. Where they start the go command,
// which reads others, they say so.
func TestKeptResults(t *testing.T) {
	starts, says := map[string]bool{}, map[string]bool{} // by folder
	goFiles(t, ".", 500, func(name string, text []byte) {
		if !strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "kernel/e2e/") {
			return // the tests in browsers have a module of their own, and are always run again
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			called, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			folder := path.Dir(name)
			switch called.Sel.Name {
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
	})
	for folder := range starts {
		if !says[folder] {
			t.Errorf("tests in %s start the go command, and none calls testenv.DependsOn with the folder that it reads", folder)
		}
	}
	if len(starts) == 0 {
		t.Error("no test starts the go command, which can't be")
	}
}
