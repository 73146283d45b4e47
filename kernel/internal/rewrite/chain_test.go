package rewrite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/packages"
	nbformat "github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/persist"
)

// typeErrors checks a program.
func typeErrors(t *testing.T, all types.Importer, program string) (list []string) {
	t.Helper()
	fs := token.NewFileSet()
	f, err := parser.ParseFile(fs, "", program, 0)
	if err != nil {
		t.Fatalf("%v\n%s", err, program)
	}
	c := types.Config{Importer: all, Error: func(err error) { list = append(list, err.Error()) }}
	c.Check("main", fs, []*ast.File{f}, nil)
	return list
}

// The cells of lessons go together in few programs, which compile; so they do when they are run once more.
func TestLessonsInChains(t *testing.T) {
	lessons, err := filepath.Glob("../../../notebooks/*.ipynb")
	if err != nil || len(lessons) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	all := packages.New(packages.Config{Dir: "../../..", Env: os.Environ(), Warm: []string{"std"}, Name: []string{"github.com/lectern-go/lectern/..."}, State: "github.com/lectern-go/lectern/internal/cellstate"})
	for _, path := range lessons {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := nbformat.Parse(path, b)
		if err != nil {
			t.Fatal(err)
		}
		nb := newNotebook(t)
		nb.s = NewSession(all, func() *persist.Manifest { return nb.manifest })
		for range 2 {
			cells, programs := 0, 0
			var c Chain
			end := func() {
				if len(c.Cells()) == 0 {
					return
				}
				if programs++; len(c.Cells()) < 2 {
					c = Chain{}
					return
				}
				p, _ := c.Program()
				if errs := typeErrors(t, all, p.String()); errs != nil {
					t.Errorf("%s: a program of cells %v: %s\n%s", filepath.Base(path), c.Cells(), strings.Join(errs, "\n"), p)
				}
				c = Chain{}
			}
			for _, cell := range n.Cells {
				if cell.Type != "code" || strings.TrimSpace(cell.Source) == "" || cell.HasTag("check-only") || cell.HasTag("skip-execution") || cell.HasTag("measured") {
					continue
				}
				r := nb.run(cell.Source)
				if len(r.Errors) > 0 {
					continue
				}
				nb.s = nb.s.Assuming(r.Defines) // as in a page, where none of them has run
				if r.Program != nil {
					cells++
				}
				if !c.Add(nb.n, r) {
					end()
					if !c.Add(nb.n, r) && r.Program != nil {
						programs++
					}
				}
			}
			end()
			t.Logf("%s: %d cells in %d programs", filepath.Base(path), cells, programs)
			if programs > 6 {
				t.Errorf("%s: %d cells in %d programs", filepath.Base(path), cells, programs)
			}
		}
	}
}

