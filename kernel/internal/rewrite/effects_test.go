package rewrite

import (
	"go/importer"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// A function of the standard library returns the same pointer each time, by its name and signature; calling any other
// might do something.
func TestDefaultsOfPackages(t *testing.T) {
	for code, want := range map[string]string{
		"l := log.Default()":               "&log.Default()",
		"s := slog.Default()":              "&log/slog.Default()",
		"mux := http.NewServeMux()":        "",
		"c := context.Background()":        "",
		"var d log.Logger\n_ = d.Writer()": "",
		"import \"github.com/lectern-go/lectern/tensor\"\ng := tensor.DefaultGenerator()": "", // of no standard package: it could do anything
		"func Default() *int { return nil }\nx := Default()":                              "",
	} {
		nb := newNotebook(t)
		r := nb.run(code)
		if len(r.Errors) > 0 || want != "" && !strings.Contains(r.code(), ".Same(\""+want+"\", ") || want == "" && strings.Contains(r.code(), "()\", ") || !compiles(t, r) {
			t.Errorf("%s: %v, want %q\n%s", code, r.Errors, want, r.code())
		}
	}
}

// What the table names is there, in the Go that cells are built with.
func TestFunctionsThatSetSomethingExist(t *testing.T) {
	imports := importer.ForCompiler(token.NewFileSet(), "source", nil)
	for name := range setters {
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
