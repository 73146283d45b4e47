package rewrite

import (
	"fmt"
	"go/token"
	"regexp"
	"strings"
)

// explain puts an error into words for somebody who is learning Go: what Go says stays where it is clear, and a hint
// says what to do.
func (s *Session) explain(e *Error, next *Session, budget *int) {
	e.Msg = oursMsg.ReplaceAllString(strings.ReplaceAll(e.Msg, "\n\t", "; "), "")
	e.Msg = quotedPackage.ReplaceAllString(e.Msg, "$1$2.$3")
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
			m.pythonImport(text)
		}
	case e.Hint != "":
		if h := m.lexicalHint(); h != "" {
			e.Hint = h
		}
	case m.syntax && m.habit():
	case m.syntax:
		e.Hint = m.syntaxHint()
	default:
		e.Hint = m.hint()
	}
}

// loneBrace explains a block whose { begins the next line, where Go has ended the statement already.
func (m *mistake) loneBrace() bool {
	if m.src.Code == "" || !m.syntax && !strings.HasSuffix(m.e.Msg, " has no body") && !(strings.HasPrefix(m.e.Msg, "func(") && strings.HasSuffix(m.e.Msg, "is not an expression")) {
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
	type told struct {
		msg string
		pos Pos
	}
	seen := map[told]bool{}
	budget := maxChecked
	for _, e := range errs {
		if len(kept) < MaxExplained {
			s.explain(&e, next, &budget)
		}
		what := told{e.Msg, e.Pos}
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

// unreadImport is what is said of an import that does not parse.
const unreadImport = "this import can't be read"

var (
	// oursMsg is what the type checker says about code that the kernel has added.
	oursMsg        = regexp.MustCompile(` in argument to lectern\w*\.\w+`)
	undefinedMsg   = regexp.MustCompile(`^undefined: (\S+)`)
	selectorMsg    = regexp.MustCompile(`^(.*)\.(\w+) undefined \(type (.*) has no (?:field or )?method (\w+)`)
	didYouMean     = regexp.MustCompile(`but does have (field|method) (\w+)`)
	mismatchMsg    = regexp.MustCompile(`^invalid operation: (.*) \(mismatched types (.+) and (.+?)\)?$`)
	operatorMsg    = regexp.MustCompile(`^invalid operation: operator (\S+) not defined on (.*) \((?:variable|value|untyped \w+ constant|constant)(.*)\)$`)
	cannotUseMsg   = regexp.MustCompile(`^cannot use (.*?) \((untyped (?:\w+) constant|(?:variable|value|constant \S+) (?:of type|of struct type|of interface type) (\S+)).*\) as (\S+) value in`)
	convertMsg     = regexp.MustCompile(`^cannot convert (.*) \((.*)\) to type (\S+)$`)
	assignCount    = regexp.MustCompile(`^assignment mismatch: (\d+) variables? but (.*) returns? (\d+) values?`)
	notImplements  = regexp.MustCompile(`\(missing method (\w+)\)`)
	pointerMethod  = regexp.MustCompile(`\(method (\w+) has pointer receiver\)`)
	missingPkg     = regexp.MustCompile(`there is no package (\S+)$`)
	negativeIndex  = regexp.MustCompile(`^invalid argument: index (-.*) \(constant of type int\) must not be negative`)
	tensorMsg      = regexp.MustCompile(`^(?:invalid operation: )?(cannot index|cannot slice|cannot range over) (.*) \(variable of (?:struct )?type \*?tensor\.Tensor\)`)
	lenMsg         = regexp.MustCompile(`^invalid argument: (.*) \(variable of type \*tensor\.Tensor\) for built-in len`)
	indirectMsg    = regexp.MustCompile(`^invalid operation: cannot indirect`)
	notInterface   = regexp.MustCompile(`^invalid operation: (.*) \(variable of (?:\w+ )?type .*\) is not an interface`)
	notAType       = regexp.MustCompile(`^(\w+) \(.*\) is not a type|^(\w+) is not a type`)
	notConstant    = regexp.MustCompile(`is not constant$`)
	overflows      = regexp.MustCompile(`^cannot use (.*) \(untyped int constant.*\) as (\w+) value.*overflows\)|^(.*) \(.*constant.*\) overflows (\w+)`)
	unknownFieldIn = regexp.MustCompile(`^unknown field (\w+) in struct literal of type (\S+)`)
	notExported    = regexp.MustCompile(`^name (\w+) not exported by package (\w+)`)
	quotedPackage  = regexp.MustCompile(`([( *\]])"(?:[\w.-]+/)*(\w+)"\.([A-Z])`)
	butHave        = regexp.MustCompile(` \(but have (\w+)\)$`)
	typeOf         = regexp.MustCompile(`(?:variable|value|constant \S+) of (?:\w+ )?type (.+)$`)
)

// hint explains an error of the type checker.
func (m *mistake) hint() string {
	msg := m.e.Msg
	if h := m.python(); h != "" {
		return h
	}
	if g := butHave.FindStringSubmatchIndex(msg); g != nil {
		near := msg[g[2]:g[3]]
		m.e.Msg = msg[:g[0]]
		_, hi := m.lineAt(m.off)
		word := identifierAt(m.src.Code[m.off:hi])
		if pkg, ok := strings.CutSuffix(msg[len("undefined: "):g[0]], "."+word); ok && m.mean(m.off, m.off+len(word), near) != "" {
			return "did you mean " + pkg + "." + near + "?"
		}
		return m.mean(m.off, m.off+len(word), near)
	}
	if g := notExported.FindStringSubmatch(msg); g != nil {
		upper := strings.ToUpper(g[1][:1]) + g[1][1:]
		if m.mean(m.off, m.off+len(g[1]), upper) != "" {
			return "did you mean " + g[2] + "." + upper + "?"
		}
		return "only names that begin with a capital letter can be used from outside a package"
	}
	if strings.HasPrefix(msg, "cannot use ~") {
		lo, hi := m.lineAt(m.off)
		if g := re(`~\s*(NAME|\d+)`).FindStringSubmatchIndex(m.masked[lo:hi]); g != nil {
			return m.write("^ flips the bits", lo+g[0], lo+g[1], "^x flips the bits", "^"+m.src.Code[lo+g[2]:lo+g[3]])
		}
		return "^x flips the bits"
	}
	if strings.HasPrefix(msg, "cannot assign to") && strings.Contains(msg, "neither addressable") && !strings.Contains(msg, "[") {
		return "only a variable can be assigned to, neither a constant nor the value of an expression"
	}
	if g := undefinedMsg.FindStringSubmatch(msg); g != nil {
		return m.undefined(g[1])
	}
	if g := selectorMsg.FindStringSubmatch(msg); g != nil {
		if h := m.shadowedPackage(g[1], g[2]); h != "" {
			return h
		}
		return m.selector(g[1], g[2], g[3])
	}
	if g := overflows.FindStringSubmatch(msg); g != nil {
		expr, typ := g[1]+g[3], g[2]+g[4]
		m.e.Msg = fmt.Sprintf("%s does not fit into %s %s", expr, article(typ), typ)
		hint := "a wider type has room for it; package math/big has integers of any size"
		if lo, hi, ok := m.find(expr); ok {
			return m.write("a float64 has room for it, with 15 digits or so", lo, hi, hint, "float64("+m.src.Code[lo:hi]+")")
		}
		return hint
	}
	if g := mismatchMsg.FindStringSubmatch(msg); g != nil {
		return m.mismatch(g[1], g[2], g[3])
	}
	if g := operatorMsg.FindStringSubmatch(msg); g != nil {
		return m.operator(g[1], g[2], g[3])
	}
	if g := tensorMsg.FindStringSubmatch(msg); g != nil {
		return m.tensorIndex(g[1], g[2])
	}
	if g := lenMsg.FindStringSubmatch(msg); g != nil {
		lo, hi := m.lineAt(m.off)
		if at := strings.LastIndex(m.masked[lo:m.off], "len("); at >= 0 {
			if end := strings.IndexByte(m.masked[m.off:hi], ')'); end >= 0 {
				return m.write("len doesn't work on tensors, Size does", lo+at, m.off+end+1, "t.Size(0) is the size along axis 0, t.Len() the number of elements", g[1]+".Size(0)")
			}
		}
		return "t.Size(0) is the size along axis 0, t.Len() the number of elements"
	}
	if g := missingPkg.FindStringSubmatch(msg); g != nil {
		if first, _, _ := strings.Cut(g[1], "/"); strings.Contains(first, ".") {
			return fmt.Sprintf("%%get %s@latest fetches it", g[1])
		}
		if lo, hi := m.lineAt(m.off); m.src.Code != "" {
			if near := nearest(g[1], m.s.packages.Names(), 2); near != "" {
				if at := strings.Index(m.src.Code[lo:hi], g[1]); at >= 0 {
					if h := m.mean(lo+at, lo+at+len(g[1]), near); h != "" {
						return h
					}
				}
			}
		}
		return "packages of the standard library have short paths, such as math/rand; those of others begin with a site's name"
	}
	if g := pointerMethod.FindStringSubmatch(msg); g != nil {
		hint := "only a pointer has the method " + g[1] + ": put & before the value"
		if c := cannotUseMsg.FindStringSubmatch(msg); c != nil {
			if lo, hi, ok := m.find(c[1]); ok {
				return m.write("only a pointer has the method "+g[1]+": put & before the value", lo, hi, hint, "&"+m.src.Code[lo:hi])
			}
		}
		return hint
	}
	if g := notImplements.FindStringSubmatch(msg); g != nil {
		return "the type needs a method " + g[1] + " to be used here"
	}
	if g := cannotUseMsg.FindStringSubmatch(msg); g != nil {
		return m.cannotUse(g[1], g[2], g[3], g[4])
	}
	if g := convertMsg.FindStringSubmatch(msg); g != nil {
		return m.convert(g[1], g[2], g[3])
	}
	if g := assignCount.FindStringSubmatch(msg); g != nil {
		return m.counts(g[1], g[3])
	}
	if g := negativeIndex.FindStringSubmatch(msg); g != nil {
		return m.fromTheEnd(g[1])
	}
	if indirectMsg.MatchString(msg) {
		if h := m.power(); h != "" {
			return h
		}
		return "* before a value follows a pointer, and this is not a pointer"
	}
	if g := notInterface.FindStringSubmatch(msg); g != nil {
		lo, hi := m.lineAt(m.off)
		if c := re(`^(.*)\.\((\w+)\)`).FindStringSubmatch(m.src.Code[m.off:hi]); c != nil && lo <= m.off {
			return m.write("x.(T) asks what an interface holds; a conversion is a call", m.off, m.off+len(c[0]), "a conversion is written T(x)", c[2]+"("+c[1]+")")
		}
		return "a conversion is written T(x)"
	}
	if g := notAType.FindStringSubmatch(msg); g != nil {
		return "a type is wanted here: each parameter has one, as in func f(x float64)"
	}
	if g := unknownFieldIn.FindStringSubmatch(msg); g != nil {
		if near := nearest(g[1], m.fields(g[2]), 0); near != "" {
			if h := m.mean(m.off, m.off+len(g[1]), near); h != "" {
				return h
			}
		}
		return "the declaration of " + g[2] + " lists its fields"
	}
	if strings.HasPrefix(msg, "no new variables on left side of :=") {
		lo, hi := m.lineAt(m.off)
		if at := strings.Index(m.masked[lo:hi], ":="); at >= 0 && m.works(m.replaced(lo+at, lo+at+2, "="), lo, hi-1) {
			return "all of these names exist in this cell already: assign with = instead"
		}
		return "all of these names exist in this cell already, and have other types: choose other names"
	}
	if strings.HasPrefix(msg, "non-boolean condition") {
		return m.condition()
	}
	if strings.Contains(msg, "return values") {
		return m.returns()
	}
	if notConstant.MatchString(msg) {
		lo, hi := m.lineAt(m.off)
		if c := re(`^(\s*)const\s+(NAME)\s*=\s*`).FindStringSubmatchIndex(m.masked[lo:hi]); c != nil {
			return m.write("a const is known before anything runs", lo+c[3], hi, "define a variable instead: x := value", m.src.Code[lo+c[4]:lo+c[5]]+" := "+m.src.Code[lo+c[1]:hi])
		}
		return "a const is known before anything runs: define a variable instead"
	}
	for _, h := range []struct{ part, hint string }{
		{"in single-value context", "it returns several values: give them names first, as in v, err := f()"},
		{"variables but 1 value", "there must be as many values as names"},
		{"assignment mismatch", "there must be as many values as names"},
		{"non-local type", "methods are for types that a cell declares, such as type Celsius float64"},
		{"expects 2 or 3 arguments; found 1", "make([]int, n) makes a slice of n elements"},
		{"truncated to int", "a whole number is wanted here"},
		{"out of bounds", "the last index is the length minus one"},
		{"is not a function", "only a function can be called with ( )"},
		{"is not used", "only the value of a cell's last line is shown: assign it, print it, or put it last"},
		{"is declared and not used", "use it, or remove it"},
		{" declared and not used", "remove the label, or jump to it"},
		{"missing return", "every way through the function must end with a return"},
		{"not enough arguments in call", "the parameters that the function needs are listed after want"},
		{"too many arguments in call", "the function takes only what is listed after want"},
		{"cannot infer", "name the type: F[int](…)"},
		{"invalid operation: operator ! not defined", "! is for true and false only"},
		{"import cycle", "two packages import each other"},
		{"can only be compared to nil", "slices, maps and functions are compared piece by piece: slices.Equal(a, b) and maps.Equal(a, b) do"},
		{"use of untyped nil", "nil alone has no type: write var p *T, which is nil at the beginning"},
		{"cannot use nil as", "only pointers, slices, maps, channels, functions and interfaces can be nil; var x T is a zero value"},
		{"neither addressable nor a map index expression", "the bytes of a string can't be changed: b := []byte(s) makes a copy that can"},
		{"cannot assign to struct field", "take the struct out of the map, change it, and put it back"},
		{"cannot take address of", "give the value a name first: v := value, then &v"},
		{"(value of type func", "it is a function: add ( ) to call it"},
		{"break not in", "break only works inside for, switch and select"},
		{"continue not in", "continue only works inside a for"},
		{"must be function call", "write go f(…) or defer f(…), with the parentheses"},
		{"too many values in struct literal", "name the fields: T{Size: 1}"},
		{"too few values in struct literal", "name the fields: T{Size: 1}"},
		{"mixture of field:value", "name all fields, or none"},
		{"is not an expression", "this is a type: a value of it is written T{…} or T(x)"},
		{"invalid recursive type", "a struct can't contain itself: use a pointer to it"},
		{"missing key in map literal", "each entry is written key: value"},
		{"duplicate key", "one of the two entries must go"},
		{"invalid argument: index", "the last index is the length minus one"},
		{"cannot call non-function", "this is not a function: leave the ( ) out, or check the name"},
		{"already declared", "one of the two must have another name"},
		{"redeclared", "one of the two must have another name"},
		{"division by zero", "this divides by 0; with floating-point numbers, 1.0 / x may be infinite"},
		{"cannot range over", "range goes through slices, arrays, maps, strings, channels, whole numbers and iterators"},
		{"cannot index", "[ ] is for slices, arrays, maps and strings"},
		{"cannot slice", "[ : ] is for slices, arrays and strings"},
		{"impossible type assertion", "the type lacks a method of the interface: no value can be both"},
		{"invalid argument:", "the built-in function takes other types; Shift+Tab after its ( shows which"},
	} {
		if strings.Contains(msg, h.part) {
			return h.hint
		}
	}
	return ""
}

// shadowedPackage explains that a name means a variable, and no longer the package that has what is looked for.
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
	return fmt.Sprintf("%s is a variable here: import %q gives the package back", name, path)
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
			return "where a list goes over several lines, each line ends with a comma"
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
		return "a value must follow what stands before"
	case strings.HasPrefix(msg, "expected operand"):
		return "a value is missing before this"
	case strings.HasPrefix(msg, "expected selector"):
		return "the name after the dot is missing"
	case strings.HasPrefix(msg, "expected declaration"):
		return "a { or } too many or too few stands before this"
	case strings.HasPrefix(msg, "expected 'IDENT'") || strings.HasPrefix(msg, "expected name"):
		return "a name is wanted here; words such as type, func, range and map are taken"
	case strings.HasPrefix(msg, "expected ';', found ','") && m.works(m.replaced(m.off, m.off+1, ""), lo, m.off):
		m.e.Msg = "fields of a struct are not separated by commas"
		return "each field has a line of its own: leave the comma out"
	case strings.HasPrefix(msg, "expected ';'"):
		_, found, _ := strings.Cut(msg, "found ")
		m.e.Msg = found + " doesn't belong here"
		return "an operator, a comma, a bracket or a new line is missing before it"
	case strings.HasPrefix(msg, "expected type"):
		return "the type is missing here"
	case strings.HasPrefix(msg, "expected '==', found '='"), strings.Contains(msg, "found assignment"):
		return "== compares, = assigns"
	}
	return ""
}

// brackets finds what a parser need not look at: strings and comments that never end, signs that Go doesn't have, and
// brackets without a partner. The parser's words about them lead nowhere near the place.
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
		return wrong(early[0], fmt.Sprintf("the } that belongs to it is missing: the next one is that of line %d, which is indented less", src.Pos(early[1].lo).Line), "is never closed")
	}
	if _, rest, comment := strings.Cut(code[top.lo:top.lo+lineLen(code[top.lo:])], "//"); comment && strings.Contains(rest, closer[top.tok].String()) {
		return wrong(top, fmt.Sprintf("// begins a comment, which swallows the %s: / between whole numbers drops the remainder", closer[top.tok]), "is never closed")
	}
	return wrong(top, fmt.Sprintf("the %s that belongs to it is missing", closer[top.tok]), "is never closed")
}

// indentation is how many tabs and blanks a line begins with.
func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
