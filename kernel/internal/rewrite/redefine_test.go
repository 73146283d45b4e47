package rewrite

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A name may become anything else: the cell is a program, and so is the next.
func TestNamesBecomeSomethingElse(t *testing.T) {
	for _, c := range []struct {
		name  string
		cells []string
		vars  string // that are left, sorted
	}{
		{"a variable that hides a name of Go's changes its type", []string{"len := []int{1}\ncd := 2", "len := &cd", "*len"}, "cd len"},
		{"it is used before that", []string{"len := []int{1}", "x := len[0]\nlen := \"s\"\n_ = len + \"t\"", "len + \"u\""}, "len x"},
		{"a type becomes a function", []string{"type T struct{ A int }\nv := T{1}\nn := 2", "func T() int { return n }", "T()"}, "n"},
		{"a type becomes a constant", []string{"type T struct{ A int }\nvar p *T\nn := 2", "const T = 3", "T + n"}, "n"},
		{"a type becomes a variable", []string{"type T struct{ A int }\nv := []T{{1}}\nn := 2", "T := 3", "T + n"}, "T n"},
		{"a type is removed", []string{"type T struct{ A int }\nv := map[string]T{}\nn := 2", "%rm T", "n + 1", "T := 3\nn + T"}, "T n"},
		{"a type with methods and a hidden variable of it", []string{"type T struct{ A int }\nfunc (T) M() {}\nmax := T{1}", "func T() int { return 24 }\nab := []int{25}", "ab"}, "ab"},
		{"a closure and what it uses become variables", []string{"cd := 1\nbc := func() int { cd++; return cd }", "n := 2", "var cd any = 3\nn++\nbc := \"s\"", "fmt.Sprint(cd, n, bc)"}, "bc cd n"},
		{"a closure in a function that the cell does not call", []string{"type T func() int\nfunc f(t T) T { return func() int { return t() } }\nn := 2", "f(func() int { return n })()"}, "n"},
		{"a closure and what it uses", []string{"cd := 1\nbc := func() int { cd++; return cd }", "func cd() int { return 25 }\ntype bc struct{ N int }", "bc{cd()}"}, ""},
	} {
		nb := newNotebook(t)
		for i, code := range c.cells {
			if r := nb.run(code); len(r.Errors) > 0 {
				t.Errorf("%s: cell %d: %+v", c.name, i+1, r.Errors)
			} else if r.Program != nil && !compiles(t, r) {
				t.Errorf("%s: cell %d becomes a program that is none:\n%s", c.name, i+1, r.Program)
			}
		}
		if got := strings.Join(slices.Sorted(maps.Keys(nb.s.vars)), " "); got != c.vars {
			t.Errorf("%s: the variables are %q, want %q", c.name, got, c.vars)
		}
	}
}

// compiles reports whether a cell's program is one that Go takes.
func compiles(t *testing.T, r *Result) bool {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "main.go", r.Program.String(), 0)
	if err == nil {
		_, err = (&types.Config{Importer: pkgs()}).Check("main", fset, []*ast.File{f}, nil)
	}
	if err != nil {
		t.Log(err)
	}
	return err == nil
}

// Functions of packages have places in files of their own. They must not be taken for the same numbers in the program,
// where a function stands that nobody calls and that doesn't compile any more.
func TestPlacesOfPackages(t *testing.T) {
	nb := newNotebook(t)
	nb.run("gone := 1")
	if r := nb.run("func far() int {\n\t/* " + strings.Repeat("far ", 50_000) + "*/\n\treturn gone\n}"); len(r.Errors) > 0 {
		t.Fatal(r.Errors[0])
	}
	nb.run("%rm gone")
	for _, code := range []string{"fmt.Println(1)", "strings.ToUpper(\"a\")", "sort.Ints(nil)", "bytes.NewReader(nil).Len()", "time.Now().IsZero()", "errors.New(\"a\").Error()"} {
		if r := nb.run(code); len(r.Errors) > 0 {
			t.Errorf("%s: %+v", code, r.Errors[0])
		}
	}
}
