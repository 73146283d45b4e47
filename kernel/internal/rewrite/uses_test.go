package rewrite

import (
	"strings"
	"testing"
)

func TestReadsAndDeclares(t *testing.T) {
	for _, c := range []struct{ earlier, cell, reads, declares string }{
		{"x := 1", "x", "x", ""},
		{"x := 1", "x = 2", "x", ""},
		{"x := 1", "x := 2", "", ""},
		{"x := 1", "x := 2\nx + 1", "", ""},
		{"x := 1", "x := x + 1", "x", ""},
		{"x := 1", "y := x\nx := \"two\"\ny + len(x)", "x", ""},
		{"x := 1", "var x = 3", "", ""},
		{"x := 1", "x := 2\nf := func() int { return x }\nf()", "", ""},
		{"x, y := 1, 2", "y := x\n_ = y", "x", ""},
		{"x := 1\nfunc f() int { return x }", "f()", "f x", ""},
		{"x := 1\nfunc f() int { return x }", "func g() int { return f() }", "", "g"},
		{"x := 1\nfunc f() int { return x }", "func g() int { return f() }\ng()", "f x", "g"},
		{"func f() int { return 1 }", "func f() int { return 2 }\nf()", "", "f"},
		{"type T struct{ n int }\nfunc (t T) M() int { return t.n }", "T{}.n", "T T.M", ""},
		{"type T struct{ n int }", "func (t T) M() int { return t.n }", "", "T.M"},
		{"const (\n\ta = iota\n\tb\n)", "a", "a b", ""},
		{"", "const k = 1\ntype P int\nfunc init() {}\nfunc _() {}", "", "P k"},
		{"len := 3", "len + 1", "len", ""},
		{"x := 1", "{\n\tx := 2\n\t_ = x\n}", "", ""},
		{"x := 1", "for x := range 3 {\n\t_ = x\n}", "", ""},
		{"x := 1", "func() {\n\tx++\n}()", "x", ""},
		{"x := 1", "%vars", "", ""},
	} {
		nb := newNotebook(t)
		if c.earlier != "" {
			nb.run(c.earlier)
		}
		r := nb.run(c.cell)
		if got := strings.Join(r.Reads, " "); got != c.reads || len(r.Errors) > 0 {
			t.Errorf("after %q, %q reads %q, want %q; %v", c.earlier, c.cell, got, c.reads, r.Errors)
		}
		if got := strings.Join(r.Declares, " "); got != c.declares {
			t.Errorf("%q declares %q, want %q", c.cell, got, c.declares)
		}
	}
}

func TestMeaning(t *testing.T) {
	meaning := func(code, name string) string {
		nb := newNotebook(t)
		nb.run(code)
		return nb.s.Meaning(name)
	}
	f := meaning("func f() int { return 1 }", "f")
	for code, same := range map[string]bool{
		"// f is one.\nfunc f() int {\n\treturn 1 // it is\n}": true,
		"x := 3\n\nfunc f() int { return 1 }":                  true,
		"func f() int { return 2 }":                            false,
		"func f() int { return +1 }":                           false,
		"f := 1":                                               false,
	} {
		if got := meaning(code, "f"); (got == f) != same {
			t.Errorf("%q means %q, and f means %q", code, got, f)
		}
	}
	if m := meaning("type T int\nfunc (t T) M() {}", "T.M"); !strings.Contains(m, "M") {
		t.Errorf("a method means %q", m)
	}
	if m := meaning("x := 1", "x"); m != "" {
		t.Errorf("a variable means %q", m)
	}
}
