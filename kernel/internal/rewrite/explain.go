package rewrite

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// explain rewords an error for a reader who is learning Go: Go's own words stay where they are clear, and a hint says
// what to do.
func (s *Session) explain(e *Error, next *Session, budget *int) {
	e.Msg = plain(e.Msg)
	if name, ok := unusedName(e.Msg); ok {
		e.Msg = name + " is declared and not used"
	}
	m := newMistake(s, next, e, budget)
	if m == nil {
		m = &mistake{s: s, next: next, e: e, src: &Source{}, tries: maxTries, budget: new(int)}
	}
	switch {
	case m.loneBrace():
	case e.Msg == unreadImport && m.src.Code != "":
		lo, hi := m.lineAt(m.off)
		text := strings.TrimSpace(m.src.Code[m.off:hi])
		if f := strings.Fields(text); len(f) > 1 && token.IsIdentifier(strings.Split(strings.Trim(f[1], ";"), ".")[0]) {
			m.move(max(lo, m.off), hi)
			m.habit().pythonImport(text)
		}
	case e.Hint != "":
		if h := m.habit().lexicalHint(); h != "" {
			e.Hint = h
		}
	case m.syntax && m.habit().first():
	case m.syntax:
		e.Hint = m.syntaxHint()
	default:
		e.Hint = m.hint()
	}
}

// loneBrace explains a block whose { begins the next line, where Go has ended the statement already.
func (m *mistake) loneBrace() bool {
	if m.src.Code == "" || !m.syntax && !strings.HasSuffix(m.e.Msg, " has no body") && !(funcTypeMsg.MatchString(m.e.Msg)) {
		return false
	}
	depth, line := 0, ""
	end := 0 // of the token before
	for _, t := range tokens(m.src.Code) {
		if t.tok == token.COMMENT {
			continue
		}
		before := end
		end = t.hi
		switch {
		case t.lo < m.off:
			continue
		case line != "" && t.tok == token.LBRACE:
			m.e.Msg = "this { belongs at the end of the line before"
			m.e.Hint = "Go ends a statement where its line ends: write " + line + " {"
			m.move(t.lo, t.hi)
			return true
		case t.tok == token.SEMICOLON && t.lit == "\n" && depth == 0 && line == "":
			lo, _ := m.lineAt(before)
			line = strings.TrimSpace(m.src.Code[lo:before])
		case line != "" || m.syntax: // a syntax error stands right at the end of the line
			return false
		}
		depth += t.nesting()
	}
	return false
}

// MaxExplained is how many errors of a cell are explained, which is as many as anybody is shown: most of those after
// the first few follow from them.
const MaxExplained = 5

// explained puts errors into words, and leaves out those that say nothing new: the same name in several places, the
// same explanation twice.
func (s *Session) explained(errs []Error, next *Session) (kept []Error) {
	type mistaken struct {
		msg string
		pos Pos
	}
	labels := slices.DeleteFunc(slices.Clone(errs), func(e Error) bool { return !pythonLabel.MatchString(e.Msg) })
	if len(labels) > 0 { // the rest follows from the first
		errs = []Error{slices.MinFunc(labels, func(a, b Error) int { return a.Pos.Line - b.Pos.Line })}
	}
	seen := map[mistaken]bool{}
	budget := maxChecked
	for _, e := range errs {
		if len(kept) < MaxExplained {
			s.explain(&e, next, &budget)
		}
		what := mistaken{e.Msg, e.Pos}
		if strings.HasPrefix(e.Msg, "undefined: ") {
			what.pos.Col = 0
		}
		if !seen[what] {
			seen[what] = true
			kept = append(kept, e)
		}
	}
	return kept
}

// unreadImport is the message for an import that does not parse.
const unreadImport = "this import can't be read"

// hint explains an error of the type checker.
func (m *mistake) hint() string {
	if h := m.habit().python(); h != "" {
		return h
	}
	if h, g := hintFor(m.e.Msg); h != nil {
		m.e.row = h.name
		return h.say(m, g)
	}
	return ""
}

// shadowedPackage explains that a name means a variable, and no longer the package that has the name after the dot.
func (m *mistake) shadowedPackage(name, member string) string {
	if _, ok := m.next.vars[name]; !ok && m.s.vars[name].typ == "" {
		return ""
	}
	path := m.s.packages.ByName(name)
	if path == "" {
		return ""
	}
	if p, err := m.s.packages.Import(path); err != nil || p.Scope().Lookup(member) == nil {
		return ""
	}
	return fmt.Sprintf("%s is a variable here: import %q brings the package back", name, path)
}

