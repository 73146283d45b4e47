package rewrite

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// Complete tells a console whether to run what has been typed: "complete", "incomplete" (with the indentation of the
// next line) or "invalid".
func Complete(code string) (state, indent string) {
	if wholeMagic(code) != "" { // its input is text of any kind: an empty line ends it, as in IPython
		if lines := strings.Split(code, "\n"); len(lines) < 3 || strings.TrimSpace(lines[len(lines)-1]) != "" {
			return "incomplete", ""
		}
		return "complete", ""
	}
	lines, code := magics(code)
	if n := len(lines); n > 0 && strings.HasSuffix(lines[n-1].text, `\`) && lines[n-1].hi == len(code) {
		return "incomplete", ""
	}
	if at, msg := firstLexical(code); at >= 0 {
		if strings.HasPrefix(msg, "raw string") || strings.HasPrefix(msg, "comment") {
			return "incomplete", ""
		}
		return "invalid", ""
	}
	ts := slices.DeleteFunc(tokens(code), func(t tok) bool { return t.tok == token.COMMENT || t.tok == token.SEMICOLON })
	depth := 0
	for _, t := range ts {
		if depth += t.nesting(); depth < 0 {
			return "invalid", ""
		}
	}
	if depth > 0 {
		return "incomplete", strings.Repeat("    ", depth)
	}
	var decls, body strings.Builder
	unfinished := false // a function without its body
	for _, it := range split(code) {
		unfinished = it.kind == token.FUNC && ts[len(ts)-1].tok != token.RBRACE
		switch {
		case it.kind == token.IMPORT:
		case it.isDecl():
			decls.WriteString(code[it.lo:it.hi] + "\n")
		default:
			body.WriteString(code[it.lo:it.hi] + "\n")
		}
	}
	program := "package main\n" + decls.String() + "func main() {\n" + body.String()
	_, err := ParseFile(token.NewFileSet(), program+"}\n", parser.SkipObjectResolution)
	switch list, ok := err.(scanner.ErrorList); {
	case unfinished && err == nil:
		return "incomplete", ""
	case err == nil:
		return "complete", ""
	case ok && list[0].Pos.Offset >= len(program)-1:
		return "incomplete", "    "
	}
	return "invalid", ""
}
