package oracle_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/lectern-go/lectern/internal/elementwise"
	"github.com/lectern-go/lectern/tensor"
)

// TestEveryMethodHasAnswers: operations that are made of others, such as Dot, Outer and Roll, are no records that
// TestMain could count, and may put their parts together wrongly. So each method that makes tensors is used by what
// asks for answers, or says why not.
func TestEveryMethodHasAnswers(t *testing.T) {
	used := map[string]bool{}
	for i := range elementwise.Table {
		used[elementwise.Table[i].Method] = true
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		if name == "methods_test.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				used[s.Sel.Name] = true
			}
			return true
		})
	}
	result := reflect.TypeFor[*tensor.Tensor]()
	for i := range result.NumMethod() {
		m := result.Method(i)
		if m.Type.NumOut() == 0 || m.Type.Out(0) != result {
			continue
		}
		switch reason := methodsWithoutAnswers[m.Name]; {
		case !used[m.Name] && reason == "":
			t.Errorf("no case calls %s, and methodsWithoutAnswers has no reason", m.Name)
		case used[m.Name] && reason != "":
			t.Errorf("a case calls %s, which methodsWithoutAnswers excuses", m.Name)
		}
	}
}

// methodsWithoutAnswers are the methods that no case calls, and why.
var methodsWithoutAnswers = map[string]string{
	"AddcdivInPlace":    "it writes what the method without InPlace returns, and is compared with that",
	"AddcmulInPlace":    "it writes what the method without InPlace returns, and is compared with that",
	"Argsort":           "Sort returns the same positions",
	"FloorDivInPlace":   "it writes what the method without InPlace returns, and is compared with that",
	"LerpInPlace":       "it writes what the method without InPlace returns, and is compared with that",
	"MaskedFillInPlace": "it writes what the method without InPlace returns, and is compared with that",
	"MaskedSelect":      "it is Index with a mask",
	"MatmulAs":          "PyTorch has no product that is rounded to another dtype at once",
	"MatmulT":           "layers and attention call it",
	"Multinomial":       "the generators differ",
	"Nonzero":           "its positions are those of a loop in package tensor's tests",
	"NormalInPlace":     "the generators differ",
	"PinMemory":         "it copies",
	"Prefetch":          "it copies",
	"RemainderInPlace":  "it writes what the method without InPlace returns, and is compared with that",
	"SetData":           "it computes nothing",
	"SetRole":           "it computes nothing",
	"Slice":             "Index with a Range calls it",
	"UniformInPlace":    "the generators differ",
}
