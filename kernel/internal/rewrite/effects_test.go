package rewrite

import (
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"maps"
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
	defer func(enabled bool) { build.Default.CgoEnabled = enabled }(build.Default.CgoEnabled)
	build.Default.CgoEnabled = false // there need not be a C compiler
	imports := importer.ForCompiler(token.NewFileSet(), "source", nil)
	names := maps.Clone(setters)
	maps.Copy(names, writers)
	for name := range names {
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

// Whatever writes into a variable of another package is seen, in each of the forms that Go has for it.
func TestSettingsAreSeen(t *testing.T) {
	note := func(name string) string {
		return name + " is a variable of another package: what is set there ends with this cell"
	}
	for code, want := range map[string]string{
		"os.Args = nil":                                     note("os.Args"),
		"os.Args[0] = \"x\"":                                note("os.Args"),
		"clear(os.Args)":                                    note("os.Args"),
		"copy(os.Args[0:], []string{\"x\"})":                note("os.Args"),
		"sort.Strings(os.Args)":                             note("os.Args"),
		"slices.Sort((os.Args)[1:])":                        note("os.Args"),
		"sort.Sort(sort.StringSlice(os.Args))":              note("os.Args"),
		"delete(unicode.Scripts, \"Latin\")":                note("unicode.Scripts"),
		"maps.Copy(unicode.Scripts, unicode.Categories)":    note("unicode.Scripts"),
		"http.DefaultClient.Timeout++":                      note("http.DefaultClient"),
		"gob.Register(1)":                                   "what gob.Register sets ends with this cell",
		"slog.SetDefault(slog.Default())":                   "",
		"a := slices.Clone(os.Args)\nsort.Strings(a)":       "",
		"clear := func([]string) {}\nclear(os.Args)":        "",
		"n := copy(make([]string, 3), os.Args)\nn":          "",
		"m := maps.Clone(unicode.Scripts)\ndelete(m, \"\")": "",
	} {
		r := newNotebook(t).run(code)
		got := strings.Join(r.Notes, "\n")
		if len(r.Errors) > 0 || want == "" && strings.Contains(got, "ends with this cell") || !strings.Contains(got, want) {
			t.Errorf("%s: %v, notes %q, want %q", code, r.Errors, got, want)
		}
	}
}
