package rewrite

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/race"
	"github.com/lectern-go/lectern/internal/testenv"
)

// large is a cell with a function of so many lines, in which line stands ten lines before the end.
func large(lines int, line string) (code string, at int) {
	var b strings.Builder
	b.WriteString("func large(xs []int) (total int) {\n")
	n := lines / 5
	for i := range n {
		if i == n-2 {
			at = 5*i + 2
			b.WriteString(line)
		}
		fmt.Fprintf(&b, "\tfor i, x := range xs {\n\t\ty%d := x + i\n\t\ttotal += y%d * len(fmt.Sprint(i))\n\t}\n\t// go on\n", i, i)
	}
	b.WriteString("\treturn total\n}\n")
	return b.String(), at
}

// A mistake in a very long function is found at its line, and explained, in time that grows no faster than the
// function: if it grew with the square of that, each of these would take minutes.
func TestLargeFunction(t *testing.T) {
	for _, c := range []struct{ line, msg, hint, proposal string }{ // proposal: tried, in code of less than maxChecked bytes
		{"", "", "", ""},
		{"\ttotal = = 3\n", "expected operand, found '='", "a value is missing before this", ""},
		{"\ttotal += \"a\"\n", "mismatched types int and untyped string", "both sides", ""},
		{"\ttotal += totale\n", "undefined: totale", "first run the cell that defines it", "did you mean total?"},
		{"\tfor i in range(3) {\n\t}\n", "Go has no for … in", "for i := range n", "write for i := range 3"},
		{"\tunused := 3\n", "unused is declared and not used", "use it", ""},
		{"\ts := \"abc\n", "this string is never closed", "the closing \" is missing", ""},
		{"\tif total > 3 {\n", "this { is never closed", "is indented less", ""},
		{"\t}\n", "this } closes the { of line 1, and so the } of line", "one of the two is too many", ""},
	} {
		testLargeFunction(t, testenv.Cases(10_000), c.line, c.msg, cmp.Or(c.proposal, c.hint))
		if !race.Enabled && (c.line == "" || os.Getenv("LECTERN_LONG") != "") { // it takes minutes
			testLargeFunction(t, 100_000, c.line, c.msg, c.hint)
		}
	}
}

func testLargeFunction(t *testing.T, lines int, line, msg, hint string) {
	t.Helper()
	code, at := large(lines, line)
	start := time.Now()
	r := newNotebook(t).run(code)
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("%d lines, %q: %v", lines, line, took)
	}
	switch {
	case msg == "" && len(r.Errors) == 0:
	case msg == "" || len(r.Errors) != 1:
		t.Errorf("%d lines, %q: %d errors", lines, line, len(r.Errors))
	default:
		if e := r.Errors[0]; e.Pos.Line != at || !strings.Contains(e.Msg, msg) || !strings.Contains(e.Hint, hint) {
			t.Errorf("%d lines, %q: %+v, want line %d, %q and the hint %q", lines, line, e, at, msg, hint)
		}
	}
}

// So it is with very many mistakes, commands or literals. Of the mistakes those that are shown are explained.
func TestManyOfAKind(t *testing.T) {
	n := testenv.Cases(10_000)
	many := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, code string
		errors     int
	}{
		{"undefined names", "func f() {\n" + many("\tx%d()\n") + "}", n},
		{"unused variables", "func f() {\n" + many("\tx%d := 1\n") + "}", n},
		{"unused variables of a cell's block", "if true {\n" + many("\tx%d := 1\n") + "}", 0},

		{"closures", "var fs []func() int\nif true {\n" + many("\tx%d := 1\n\tfs = append(fs, func() int { return x%[1]d })\n") + "}", 0},
		{"loops", "if true {\n" + many("\tfor range %d {\n\t\tprintln()\n\t}\n") + "}", 0},
		{"raw strings", many("println(`\n%%no %d\n`)\n"), 0},
		{"commands", many("!echo `%d`\n"), 0},
		{"declarations", many("func f%d() {}\n"), 0},
		{"statements", many("println(%d)\n"), 0},
	} {
		start := time.Now()
		r := newNotebook(t).run(c.code)
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("%s: %v", c.name, took)
		}
		if len(r.Errors) != c.errors {
			t.Errorf("%s: %d errors, want %d", c.name, len(r.Errors), c.errors)
		}
		for i, e := range r.Errors {
			if explained := e.Hint != ""; explained != (i < MaxExplained) {
				t.Errorf("%s: error %d: hint %q", c.name, i, e.Hint)
				break
			}
		}
	}
}