// syntaxHint explains an error of the parser that no habit accounts for.
func (m *mistake) syntaxHint() string {
	msg := m.e.Msg
	lo, hi := m.lineAt(m.off)
	switch {
	case msg == "expected 1 expression":
		line := strings.TrimSpace(m.src.Code[lo:hi])
		m.e.Msg = "these are several values, and a cell shows one"
		at := lo + strings.Index(m.src.Code[lo:hi], line)
		defer m.move(at, at+len(line))
		return m.write("", at, at+len(line), "fmt.Println(a, b) prints several values", "fmt.Println("+line+")")
	case strings.HasPrefix(msg, "missing ',' before newline"):
		code := strings.TrimRight(m.masked[lo:m.off], " \t")
		at := lo + len(code)
		if m.works(m.replaced(at, at, ","), lo, at) {
			return "in a list of several lines, each line ends with a comma"
		}
		return "a comma, or the bracket that closes the list, is missing at the end of this line"
	case strings.HasPrefix(msg, "missing ','"):
		return "a comma is missing here"
	case strings.Contains(msg, "found 'else'"):
		return "else goes on the line of the } before it: } else {"
	case strings.Contains(msg, "unexpected newline") || strings.Contains(msg, "unexpected semicolon or newline"):
		return "a { is missing at the end of this line"
	case strings.HasPrefix(msg, "expected '{'") || strings.HasPrefix(msg, "expected 'block'"):
		m.e.Msg = "the block after if, for or switch goes between { and }"
		return "put it in braces, even if it is a single statement"
	case strings.HasPrefix(msg, "expected operand, found '}'"), strings.HasPrefix(msg, "expected operand, found newline"), strings.HasPrefix(msg, "expected operand, found 'EOF'"):
		m.e.Msg = "something is missing here"
		return "a value must follow what comes before"
	case strings.HasPrefix(msg, "expected operand"):
		return "a value is missing before this"
	case strings.HasPrefix(msg, "expected selector"):
		return "the name after the dot is missing"
	case strings.HasPrefix(msg, "expected declaration"):
		return "before this, there is a { or } too many or too few"
	case strings.HasPrefix(msg, "expected 'IDENT'") || strings.HasPrefix(msg, "expected name"):
		return "a name is needed here; words such as type, func, range and map are reserved"
	case strings.HasPrefix(msg, "expected ';', found ','") && m.works(m.replaced(m.off, m.off+1, ""), lo, m.off):
		m.e.Msg = "fields of a struct are not separated by commas"
		return "each field has a line of its own: leave the comma out"
	case strings.HasPrefix(msg, "expected ';', found ','") && m.works(m.replaced(m.off, m.off+1, ";"), lo, m.off):
		m.e.Msg = "fields of a struct are not separated by commas"
		return "on one line, they are separated by semicolons"
	case strings.HasPrefix(msg, "expected ';'"):
		_, found, _ := strings.Cut(msg, "found ")
		m.e.Msg = found + " doesn't belong here"
		return "an operator, a comma, a bracket or a new line is missing before it"
	case msg == "expected type, found ':'":
		m.e.Msg = "no colon goes before a type in Go"
		return "write name string"
	case strings.HasPrefix(msg, "expected type"):
		return "the type is missing here"
	case strings.HasPrefix(msg, "expected '==', found '='") && re(`\{[^{}]*NAME\s*$`).MatchString(m.masked[lo:m.off]):
		m.e.Msg = "a field and its value go together with a colon"
		return "write T{name: value}"
	case strings.HasPrefix(msg, "expected '==', found '='"), strings.Contains(msg, "found assignment"):
		return "== compares, = assigns"
	}
	return ""
}

// brackets finds what takes no parser to find: strings and comments that never end, signs that Go doesn't have, and
// brackets without a partner. What the parser says about them points nowhere near the place.
func brackets(src *Source, code string) *Error {
	if e := lexical(src, code); e != nil {
		return e
	}
	closer := map[token.Token]token.Token{token.LPAREN: token.RPAREN, token.LBRACE: token.RBRACE, token.LBRACK: token.RBRACK}
	wrong := func(t tok, hint, msg string, args ...any) *Error {
		p := src.Pos(t.lo)
		return &Error{Pos: p, End: p.Col + 1, Msg: fmt.Sprintf("this %s ", t.tok) + fmt.Sprintf(msg, args...), Hint: hint, exact: true}
	}
	var open []tok
	var early, late [2]tok // a { and its } whose line is indented less, the first of the item; and more, at its end
	for t := range scan([]byte(code), nil) {
		switch t.nesting() {
		case 1:
			open = append(open, t)
		case -1:
			if len(open) == 0 {
				if late[0].hi > 0 {
					return wrong(late[1], "one of the two is too many, or a { is missing", "closes the { of line %d, and so the } of line %d closes nothing", src.Pos(late[0].lo).Line, src.Pos(t.lo).Line)
				}
				return wrong(t, "remove it, or write the bracket that opens before it", "closes nothing")
			}
			top := open[len(open)-1]
			if closer[top.tok] != t.tok {
				return wrong(t, fmt.Sprintf("a %s is missing before it", closer[top.tok]), "does not close the %s of line %d", top.tok, src.Pos(top.lo).Line)
			}
			open = open[:len(open)-1]
			if lo := src.lines()[src.Pos(t.lo).Line-1]; t.tok == token.RBRACE && strings.TrimSpace(code[lo:t.lo]) == "" {
				switch d := indentation(code[lo:]) - indentation(code[src.lines()[src.Pos(top.lo).Line-1]:]); {
				case d < 0 && early[0].hi == 0:
					early = [2]tok{top, t}
				case d > 0 && len(open) == 0:
					late = [2]tok{top, t}
				}
			}
			if len(open) == 0 {
				early = [2]tok{}
			}
		}
	}
	if len(open) == 0 {
		return nil
	}
	top := open[len(open)-1]
	if early[0].hi > 0 && top.tok == token.LBRACE {
		return wrong(early[0], fmt.Sprintf("the } that belongs to it is missing: the next one, on line %d, is indented less", src.Pos(early[1].lo).Line), "is never closed")
	}
	if _, rest, comment := strings.Cut(code[top.lo:top.lo+lineLen(code[top.lo:])], "//"); comment && strings.Contains(rest, closer[top.tok].String()) {
		return wrong(top, fmt.Sprintf("// begins a comment, which swallows the %s: / between integers drops the remainder", closer[top.tok]), "is never closed")
	}
	return wrong(top, fmt.Sprintf("the %s that belongs to it is missing", closer[top.tok]), "is never closed")
}

// indentation is how many tabs and blanks a line begins with.
func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
