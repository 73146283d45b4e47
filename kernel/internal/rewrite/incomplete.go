package rewrite

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// Complete tells a console whether to run what has been typed: "complete", "incomplete" (with the indentation of the
// next line) or "invalid".
func Complete(code string) (state, indent string) {
	if strings.TrimSpace(code) == "" {
		return "complete", ""
	}
	src := &Source{1, code}
	w := &work{src: src}
	if first := strings.Fields(code[:lineLen(code)]); len(first) > 0 && whole[first[0]] {
		// What such a magic gets is text of any kind: an empty line ends it, as in IPython.
		if lines := strings.Split(code, "\n"); len(lines) < 3 || strings.TrimSpace(lines[len(lines)-1]) != "" {
			return "incomplete", ""
		}
		return "complete", ""
	}
	if lines := strings.Split(code, "\n"); isMagic(lines[len(lines)-1]) || len(lines) > 1 && isMagic(lines[0]) {
		if strings.HasSuffix(code, `\`) {
			return "incomplete", ""
		}
	}
	b := []byte(code)
	for _, m := range magics(code) {
		for i := m.lo; i < m.hi; i++ {
			if b[i] != '\n' {
				b[i] = ' '
			}
		}
	}
	w.code = string(b)
	t := &Text{}
	t.Inject("package main\n")
	var stmts []item
	depth := 0
	if at, msg := firstLexical(w.code); at >= 0 {
		if strings.HasPrefix(msg, "raw string") || strings.HasPrefix(msg, "comment") {
			return "incomplete", ""
		}
		return "invalid", ""
	}
	ts := tokens(w.code)
	for _, k := range ts {
		switch k.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if depth--; depth < 0 {
				return "invalid", ""
			}
		}
	}
	for n := len(ts); n > 0 && ts[n-1].tok == token.SEMICOLON; n = len(ts) {
		ts = ts[:n-1]
	}
	if depth > 0 {
		return "incomplete", strings.Repeat("    ", depth)
	}
	for _, it := range split(w.code) {
		switch {
		case it.kind == token.IMPORT:
			continue
		case it.isDecl():
			t.User(src, it.lo, it.hi)
			t.Inject("\n")
		default:
			stmts = append(stmts, it)
		}
	}
	t.Inject("func main() {\n")
	for _, it := range stmts {
		t.Inject(w.code[it.lo:it.hi], "\n")
	}
	end := t.Len()
	t.Inject("}\n")
	_, err := parser.ParseFile(token.NewFileSet(), "", t.String(), parser.SkipObjectResolution)
	if err == nil {
		if n := len(ts); n > 1 && ts[n-1].tok == token.COMMENT {
			ts = ts[:n-1]
		}
		if its := split(w.code); len(its) > 0 && its[len(its)-1].kind == token.FUNC && ts[len(ts)-1].tok != token.RBRACE {
			return "incomplete", "" // a function without its body
		}
		return "complete", ""
	}
	if list, ok := err.(scanner.ErrorList); ok && list[0].Pos.Offset >= end-1 {
		return "incomplete", "    "
	}
	return "invalid", ""
}
