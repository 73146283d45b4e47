package rewrite

import (
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"statements", "x := 1\ny := 2", "stmt|x := 1|stmt|y := 2"},
		{"semicolons", "x := 1; y := 2;", "stmt|x := 1|stmt|y := 2|;"},
		{"comment above", "// doc\nx := 1 // behind\n// of f\nfunc f() {}", "stmt|// doc\nx := 1|func|// of f\nfunc f() {}"},
		{"for header", "for i := 0; i < 3; i++ { f() }; y := 1", "stmt|for i := 0; i < 3; i++ { f() }|stmt|y := 1"},
		{"if header", "if x := 1; x > 0 { f() }\ny", "stmt|if x := 1; x > 0 { f() }|stmt|y"},
		{"literal in header", "if f := func() int { return 1 }; f() > 0 { g() }; y := 1", "stmt|if f := func() int { return 1 }; f() > 0 { g() }|stmt|y := 1"},
		{"slice in header", "for i, s := 0, []int{1}; i < 1; i++ { _ = s }; y", "stmt|for i, s := 0, []int{1}; i < 1; i++ { _ = s }|stmt|y"},
		{"method", "func (t *T) M() {}\nfunc (a int) int { return a }(3)", "func|func (t *T) M() {}|stmt|func (a int) int { return a }(3)"},
		{"call of a literal with a method's look", "func (a T) pkg.X { return x }(1)", "stmt|func (a T) pkg.X { return x }(1)"},
		{"declarations", "import \"fmt\"\ntype T int\nconst c = 1\nvar v int", "import|import \"fmt\"|type|type T int|const|const c = 1|var|var v int"},
		{"label", "loop:\nfor {\n\tbreak loop\n}", "stmt|loop:\nfor {\n\tbreak loop\n}"},
		{"else", "if a {\n} else {\n}\nb", "stmt|if a {\n} else {\n}|stmt|b"},
		{"unfinished", "f(1,\n2", "stmt|f(1,\n2"},
		{"empty", " \n// c\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b []string
			for _, it := range split(c.code) {
				kind := "stmt"
				if it.kind != 0 {
					kind = it.kind.String()
				}
				b = append(b, kind, c.code[it.lo:it.hi])
			}
			if its := split(c.code); len(its) > 0 && its[len(its)-1].ended {
				b = append(b, ";")
			}
			if got := strings.Join(b, "|"); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestMagics(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"none", "x := 1", ""},
		{"commands", "%env A=b\nx := 1\n!ls -l", "%env:%env A=b|!:!ls -l"},
		{"continued", "!echo a \\\n  b\nx", "!:!echo a \\\n  b"},
		{"in a raw string", "s := `\n%no\n!no\n`\n%yes", "%yes:%yes"},
		{"in a comment", "/*\n%no */", ""},
		{"a quote in a command", "!echo `date`\ns := `\n%no`\n%vars", "!:!echo `date`|%vars:%vars"},
		{"an open quote in a command", "!echo `\n%vars", "!:!echo `|%vars:%vars"},
		{"prefix", "//gonb:%%\nx", "%%:%%"},
		{"remainder operator at a line's start", "x := 5\n%3", "%3:%3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b []string
			lines, _ := magics(c.code)
			for _, m := range lines {
				b = append(b, m.name()+":"+m.text)
			}
			if got := strings.Join(b, "|"); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestSourcePos(t *testing.T) {
	s := &Source{Cell: 4, Code: "a\n日😀b\nc"}
	for off, want := range map[int]Pos{0: {4, 1, 1}, 2: {4, 2, 1}, 5: {4, 2, 2}, 9: {4, 2, 3}, 11: {4, 3, 1}, 99: {4, 3, 2}} {
		if got := s.Pos(off); got != want {
			t.Errorf("offset %d: %v, want %v", off, got, want)
		}
	}
	if s.Line(2) != "日😀b" || s.Line(9) != "" {
		t.Errorf("lines %q %q", s.Line(2), s.Line(9))
	}
}

func TestCallee(t *testing.T) {
	for code, want := range map[string]string{ // the bar is the cursor
		"strings.ToUp|per(s)": "ToUpper", "f(a, |)": "f", "f(g(1), |)": "f", "x.Method(|": "Method", "foo |": "foo", "|": "", "m[i|]": "i",
	} {
		before, after, _ := strings.Cut(code, "|")
		at, ok := Callee(before+after, len(before))
		got := ""
		if ok {
			for _, tk := range tokens(before + after) {
				if tk.lo == at {
					got = tk.lit
				}
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}

func TestImportPath(t *testing.T) {
	for code, want := range map[string]string{ // the cursor is at |
		"import \"net/h|":                          "net/h",
		"import \"net/h|\"":                        "net/h",
		"import (\n\t\"fmt\"\n\tx \"math/ra|\"\n)": "math/ra",
		"import (\n\t\"fmt\"\n\t\"|\n)\nx := 1":    "",
		"import \"|\"":                             "",
		"import \"fmt\"|":                          "no",
		"import \"fmt\"\nx := \"net/|\"":           "no",
		"s := \"import |\"":                        "no",
		"|":                                        "no",
	} {
		off := strings.IndexByte(code, '|')
		text := strings.Replace(code, "|", "", 1)
		begin, ok := ImportPath(text, off)
		if want == "no" && ok || want != "no" && (!ok || text[begin:off] != want) {
			t.Errorf("%s: %v, %q", code, ok, text[begin:off])
		}
	}
}
