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

	"github.com/lectern-go/lectern/kernel/persist"
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

// A := that defines something new assigns to what there is already, as in Go: variables that share its memory see
// that. Run again, it does the same. A variable that shares nothing, or has another type, is defined anew, as by a :=
// that defines nothing else.
func TestDefineAssigns(t *testing.T) {
	const first = "x, p := 1, new(int)"
	for _, c := range []struct {
		name   string
		cells  []string
		shared string // with x
		want   string // what the last cell restores
	}{
		{"a new variable beside it", []string{first, "x, y := 2, 3"}, "p", "~p ~x"},
		{"the same again", []string{first, "x, y := 2, 3", "x, y := 4, 5"}, "p", "~p ~x"},
		{"the same again, and again", []string{first, "x, y := 2, 3", "x, y := 4, 5", "x, y := 6, 7"}, "p", "~p ~x"},
		{"the first cell again", []string{first, "x, y := 2, 3", first}, "y", ""},
		{"nothing new", []string{first, "x := 2"}, "p", ""},
		{"nothing new of two", []string{first, "y := 2", "x, y := 3, 4"}, "p", ""},
		{"another type", []string{first, "x, y := \"s\", 3"}, "p", ""},
		{"nobody shares it", []string{first, "x, y := 2, 3"}, "", ""},
		{"it is used before", []string{first, "x++\nx, y := 2, 3"}, "p", "~p x"},
		{"it is used behind", []string{first, "x, y := 2, 3\nx++"}, "p", "~p ~x"},
		{"one that is new here, too", []string{first, "x, y := 2, 3\nz, y := 4, 5"}, "p", "~p ~x"},
	} {
		nb := newNotebook(t)
		for i, code := range c.cells {
			r := nb.run(code)
			if len(r.Errors) > 0 || !compiles(t, r) {
				t.Fatalf("%s: cell %d: %v\n%s", c.name, i+1, r.Errors, r.code())
			}
			if i == len(c.cells)-1 {
				var got []string
				if _, call, ok := strings.Cut(r.code(), ".Begin("); ok {
					for i, s := range strings.Split(call[:strings.IndexByte(call, '\n')], "\"") {
						if i%2 == 1 {
							got = append(got, s)
						}
					}
				}
				slices.SortFunc(got, func(a, b string) int { return strings.Compare(strings.Trim(a, "~"), strings.Trim(b, "~")) })
				if want := strings.Fields(c.want); !slices.Equal(got, want) {
					t.Errorf("%s: restores %q, want %q\n%s", c.name, got, want, r.code())
				}
				break
			}
			for name := range nb.manifest.Vars { // each by itself, but for two
				id := len(nb.manifest.Groups) + 1
				nb.manifest.Groups[id] = persist.Group{Vars: []string{name}}
				nb.manifest.Vars[name] = persist.Var{Group: id}
			}
			if _, ok := nb.manifest.Vars[c.shared]; ok {
				id := nb.manifest.Vars["x"].Group
				nb.manifest.Groups[id] = persist.Group{Vars: []string{"x", c.shared}}
				nb.manifest.Vars[c.shared] = persist.Var{Group: id}
			}
		}
	}
}

// A pasted program's main is there in later cells, under its own name alone.
func TestMainOfAnEarlierCell(t *testing.T) {
	nb := newNotebook(t)
	if r := nb.run("main()"); len(r.Errors) != 1 || r.Errors[0].Msg != "undefined: main" {
		t.Errorf("main of nowhere: %+v", r.Errors)
	}
	nb.run("package main\nfunc f(n int) int { return n }\nfunc main() { fmt.Println(f(1)) }")
	for _, code := range []string{"main()", "defer main()", "func again() { main() }", "again()", "g := main", "func main() { if f(0) > 1 { main() } }", "%exec main"} {
		r := nb.run(code)
		if len(r.Errors) > 0 || r.Program != nil && (!compiles(t, r) || !strings.Contains(r.code(), "func "+mainName+"()") || strings.Count(r.code(), " main()") != 1) {
			t.Errorf("%s: %+v\n%s", code, r.Errors, r.code())
		}
	}
	if got := nb.s.Names()["Functions"]; !slices.Equal(got, []string{"again", "f", "main"}) {
		t.Errorf("functions: %q", got)
	}
	if r := nb.run("func f(s string) string { return s }\nf(\"a\")"); len(r.Errors) > 0 { // which main can't be called with: no matter, as long as it isn't
		t.Errorf("a function that main calls is declared again: %+v", r.Errors)
	}
	if r := nb.run("main()"); len(r.Errors) == 0 || r.Errors[0].Pos.Cell == nb.n {
		t.Errorf("main does not compile any more: %+v", r.Errors)
	}
	nb.run("%rm main")
	if r := nb.run("main()"); len(r.Errors) != 1 {
		t.Errorf("main was removed: %+v", r.Errors)
	}
}

// A variable that could not be kept is not the package of its name.
func TestNotKeptIsNoPackage(t *testing.T) {
	lose := func(nb *notebook, name, why string) {
		delete(nb.manifest.Vars, name)
		nb.manifest.Notes[name] = why
		nb.s.Settle()
	}
	for _, c := range []struct{ name, define, use, why string }{
		{"path", "path := make(chan int)", "path.Join(\"a\", \"b\")", "a channel can't be kept"},
		{"fs", "fs := sync.OnceValue(func() int { return 1 })", "fs.ValidPath(\"n\")", "a function value can't be kept"},
		{"path", "path := make(chan int)", "path.Join(\"a\", \"b\")", ""}, // its cell ended by force
	} {
		nb := newNotebook(t)
		nb.run(c.define)
		lose(nb, c.name, c.why)
		r := nb.run(c.use)
		if len(r.Errors) != 1 || r.Errors[0].Msg != "undefined: "+c.name || !strings.Contains(r.Errors[0].Hint, c.why) || !strings.Contains(r.Errors[0].Hint, "import \"") {
			t.Errorf("%s: %+v", c.use, r.Errors)
		}
		if r := nb.run("import \"path\"\npath.Join(\"a\", \"b\")"); len(r.Errors) > 0 {
			t.Errorf("the package is imported: %+v", r.Errors[0])
		}
	}
	nb := newNotebook(t)
	nb.run("path := 1")
	nb.run("%rm path")
	if r := nb.run("path.Join(\"a\", \"b\")"); len(r.Errors) > 0 {
		t.Errorf("%%rm brings the package back: %+v", r.Errors[0])
	}
	nb = newNotebook(t)
	nb.run("path := 1")
	nb.run("path, err := binary.LittleEndian, error(nil)") // of a type without a name
	if r := nb.run("path.Join(\"a\", \"b\")"); len(r.Errors) != 1 || !strings.Contains(r.Errors[0].Hint, "can't be named outside its package") {
		t.Errorf("neither the package nor the earlier variable: %+v", r.Errors)
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
// where a function stands that is not called and that doesn't compile any more.
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