// What cells of one process could tell apart from cells of their own ends a chain, and the chain compiles without it.
func TestChain(t *testing.T) {
	for _, c := range []struct {
		name  string
		cells []string
		want  string // the cells that go together, | between the programs
	}{
		{"values", []string{"x := 1", "x++\ny := x", "y"}, "1 2 3"},
		{"declarations alone", []string{"func f() int { return 1 }", "f()", "type t struct{}", "fmt.Println(t{}, f())"}, "2 4"},
		{"a variable once more", []string{"x := 1", "p := &x", "x := 2", "*p", "x"}, "1 2 3 4 5"},
		{"with a function of it", []string{"x := 1\nfunc f() int { return x }", "f()", "x := 2", "f() + x"}, "1 2 3 4"},
		{"with a closure of it", []string{"x := 1", "h := func() int { return x }", "x := 2", "h()"}, "1 2|3 4"},
		{"with another type", []string{"x := 1", "x", "x := \"a\"", "x"}, "1 2 3 4"},
		{"a variable of Go's name", []string{"len := 1", "len", "len := 2", "len"}, "1 2|3 4"},
		{"a variable that was a function", []string{"func f() int { return 1 }", "f()", "f := 2", "f"}, "2|3 4"},
		{"a function once more", []string{"func f() int { return 1 }", "f()", "func f() int { return 2 }", "f()"}, "2 4"},
		{"a function of that", []string{"func f() int { return 1 }\nfunc g() int { return f() }", "g()", "func f() int { return 2 }", "g()", "f()"}, "2 4 5"},
		{"as a value", []string{"func f() int { return 1 }", "h := f", "func f() int { return 2 }", "h()"}, "2|4"},
		{"as a value from then on", []string{"func f() int { return 1 }\nfunc g() int { return f() }", "f()", "func f() int { return 2 }\nh := f\nk := g", "h() + k()", "func f() int { return 3 }", "h() + k()"}, "2 3 4|6"},
		{"in a closure", []string{"func f() int { return 1 }", "h := func() int { return f() }", "func f() int { return 2 }", "h()"}, "2|4"},
		{"in a method", []string{"func f() string { return \"\" }\ntype t int\nfunc (t) String() string { return f() }", "var v any = t(1)", "func f() string { return \"x\" }", "v"}, "2|4"},
		{"beside a local name", []string{"func f() int { return 1 }", "f()", "func f() int { return 2 }", "f()\nfunc() { f := 3; _ = f }()"}, "2 4"},
		{"beside a parameter and a label", []string{"func f() int { return 1 }", "f()", "func f() int { return 2 }", "f()\nfunc(f int) { for range f { break } }(2)\nf:\nfor { break f }"}, "2 4"},
		{"beside a method", []string{"func f() int { return 1 }\ntype t struct{ n int }\nfunc (t) f() int { return 5 }", "f()", "func f() int { return 2 }", "f() + t{}.f()"}, "2 4"},
		{"as a key", []string{"k := 1", "p := &k", "k := 2\nm := map[int]int{k: 5}", "fmt.Println(*p, k, m)"}, "1 2 3 4"},
		{"as a key or a field", []string{"func f() int { return 1 }\ntype t struct{ f int }", "f()", "func f() int { return 2 }", "f()\nt{f: 1}"}, "2 4"},
		{"a type once more", []string{"type t struct{ a int }", "fmt.Println(t{1})", "type t struct{ b int }", "fmt.Println(t{2})"}, "2|4"},
		{"a name for a package", []string{"import r \"math/rand\"\nr.Int()", "import r \"strings\"\nr.ToUpper(\"a\")"}, "1|2"},
		{"a package and a variable", []string{"strings.ToUpper(\"a\")", "strings := 1"}, "1|2"},
		{"goroutines", []string{"x := 1", "go func() { x++ }()", "x"}, "1|2|3"},
		{"by a library", []string{"x := 1", "var w sync.WaitGroup\nw.Go(func() { x++ })\nw.Wait()", "x"}, "1|2|3"},
		{"input", []string{"x := 1", "fmt.Scanln(&x)", "x"}, "1|2|3"},
		{"the environment", []string{"x := 1", "os.Setenv(\"A\", \"1\")", "x"}, "1|2|3"},
		{"a package's variable", []string{"x := 1", "http.DefaultClient = nil", "x"}, "1|2|3"},
		{"a part of it", []string{"x := 1", "http.DefaultClient.Timeout = 1", "x"}, "1|2|3"},
		{"in a loop's head", []string{"x := []error{io.EOF}", "for _, io.EOF = range x {\n}", "x"}, "1|2|3"},
		{"by a package's function", []string{"x := 1", "slog.SetDefault(slog.Default())", "x"}, "1|2|3"},
		{"what it holds", []string{"x := 1", "http.DefaultTransport.(*http.Transport).MaxIdleConns = 1", "x"}, "1|2|3"},
		{"in a function of an earlier cell", []string{"func f() { http.DefaultClient = nil }", "x := 1", "f()", "x"}, "2|3|4"},
		{"its address", []string{"x := 1", "p := &http.DefaultClient", "x"}, "1|2|3"},
		{"the process", []string{"x := 1", "runtime.GC()", "x"}, "1|2|3"},
		{"flags", []string{"x := 1", "log.SetFlags(0)", "x"}, "1|2|3"},
		{"a magic", []string{"x := 1", "%env A=1\nx++", "x"}, "1|2|3"},
		{"steps", []string{"x := 1", "//step\nx++", "x"}, "1|2|3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			nb := newNotebook(t)
			var chain Chain
			var got []string
			end := func() {
				if cells := chain.Cells(); len(cells) > 0 {
					got = append(got, strings.Trim(fmt.Sprint(cells), "[]"))
					p, imports := chain.Program()
					if errs := typeErrors(t, pkgs(), p.String()); errs != nil && len(cells) > 1 {
						t.Errorf("%s\n%s", strings.Join(errs, "\n"), p)
					}
					if !slices.Contains(imports, persistPath) {
						t.Errorf("imports %q", imports)
					}
				}
				chain = Chain{}
			}
			for _, code := range c.cells {
				r := nb.run(code)
				if len(r.Errors) > 0 {
					t.Fatalf("%q: %v", code, r.Errors)
				}
				if chain.Add(nb.n, r) {
					continue
				}
				end()
				if !chain.Add(nb.n, r) && r.Program != nil {
					got = append(got, fmt.Sprint(nb.n))
				}
			}
			end()
			if s := strings.Join(got, "|"); s != c.want {
				t.Errorf("programs %s, want %s", s, c.want)
			}
		})
	}
}
