package rewrite

import (
	"strings"
	"testing"
)

func TestDeclares(t *testing.T) {
	for cell, declares := range map[string]string{
		"func g() int { return 1 }":                            "g",
		"type T struct{ n int }":                               "T",
		"func (t T) M() int { return t.n }":                    "T.M",
		"const (\n\ta = iota\n\tb\n)":                          "a b",
		"const k = 1\ntype P int\nfunc init() {}\nfunc _() {}": "P k",
		"x := 1\nx + 1":                                        "",
		"%vars":                                                "",
	} {
		nb := newNotebook(t)
		nb.run("type T struct{ n int }")
		r := nb.run(cell)
		if got := strings.Join(r.Declares, " "); got != declares || len(r.Errors) > 0 {
			t.Errorf("%q declares %q, want %q; %v", cell, got, declares, r.Errors)
		}
	}
}

func TestMeaning(t *testing.T) {
	meaning := func(code, name string) string {
		nb := newNotebook(t)
		nb.run(code)
		if d := nb.s.decls[name]; d != nil {
			return d.meaning
		}
		return ""
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
