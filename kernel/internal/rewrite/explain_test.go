package rewrite

import (
	"fmt"
	"strings"
	"testing"
)

// TestErrors runs cells with a mistake and looks at the message about it, and its place.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, code, at, msg, hint string }{
		{"undefined", "foo", "1:1", "undefined: foo", "first run the cell that defines it"},
		{"a slip", "count := 1\nfmt.Println(cuont)", "2:13", "undefined: cuont", "did you mean count?"},
		{"a slip in a package", "strings.ToUper(\"a\")", "1:9", "undefined: strings.ToUper", "did you mean strings.ToUpper?"},
		{"numbers", "a, b := 1, 2.5\na * b", "2:1", "mismatched types int and float64", "write float64(a) * b"},
		{"conversion", "n := 3\nvar f float64 = n", "2:17", "cannot use n", "write float64(n)"},
		{"no new variables", "a := 1\na := 2", "2:3", "no new variables", "assign with ="},
		{"unused value", "a := 1\na + 1\na", "2:1", "is not used", "only the value of a cell's last line is shown"},
		{"unused in a function", "func f() { a := 1 }", "1:12", "a is declared and not used", "use it, or remove it"},
		{"brace of a func", "func f() // does nothing\n\n{\n}", "3:1", "this { belongs at the end of the line before", "write func f() {"},
		{"brace of a method", "type T int\nfunc (t T) f(\n\ta int,\n) int\n{\n\treturn 1\n}", "5:1", "this { belongs at", "write ) int {"},
		{"brace of a literal", "f := func()\n{\n}", "2:1", "this { belongs at", "write f := func() {"},
		{"brace of an if", "if x := 3; x > 2\n{\n}", "2:1", "this { belongs at", "write if x := 3; x > 2 {"},
		{"brace of a for", "func f() {\n\tfor i := range 3\n\t{\n\t}\n}", "3:2", "this { belongs at", "write for i := range 3 {"},
		{"else", "if true {\n}\nelse\n{\n}", "3:1", "else goes on the line of the }", "write } else"},
		{"unused label", "switch {\ncase 0 > 0:\n\tA:\n}", "3:2", "label A declared and not used", "jump to it"},
		{"no body", "func f()\nx := 3\n{\n}", "1:6", "func f has no body", "write what it does"},
		{"missing return", "func f() int { }", "1:16", "missing return", "every way through"},
		{"open brace", "func f() {\n\tx := 1\n", "1:10", "this { is never closed", "is missing"},
		{"wrong bracket", "f(1]\n", "1:4", "this ] does not close the ( of line 1", "a ) is missing before it"},
		{"closing too much", "x := 1\n}}", "2:1", "this } closes nothing", "remove it"},
		{"dot import", "import . \"math\"", "1:8", "import . does not work in a notebook", "by its name"},
		{"missing package", "import \"example.org/a/b\"", "1:8", "there is no package example.org/a/b", "%get example.org/a/b@latest"},
		{"missing std package", "import \"mathhh/x\"", "1:8", "there is no package mathhh/x", "standard library"},
		{"statement beside main", "x := 1\nfunc main() {}", "1:1", "statement outside func main", "put the statement into it"},
		{"twice", "func f() {}\nf := 1", "1:1", "f is declared twice in this cell", "another name"},
		{"method", "type T struct{ Size int }\nT{}.size", "2:5", "size", "did you mean Size?"},
		{"pointer method", "type T struct{}\nfunc (t *T) String() string { return \"\" }\nvar s fmt.Stringer = T{}", "3:22", "cannot use T{}", "put & before the value"},
		{"count", "a, b := strconv.Quote(\"x\")", "1:9", "assignment mismatch", "write 1 name on the left"},
		{"embed", "//go:embed f.txt\nvar a string", "1:1", "go:embed doesn't work in cells", `os.ReadFile("f.txt")`},
		{"embed in a block", "if true {\n\t//go:embed f.txt\n\tvar s string\n\t_ = s\n}", "2:2", "go:embed doesn't work in cells", `os.ReadFile("f.txt")`},
		{"embed in a group", "var (\n\tn int\n\t//go:embed \"f.txt\"\n\ts string\n)", "3:2", "go:embed doesn't work in cells", `os.ReadFile("f.txt")`},
		{"nonlatin column", "日本 := 1; 日本 + \"a\"", "1:10", "mismatched types int and untyped string", "write fmt.Sprint(日本, \"a\")"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newNotebook(t).run(c.code)
			if len(r.Errors) == 0 {
				t.Fatalf("no error; it becomes\n%s", r.code())
			}
			e := r.Errors[0]
			at := fmt.Sprintf("%d:%d", e.Pos.Line, e.Pos.Col)
			if at != c.at || !strings.Contains(e.Msg, c.msg) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("at %s: %s\nhint: %s\nwant %s: %s\nhint: %s", at, e.Msg, e.Hint, c.at, c.msg, c.hint)
			}
		})
	}
}

