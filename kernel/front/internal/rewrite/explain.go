package rewrite

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// explain puts an error of the type checker into words for somebody who is learning Go: its own words stay, and a hint says what to do.
func (s *Session) explain(e *Error, next *Session) {
	e.Msg = strings.ReplaceAll(e.Msg, "\n\t", "; ")
	if name, ok := unusedName(e.Msg); ok {
		e.Msg = name + " is declared and not used"
	}
	if e.Hint == "" {
		e.Hint = s.hint(e.Msg, next)
	}
}

var (
	undefinedMsg  = regexp.MustCompile(`^undefined: (\S+)$`)
	selectorMsg   = regexp.MustCompile(`^(.*) undefined \(type (.*) has no field or method (\w+)`)
	didYouMean    = regexp.MustCompile(`but does have (?:field|method) (\w+)`)
	mismatchMsg   = regexp.MustCompile(`mismatched types (.+) and (.+?)\)?$`)
	cannotUseMsg  = regexp.MustCompile(`^cannot use (.*?) \((?:untyped \w+ constant|(?:variable|value|constant \S+) (?:of type|of struct type|of interface type) (\S+))(?:.*)\) as (\S+) value in`)
	assignCount   = regexp.MustCompile(`^assignment mismatch: (\d+) variables? but (.*) returns? (\d+) values?`)
	notImplements = regexp.MustCompile(`\(missing method (\w+)\)`)
	pointerMethod = regexp.MustCompile(`\(method (\w+) has pointer receiver\)`)
	missingPkg    = regexp.MustCompile(`there is no package (\S+)$`)
)

func (s *Session) hint(msg string, next *Session) string {
	if m := undefinedMsg.FindStringSubmatch(msg); m != nil {
		return s.undefinedHint(m[1], next)
	}
	if m := didYouMean.FindStringSubmatch(msg); m != nil {
		return "did you mean " + m[1] + "?"
	}
	if m := selectorMsg.FindStringSubmatch(msg); m != nil {
		return m[2] + " has no " + m[3] + ": Tab after the dot lists what it has"
	}
	if m := mismatchMsg.FindStringSubmatch(msg); m != nil {
		if isNumeric(m[1]) && isNumeric(m[2]) {
			to := m[1]
			if strings.HasPrefix(m[2], "float") {
				to = m[2]
			}
			return fmt.Sprintf("Go never converts numbers by itself: write %s(…) around the other operand", to)
		}
		return "both sides of an operator must have the same type"
	}
	if m := missingPkg.FindStringSubmatch(msg); m != nil {
		if first, _, _ := strings.Cut(m[1], "/"); strings.Contains(first, ".") {
			return fmt.Sprintf("%%get %s@latest fetches it", m[1])
		}
		return "packages of the standard library have short paths, such as math/rand; those of others begin with a site's name"
	}
	if m := cannotUseMsg.FindStringSubmatch(msg); m != nil && isNumeric(m[3]) && (m[2] == "" || isNumeric(m[2])) {
		return fmt.Sprintf("convert it: %s(%s)", m[3], m[1])
	}
	if m := pointerMethod.FindStringSubmatch(msg); m != nil {
		return "only a pointer has the method " + m[1] + ": put & before the value"
	}
	if m := notImplements.FindStringSubmatch(msg); m != nil {
		return "the type needs a method " + m[1] + " to be used here"
	}
	if m := assignCount.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("write %s names on the left, with _ for those that you don't want", m[3])
	}
	for _, h := range []struct{ part, hint string }{
		{"no new variables on left side of :=", "all of these names exist in this cell already: assign with = instead"},
		{"is not used", "only the value of a cell's last line is shown: assign it, print it, or put it last"},
		{"is declared and not used", "use it, or remove it"},
		{"missing return", "every way through the function must end with a return"},
		{"non-boolean condition", "a condition must be true or false: compare it with something"},
		{"not enough arguments in call", "the parameters that are missing stand after want"},
		{"too many arguments in call", "the function takes only what stands after want"},
		{"cannot infer", "name the type: F[int](…)"},
		{"string literal not terminated", "the closing \" is missing on this line"},
		{"invalid operation: operator ! not defined", "! is for true and false only"},
		{"expected declaration", "a { or } too many or too few stands before this"},
		{"import cycle", "two packages import each other"},
		{"invalid character U+201C", "these are typographic quotes: write \""},
		{"invalid character U+2018", "these are typographic quotes: write '"},
	} {
		if strings.Contains(msg, h.part) {
			return h.hint
		}
	}
	return ""
}

