package export

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Part is a cell of a Go file.
type Part struct {
	Markdown bool
	MayFail  bool // the program goes on if it fails
	Number   int  // that the mark gives the cell, as those of exported programs do; else 0
	LeftOut  bool // a comment stands for the cell
	Text     string
}

var (
	markCell = regexp.MustCompile(`^\[(\d+)\]( is left out: )?`)
	markLine = regexp.MustCompile(`^//\s?%%(.*)$`)
	cellName = regexp.MustCompile(`^cell\d+$`)
	echoLine = regexp.MustCompile(`^(\s*)(?:show|lecternshow)\.Echo(?:Err)?\((.*)\)$`)
)

// Parts takes a Go file apart at lines that begin with // %%, as editors mark cells: what follows one up to the next is
// a cell, of Markdown if the mark says so and of Go otherwise. Of a program that was exported, what the export added
// goes: the functions around cells, and the main that calls them.
func Parts(src []byte) ([]Part, error) {
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")) // as Go itself reads it
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("it is no Go file: %w", err)
	}
	text := string(src)
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	var drop, unwrap []span
	drop = append(drop, span{0, lineEnd(text, offset(file.Name.End()))}) // what is above the package clause, and that
	mayFail := map[string]bool{}
	exported := false // main does nothing but call cells
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Body == nil || f.Type.Params.NumFields() > 0 && f.Name.Name != "attempt" {
			continue
		}
		lo := f.Pos()
		if f.Doc != nil && f.Name.Name == "attempt" {
			lo = f.Doc.Pos()
		}
		whole := span{offset(lo), offset(f.End())}
		switch {
		case cellName.MatchString(f.Name.Name):
			unwrap = append(unwrap, whole)
		case f.Name.Name == "main":
			if exported = callsCells(f.Body, mayFail); exported {
				drop = append(drop, whole)
			}
		case f.Name.Name == "attempt":
			drop = append(drop, whole)
		}
	}
	if !exported { // somebody's own functions, whatever they are called
		unwrap = nil
		drop = drop[:1]
	}
	var parts []Part
	begin := func(at int) (end int) { // the cell that begins at an offset ends there
		for end = at; end < len(text); end = lineEnd(text, end) {
			if markLine.MatchString(strings.TrimRight(text[end:lineEnd(text, end)], "\n")) && !inText(file, offset, end) {
				return end
			}
		}
		return end
	}
	for at := 0; at < len(text); {
		markdown := false
		var cell []string
		if line := strings.TrimRight(text[at:lineEnd(text, at)], "\n"); markLine.MatchString(line) {
			what := strings.TrimSpace(markLine.FindStringSubmatch(line)[1])
			markdown = what == "[markdown]" || what == "[md]"
			cell = markCell.FindStringSubmatch(what)
			at = lineEnd(text, at)
		}
		end := begin(at)
		p := Part{Markdown: markdown}
		if cell != nil {
			p.Number, _ = strconv.Atoi(cell[1]) // 0 if it is larger than any
			p.LeftOut = cell[2] != ""
		}
		if markdown {
			var rest int
			p.Text, rest = uncomment(text[at:end])
			if more := cut(text, end-rest, end, drop, unwrap); strings.TrimSpace(more) != "" { // Go behind the Markdown, without a mark
				parts = append(parts, Part{Markdown: true, Text: strings.Trim(p.Text, "\n")})
				p = Part{Text: more}
			}
		} else {
			p.Text = cut(text, at, end, drop, unwrap)
			for name := range mayFail {
				p.MayFail = p.MayFail || regexp.MustCompile(`(?m)^func `+name+`\(\) \{`).MatchString(text[at:end])
			}
		}
		if p.Text = strings.Trim(p.Text, "\n"); strings.TrimSpace(p.Text) != "" {
			parts = append(parts, p)
		}
		at = end
	}
	return parts, nil
}

// A span is a part of a text.
type span struct{ lo, hi int }

// lineEnd is where the line of an offset ends, with its line break.
func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// inText reports whether an offset lies in a literal.
func inText(file *ast.File, offset func(token.Pos) int, at int) (yes bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && offset(l.Pos()) < at && at < offset(l.End()) {
			yes = true
		}
		return !yes
	})
	return yes
}

// callsCells reports whether a body does nothing but call cells, and notes which may fail.
func callsCells(body *ast.BlockStmt, mayFail map[string]bool) bool {
	for _, st := range body.List {
		x, ok := st.(*ast.ExprStmt)
		if !ok {
			return false
		}
		call, ok := x.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		f, ok := call.Fun.(*ast.Ident)
		if !ok {
			return false
		}
		if f.Name == "attempt" && len(call.Args) == 1 {
			if f, ok = call.Args[0].(*ast.Ident); !ok {
				return false
			}
			mayFail[f.Name] = true
		}
		if !cellName.MatchString(f.Name) {
			return false
		}
	}
	return len(body.List) > 0
}

// uncomment takes the comment marks off the lines at the beginning of a text. rest is the length of what follows them.
func uncomment(text string) (markdown string, rest int) {
	var b strings.Builder
	begun := false
	for text != "" {
		line := text[:lineEnd(text, 0)]
		s, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "//")
		if !ok && (begun || strings.TrimSpace(line) != "") {
			break
		}
		if begun = begun || ok; ok {
			b.WriteString(strings.TrimPrefix(s, " ") + "\n")
		}
		text = text[len(line):]
	}
	return b.String(), len(text)
}

// cut is a part of a text without what is dropped, and without the functions around cells.
func cut(text string, lo, hi int, drop, unwrap []span) string {
	var b strings.Builder
	type piece struct {
		span
		body bool
	}
	var pieces []piece
	for _, s := range drop {
		pieces = append(pieces, piece{s, false})
	}
	for _, s := range unwrap {
		pieces = append(pieces, piece{s, true})
	}
	slices.SortFunc(pieces, func(a, b piece) int { return a.lo - b.lo })
	at := lo
	for _, p := range pieces {
		if p.hi <= lo || p.lo >= hi {
			continue
		}
		b.WriteString(text[at:max(at, min(p.lo, hi))])
		if p.body {
			b.WriteString(inside(text[p.lo:p.hi]))
		}
		at = min(hi, p.hi)
	}
	b.WriteString(text[at:hi])
	return b.String()
}

// inside is the body of a function, one tab further left, with the value of its last line shown as cells do.
func inside(function string) string {
	open, end := strings.IndexByte(function, '{'), strings.LastIndexByte(function, '}')
	lines := strings.Split(strings.Trim(function[open+1:end], "\n"), "\n")
	raw := false // inside a raw string, whose lines are not indented
	for i, l := range lines {
		if !raw {
			lines[i] = strings.TrimPrefix(l, "\t")
		}
		if strings.Count(l, "`")%2 == 1 {
			raw = !raw
		}
	}
	if last := len(lines) - 1; last >= 0 {
		if m := echoLine.FindStringSubmatch(lines[last]); m != nil {
			lines[last] = m[1] + m[2]
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
