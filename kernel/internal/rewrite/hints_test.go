package rewrite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

// hintPrograms are wrong cells, at least one for each row of hints.
var hintPrograms = map[string][]string{
	"did you mean, of a package":        {"strings.toUpper(s)"},
	"not exported":                      {"var y bytes.readOp"},
	"~":                                 {"y := ~x\ny"},
	"assignment to a value":             {"g(1) = 2", "3 = x"},
	"undefined":                         {"nothing", "strings.Nothing()"},
	"selector":                          {"s.length", "T{}.size", "p.nothing()"},
	"field of a type":                   {"T.Size"},
	"overflow of an untyped constant":   {"var y int8 = 300", "1 << 64"},
	"overflow of a constant":            {"int8(100) * int8(100)", "const big int8 = 127\nbig + 1"},
	"mismatched types":                  {"x * f", `"x is " + x`, "2 * a"},
	"operator":                          {"a + a", "f % 2.5", "s - s", "y := !x"},
	"brackets of a tensor":              {"a[0]", "a[0:1]", "for i := range a {\n\tfmt.Println(i)\n}", "(*a)[0]"},
	"len of a tensor":                   {"len(a)"},
	"missing package":                   {`import "example.org/a"`},
	"method of a pointer":               {"type P struct{}\nfunc (*P) String() string { return \"\" }\nvar y fmt.Stringer = P{}"},
	"missing method":                    {"var y fmt.Stringer = x"},
	"wrong type":                        {`g("3")`, "g(f)", "g(2.5)", "var y string = T{}", "var y T = f", "var y string = xs[0]", "const c int = 1\nvar y string = c"},
	"conversion":                        {`int("3")`, "float64(true)", "int(2.5)"},
	"number of values":                  {`n := strconv.Atoi("3")`, "a1, a2 := g(1)"},
	"negative index":                    {"xs[-1]"},
	"indirection":                       {"*x"},
	"assertion without an interface":    {"x.(int)", "p.(fmt.Stringer)"},
	"not a type":                        {"func h(x) int { return x }", "var y x"},
	"unknown field":                     {"T{Sise: 1}"},
	"no new variables":                  {"y := 1\ny := 2\ny"},
	"condition":                         {"if x { }", "for x { }"},
	"return values":                     {"func h(x int) { return x }", "func h() int { return }"},
	"not constant":                      {"const c = g(1)"},
	"in single-value context":           {`x + strconv.Atoi("3")`},
	"variables but 1 value":             {"y, z := 1"},
	"assignment mismatch":               {"y, z := 1, 2, 3", "y, z, w := 1, 2"},
	"non-local type":                    {"func (i int) Half() int { return i / 2 }"},
	"expects 2 or 3 arguments; found 1": {"make([]int)"},
	"truncated to int":                  {"xs[1.5]", "x + 1.5"},
	"out of bounds":                     {"y := [3]int{}\ny[5]"},
	"is not a function":                 {"x()"},
	"is not used":                       {"x + 1\nx"},
	"is declared and not used":          {"func h() { y := 1 }", "func h() {\n\tswitch y := any(x).(type) {\n\tcase int:\n\t}\n}"},
	"unexported":                        {"a.view(-1, 1)"},
	"arguments in conversion":           {"int()", "[]int(1, 2)"},
	"try":                               {"try:\n\tg(1)\nfinally:\n\tg(2)"},
	"pointer to a map":                  {"y := new(map[string]int)\ny[s] = 1"},
	"cannot be ordered":                 {"max(xs)", "min(a)"},
	" declared and not used":            {"loop:\n\tx = 3"},
	"missing return":                    {"func h() int { }"},
	"not enough arguments in call":      {"g()"},
	"too many arguments in call":        {"g(1, 2)"},
	"cannot infer":                      {"func h[F any]() { }\nh()"},
	"can only be compared to nil":       {"xs == xs", "m == m"},
	"use of untyped nil":                {"y := nil"},
	"cannot use nil as":                 {"var y int = nil", "g(nil)"},
	"neither addressable nor a map index expression": {"s[0] = 'x'"},
	"cannot assign to struct field":                  {"y := map[string]T{}\ny[\"a\"].Size = 1"},
	"cannot take address of":                         {"&g(1)"},
	"(value of type func":                            {"for i := range g {\n}"},
	"break not in":                                   {"break"},
	"continue not in":                                {"continue"},
	"must be function call":                          {"go g", "defer x"},
	"too many values in struct literal":              {"T{1, 2}"},
	"too few values in struct literal":               {"type U struct{ A, B int }\nU{1}"},
	"mixture of field:value":                         {"T{Size: 1, 2}"},
	"is not an expression":                           {"y := int"},
	"invalid recursive type":                         {"type R struct{ r R }"},
	"missing key in map literal":                     {"map[string]int{1}"},
	"duplicate key":                                  {`map[string]int{"a": 1, "a": 2}`},
	"index of another type":                          {"xs[f]"},
	"invalid argument: index":                        {"const c int8 = -1\nxs[c]"},
	"already declared":                               {"loop:\n\tfor {\n\t\tbreak loop\n\t}\nloop:\n\tx = 3"},
	"redeclared":                                     {"func h(n, n int) {}"},
	"division by zero":                               {"x / 0"},
	"cannot range over":                              {"for y := range f {\n}"},
	"cannot index":                                   {"x[0]"},
	"cannot slice":                                   {"x[0:1]"},
	"impossible type assertion":                      {"type I interface{ M(int) }\ntype V struct{}\nfunc (V) M() {}\nvar i I\ni.(V)"},
	"invalid argument:":                              {"len(x)"},
}

