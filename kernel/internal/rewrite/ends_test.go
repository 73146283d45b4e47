package rewrite

import (
	"go/importer"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// What the table names is there, in the Go that cells are built with.
func TestFunctionsThatSetSomethingExist(t *testing.T) {
	imports := importer.ForCompiler(token.NewFileSet(), "source", nil)
	for name := range sets {
		i := strings.LastIndexByte(name, '.')
		p, err := imports.Import(name[:i])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, ok := p.Scope().Lookup(name[i+1:]).(*types.Func); !ok {
			t.Errorf("%s is no function", name)
		}
	}
}
