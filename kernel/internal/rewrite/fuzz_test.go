package rewrite

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// checkResult fails unless the rewritten cell is a program, or its errors are at places in the user's own text, and
// unless places map back and forth.
func checkResult(t *testing.T, code string, r *Result) {
	t.Helper()
	code = strings.ReplaceAll(code, "\r\n", "\n")
	for _, e := range r.Errors {
		src := r.Next.Source(e.Pos.Cell)
		if src == nil || e.Pos.Line < 1 || e.Pos.Line > strings.Count(src.Code, "\n")+1 || e.Msg == "" {
			t.Errorf("cell %q: error %+v is not at a place of the user's", code, e)
		}
		if strings.Contains(e.Msg, "lectern") && !strings.Contains(code, "lectern") {
			t.Errorf("cell %q: error %+v is about code of ours", code, e)
		}
	}
	if len(r.Errors) > 0 || r.Program == nil || r.GoNB != "" || r.Cgo {
		return
	}
	for _, text := range []string{r.Program.String(), r.Program.Source()} {
		if _, err := parser.ParseFile(token.NewFileSet(), "", text, 0); err != nil {
			t.Errorf("cell %q: rewritten it does not parse: %v\n%s", code, err, text)
		}
	}
	text := r.Program.String()
	for _, s := range r.Program.segs {
		for i := range s.n {
			src, off, exact := r.Program.Locate(s.out + i)
			if !exact || src != s.src || off != s.off+i || src.Code[off] != text[s.out+i] {
				t.Fatalf("cell %q: byte %d comes from %d (exact %v), want %d", code, s.out+i, off, exact, s.off+i)
			}
			if out, exact := r.Program.Find(src, off); !exact || text[out] != src.Code[off] {
				t.Fatalf("cell %q: byte %d of the cell is at %d", code, off, out)
			}
		}
	}
}

// fuzzSession has run a few cells.
func fuzzSession(t *testing.T) *notebook {
	nb := newNotebook(t)
	for _, c := range []string{
		"x := 3\ny, s := 2.5, \"text\"\nxs := []int{1, 2}",
		"type T struct{ A int }\nfunc (t *T) M() int { return t.A + x }\nt := &T{1}",
		"const (\n\tCA = iota\n\tCB\n)\nfunc f(a int) int {\n\tfor i := range a {\n\t\ta += i\n\t}\n\treturn a\n}\ninc := func() { x++ }",
	} {
		if r := nb.run(c); len(r.Errors) > 0 {
			t.Fatalf("%q: %+v", c, r.Errors)
		}
	}
	return nb
}

func FuzzRewrite(f *testing.F) {
	if b, err := os.ReadFile("../../server/testdata/cells.txt"); err == nil {
		for _, c := range strings.Split(string(b), "\n===\n") {
			code, _, _ := strings.Cut(c, "\n--- ")
			f.Add(code)
		}
	}
	for _, c := range []string{"", "x", "x := x + 1 // c", "//step\nfor i := range 3 { x += i }", "if a := f(2); a > 1 { inc() } else if a == 0 {} else { _ = a }",
		"goto l; l: x++", "switch { case x > 1: fallthrough; default: }", "`\n%a\n`", "%%\nx", "!ls\nx", "x;", "func() {}()", "func g[T any](t T) T { return t }\ng(1)",
		"var _, a = 1, 2", "t.M()", "type U = T", "const CB = 5\nCB", "x := \"s\"", "defer f(1)", "select {}", "/* %\n%b */x", "import \"os\"\nos.Stdin", "l:\nfor { break l }"} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, code string) {
		if len(code) > 4000 || strings.Contains(code, "import") && strings.Contains(code, ".") {
			t.Skip() // looking for packages that are not there takes the go command
		}
		nb := fuzzSession(t)
		r := nb.s.Rewrite(9, code)
		checkResult(t, code, r)
		Complete(code)
		for _, off := range []int{0, len(code) / 2, len(code)} {
			for off < len(code) && off > 0 && code[off]&0xc0 == 0x80 {
				off++
			}
			if c, ok := nb.s.Cursor(code, off); ok && c.Off > c.Text.Len() {
				t.Errorf("cursor %d of %q is at %d of %d", off, code, c.Off, c.Text.Len())
			}
		}
	})
}