// newForms are rows for what Go says since a version; before, another row fits their programs.
var newForms = map[string]string{"field of a type": "go1.27"}

// TestHints: each row of hints explains the programs that are there for it, with the words of the Go that runs the
// test.
func TestHints(t *testing.T) {
	nb := newNotebook(t)
	if r := nb.run(beforeMistakes); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	for _, h := range hints {
		if h.name == "import cycle" || version.Compare(runtime.Version(), newForms[h.name]) < 0 {
			continue // the one has a test of its own
		}
		if len(hintPrograms[h.name]) == 0 {
			t.Errorf("row %q has no program", h.name)
		}
		for _, cell := range hintPrograms[h.name] {
			var found []string
			for _, e := range nb.s.Rewrite(2, cell).Errors {
				if e.row == h.name && e.Hint != "" {
					found = nil
					break
				}
				found = append(found, fmt.Sprintf("%q (row %q, hint %q)", e.Msg, e.row, e.Hint))
			}
			if found != nil || len(nb.s.Rewrite(2, cell).Errors) == 0 {
				t.Errorf("row %q does not explain\n%s\n%s says: %s", h.name, cell, runtime.Version(), strings.Join(found, "; "))
			}
		}
	}
	if len(hintPrograms) != len(hints)-1 {
		t.Errorf("%d rows, programs for %d, and for one more below", len(hints), len(hintPrograms))
	}
}

// Cycles of imports are found by the go command.
func TestHintOfImportCycle(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("packages are listed with the go command, which is not in PATH")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n", "a/a.go": "package a\n\nimport _ \"m/b\"\n", "b/b.go": "package b\n\nimport _ \"m/a\"\n"} {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "list", "-deps", "./a")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if h, _ := hintFor(string(out)); err == nil || h == nil || h.name != "import cycle" {
		t.Errorf("go list: %v, no cycle in\n%s", err, out)
	}
}

// TestForms: the other forms that we look for are in what Go's type checker says.
func TestForms(t *testing.T) {
	packages := newNotebook(t).s.packages
	for _, c := range []struct {
		name string
		form *regexp.Regexp
		code string
		want string // what form finds
	}{
		{"of our own", oursMsg, "import lecternshow \"strings\"\nvar _ = lecternshow.Repeat(1, 2)", " in argument to lecternshow.Repeat"},
		{"quoted package", quotedPackage, "import \"text/template\"\nimport html \"html/template\"\nvar t template.Template\nvar _ html.Template = t", " \"text/template\".T"},
		{"a field that there is", didYouMean, "var t struct{ Size int }\nvar _ = t.size", "but does have field Size"},
		{"a method that there is", didYouMean, "import \"strings\"\nvar b strings.Builder\nvar _ = b.len()", "but does have method Len"},
		{"wrong type, constant", cannotUseMsg, "var _ string = 1", "cannot use 1 (untyped int constant) as string value in"},
		{"wrong type, variable", cannotUseMsg, "var i int\nvar _ string = i", "cannot use i (variable of type int) as string value in"},
		{"wrong type, struct", cannotUseMsg, "type T struct{}\nvar t T\nvar _ string = t", "cannot use t (variable of struct type T) as string value in"},
		{"wrong type, interface", cannotUseMsg, "var e error\nvar _ string = e", "cannot use e (variable of interface type error) as string value in"},
		{"type", typeOf, "var f float64\nvar _ = f % 2", "variable of type float64)"},
		{"type, of a struct", typeOf, "type T struct{}\nvar t T\nvar _ = t + t", "variable of struct type T)"},
		{"type of a function", funcTypeMsg, "var _ = func()", "func() (type) is not an expression"},
		{"unused", unusedMsg, "func f() { x := 1 }", "declared and not used: x"},
		{"unused, of a type switch", unusedMsg, "func f(a any) {\n\tswitch x := a.(type) {\n\tcase int:\n\t}\n}", "x declared and not used"},
		{"unused value", unusedValue, "func f(x int) { x + 1 }", "is not used"},
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "a.go", "package main\n"+c.code+"\n", 0)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var said []string
		conf := types.Config{Importer: packages, Error: func(err error) { said = append(said, err.(types.Error).Msg) }}
		conf.Check("main", fset, []*ast.File{file}, nil)
		if !slices.ContainsFunc(said, func(msg string) bool { return c.form.FindString(msg) == c.want }) {
			t.Errorf("%s: no %q in what %s says: %q", c.name, c.want, runtime.Version(), said)
		}
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../../..") }