// The compiler's time grows with the square of the calls and line directives in one function: a cell that defines
// thousands of variables has neither for each of them.
func TestManyVariables(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "v%d := %d\nif v%[1]d%%2 == 1 { v%[1]d++ }\n", i, i)
	}
	nb := newNotebook(t)
	r := nb.run(b.String() + "v1999 // the last")
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	source := r.Program.Source()
	_, main, _ := strings.Cut(source, "func main()")
	if n := strings.Count(main, "line cell["); n > 5 {
		t.Errorf("%d line directives, of which the first are in\n%s", n, main[:500])
	}
	if n := strings.Count(main, persistName+"."); n > 5 {
		t.Errorf("%d calls of package persist", n)
	}
	if r := nb.run("v3"); strings.Count(r.Program.Source(), "var v") > 2001 || len(r.Errors) > 0 {
		t.Errorf("the next cell: %v", r.Errors)
	}
}

// Where the program leaves a directive out, the compiler places the code as it would with one.
func TestSourcePlaces(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "a%d, b%[1]d := %[1]d, \"é\" /* c */; _, _ = a%[1]d, b%[1]d\n", i)
		switch i % 5 {
		case 0:
			fmt.Fprintf(&b, "\n// a comment\nvar c%d = []int{\n\t1,\n\ta%[1]d,\n}\n", i)
		case 1:
			fmt.Fprintf(&b, "d%d := 1 // a comment\nfor d%[1]d < 3 { d%[1]d++ }\n", i)
		case 2:
			fmt.Fprintf(&b, "func f%d() int { return 3 * a%[1]d }\nf%[1]d()\n", i)
		case 3:
			fmt.Fprintf(&b, "s%d := `\n//line other.go:7\n`; fmt.Println(s%[1]d, a%[1]d)\n", i)
		case 4:
			fmt.Fprintf(&b, "for i := range 3 {\n\tfunc() { fmt.Println(i, a%d) }()\n}\n", i)
		}
	}
	nb := newNotebook(t)
	for _, code := range []string{b.String(), "func twice(x int) int { return 2 * x }\nx, y := twice(a3), 4\n//line other.go:9\nz := x", "x + twice(z)"} {
		r := nb.run(code)
		if len(r.Errors) > 0 {
			t.Fatal(r.Errors)
		}
		identifiers := func(code string) (names []string, at []token.Position) {
			fs := token.NewFileSet()
			f, err := parser.ParseFile(fs, "program.go", code, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					names, at = append(names, id.Name), append(at, fs.Position(id.Pos()))
				}
				return true
			})
			return names, at
		}
		names, offsets := identifiers(r.Program.String())
		_, places := identifiers(r.Program.Source())
		for i, name := range names {
			src, off, exact := r.Program.Locate(offsets[i].Offset)
			if !exact || strings.Contains(src.Code[:off], "\n//line other.go:9") {
				continue
			}
			p := src.Pos(off)
			want := fmt.Sprintf("cell[%d]:%d:%d", p.Cell, p.Line, off-src.begin[p.Line-1]+1)
			if got := places[i]; fmt.Sprintf("%s:%d:%d", got.Filename, got.Line, got.Column) != want && !(got.Column == 0 && strings.HasPrefix(want, fmt.Sprintf("%s:%d:", got.Filename, got.Line))) {
				t.Errorf("%s is at %v for the compiler, want %s", name, got, want)
			}
		}
	}
}