// TestRewritten compares whole programs.
func TestRewritten(t *testing.T) {
	nb := newNotebook(t)
	for _, c := range []struct{ name, code, want string }{
		{"define", "x := 3", `package main
import lecternpersist "github.com/lectern-go/lectern/kernel/persist"
var x int
func main() {
defer lecternpersist.Begin(1)()
x  = 3
lecternpersist.Def("x", &x)
}`},
		{"declaration", "func f(a int) int { return a + x }\nfunc unused() {}", ""},
		{"restore and show", "f(1)", `package main
import lecternpersist "github.com/lectern-go/lectern/kernel/persist"
import lecternshow "github.com/lectern-go/lectern/kernel/show"
func f(a int) int { return a + x }
var x int
func main() {
defer lecternpersist.Begin(3, "x", &x)()
lecternshow.Echo(f(1))
}`},
		{"another type", "x := fmt.Sprint(x)", ""},
		{"hello keeps nothing", "fmt.Println(1)", `package main
import fmt "fmt"
func main() {
fmt.Println(1)
}`},
		{"command only", "!ls", ""},
		{"closure", "g := func(n int) func() int { return func() int { n++; return n } }", `package main
import lecternpersist "github.com/lectern-go/lectern/kernel/persist"
//go:noinline
func lecternLit_7_1() func(n int) func() int { return func(n int) func() int { return lecternLit_7_2(&struct{ n *int; }{&n}) } }
//go:noinline
func lecternLit_7_2(lecternc *struct{ n *int; }) func() int { return func() int { (*lecternc.n)++; return (*lecternc.n) } }
var g func(n int) func() int
func main() {
lecternpersist.Lit("7_1", lecternLit_7_1); lecternpersist.Lit("7_2", lecternLit_7_2); defer lecternpersist.Begin(7)()
g  = lecternLit_7_1()
lecternpersist.Def("g", &g)
}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := nb.run(c.code)
			if c.name == "another type" { // f uses x as a number
				if len(r.Errors) == 0 || r.Errors[0].Pos.Cell != 2 || !strings.Contains(r.Errors[0].Hint, "x becomes string here and was int") {
					t.Errorf("errors %+v", r.Errors)
				}
				return
			}
			if len(r.Errors) > 0 || r.code() != c.want {
				t.Errorf("errors %+v, got\n%s\nwant\n%s", r.Errors, r.code(), c.want)
			}
		})
	}
}

func TestComplete(t *testing.T) {
	for code, want := range map[string]string{
		"x := 1": "complete", "for {": "incomplete", "f(": "incomplete", "x :=": "incomplete", "s := `a": "incomplete", "/* a": "incomplete",
		"": "complete", "x := := 3": "invalid", "}": "invalid", "!ls": "complete", "!ls \\": "incomplete", "func f() {}": "complete",
		"s := \"a": "invalid", "s := 'ab'": "invalid", "# a": "invalid", "x := 1 /* a": "incomplete", "/* a */": "complete", "x := 1 // a": "complete",
		"func f()": "incomplete", "func f() int": "incomplete", "func f() int { return 1 } // one": "complete", "f := func() {": "incomplete", "x := 1 +": "incomplete", "x.": "incomplete",
		"if x > 1 {\n}": "complete", "f(1]": "invalid", "[]int{1,": "incomplete", "while True:": "invalid", "a, b": "invalid", "type T struct {": "incomplete",
		"x := `a\n%b": "incomplete", "%%bash": "incomplete", "%%bash\nls": "incomplete", "%%bash\nls\n": "complete", "%env A=b": "complete", "import \"fmt\"": "complete",
		"switch x {\ncase 1:": "incomplete", "// a": "complete", "  \n": "complete", "for i := range 3 {\n\tf(i)\n}": "complete", "x := 1\n\ny :=": "incomplete",
	} {
		if got, _ := Complete(code); got != want {
			t.Errorf("%q is %s, want %s", code, got, want)
		}
	}
}

// TestPlotWriters: only a cell that may write a chart to a file links gonum/plot's writers.
func TestPlotWriters(t *testing.T) {
	nb := newNotebook(t)
	const writer = `import _ "gonum.org/v1/plot/vg/vgpdf"`
	for _, c := range []struct {
		name, code string
		want       bool
	}{
		{"a chart", "import \"gonum.org/v1/plot\"\np := plot.New()\np.Title.Text = \"t\"", false},
		{"a file", "p.Save(100, 100, \"x.png\")", true},
		{"a file, in a main of its own", "import \"gonum.org/v1/plot\"\nfunc main() {\n\tplot.New().Save(100, 100, \"x.png\")\n}", true},
		{"a function of its own called Save", "type box struct{}\nfunc (box) Save() {}\nbox{}.Save()", false},
		{"the library's charts", "import \"github.com/lectern-go/lectern/plots\"\nplots.Loss(plots.Run(\"a\", []float64{1, 2}))", false},
	} {
		r := nb.run(c.code)
		if len(r.Errors) > 0 {
			t.Fatalf("%s: %v", c.name, r.Errors)
		}
		if got := strings.Contains(r.code(), writer); got != c.want {
			t.Errorf("%s: imports the writers: %v, want %v\n%s", c.name, got, c.want, r.code())
		}
	}
}

// TestDevicesStayKnown: a cell that doesn't name package gpu needs it for what an earlier one left on a device.
func TestDevicesStayKnown(t *testing.T) {
	nb := newNotebook(t)
	const devices = `"github.com/lectern-go/lectern/gpu"`
	if r := nb.run("x := 1"); strings.Contains(r.code(), devices) {
		t.Errorf("a notebook without a device links package gpu:\n%s", r.code())
	}
	if r := nb.run("import " + devices + "\nwhy := gpu.Why()\nwhy == nil"); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	if r := nb.run("x + 1"); len(r.Errors) > 0 || !strings.Contains(r.code(), devices) {
		t.Errorf("errors %v, in\n%s", r.Errors, r.code())
	}
}