func isNumeric(t string) bool {
	o, ok := types.Universe.Lookup(t).(*types.TypeName)
	if !ok {
		return false
	}
	b, ok := o.Type().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// undefinedHint explains a name that means nothing: it has gone, or is a slip of the pen.
func (s *Session) undefinedHint(name string, next *Session) string {
	for _, x := range []*Session{next, s} {
		if why := x.gone[name]; why != "" {
			return why
		}
	}
	if pkg, sym, ok := strings.Cut(name, "."); ok {
		path := s.imports[pkg]
		if path == "" {
			path = s.packages.ByName(pkg)
		}
		if p, err := s.packages.Import(path); err == nil {
			if near := nearest(sym, exported(p.Scope().Names())); near != "" {
				return fmt.Sprintf("did you mean %s.%s?", pkg, near)
			}
			return fmt.Sprintf("Tab after %s. lists what the package has", pkg)
		}
		return ""
	}
	for n, src := range s.sources { // a cell that failed before it was defined
		for _, it := range split(src.Code) {
			if d := parseDecl(src, it); d != nil && slices.Contains(d.names, name) && s.decls[d.key] == nil {
				return fmt.Sprintf("cell [%d] declares it, but did not run to its end", n)
			}
		}
	}
	var names []string
	for _, m := range []map[string]variable{s.vars, next.vars} {
		for n := range m {
			names = append(names, n)
		}
	}
	for _, d := range next.decls {
		if d.text == nil {
			names = append(names, d.names...)
		}
	}
	if src := next.sources[next.current]; src != nil { // variables of the cell itself
		ts := tokens(src.Code)
		for _, t := range ts {
			if t.tok == token.IDENT && assigned(ts, t.lit) {
				names = append(names, t.lit)
			}
		}
	}
	names = append(names, types.Universe.Names()...)
	for n := range s.imports {
		names = append(names, n)
	}
	if near := nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "run the cell that defines it first; a new variable is defined with :="
}

func exported(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !token.IsExported(n) })
}

// nearest returns the name that is at most a slip away from what was written, or "".
func nearest(name string, names []string) string {
	best, limit := "", 1+utf8.RuneCountInString(name)/4
	slices.Sort(names)
	for _, n := range names {
		if n == name || strings.HasPrefix(n, "lectern") {
			continue
		}
		d := distance(strings.ToLower(name), strings.ToLower(n))
		if d == 0 || d < limit && utf8.RuneCountInString(n) > 1 {
			best, limit = n, d
		} else if d == limit && utf8.RuneCountInString(n) > 2 && len(n) > len(best) { // a letter is more often left out than added
			best = n
		}
		if limit == 0 {
			break
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace that turn a into b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		last := row[0]
		row[0] = i + 1
		for j := range y {
			cost := last
			if x[i] != y[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}

// brackets finds brackets without a partner: the parser's words about them lead nowhere near the place.
func brackets(src *Source, code string) *Error {
	closer := map[token.Token]token.Token{token.LPAREN: token.RPAREN, token.LBRACE: token.RBRACE, token.LBRACK: token.RBRACK}
	var open []tok
	for _, t := range tokens(code) {
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			open = append(open, t)
		case token.RPAREN, token.RBRACE, token.RBRACK:
			p := src.Pos(t.lo)
			if len(open) == 0 {
				return &Error{Pos: p, End: p.Col + 1, Msg: fmt.Sprintf("this %s closes nothing", t.tok), Hint: "remove it, or write the bracket that opens before it", exact: true}
			}
			top := open[len(open)-1]
			if closer[top.tok] != t.tok {
				o := src.Pos(top.lo)
				return &Error{Pos: p, End: p.Col + 1, Msg: fmt.Sprintf("this %s does not close the %s of line %d", t.tok, top.tok, o.Line),
					Hint: fmt.Sprintf("a %s is missing before it", closer[top.tok]), exact: true}
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return nil
	}
	top := open[len(open)-1]
	p := src.Pos(top.lo)
	return &Error{Pos: p, End: p.Col + 1, Msg: fmt.Sprintf("this %s is never closed", top.tok), Hint: fmt.Sprintf("the %s that belongs to it is missing", closer[top.tok]), exact: true}
}
