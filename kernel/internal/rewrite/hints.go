package rewrite

import (
	"fmt"
	"regexp"
	"strings"
)

// The hints for readers who learn Go depend on the wording of go/types: here are all forms of its messages that we
// know, and what we make of them. TestHints has a wrong program for each of them. If another version words a message
// differently, it fails with the name of the row, and the new form goes next to the old one, as in "field of a type". A
// cell whose mistake no row fits shows Go's own words, without a hint.

// A hint belongs to a form of the type checker's messages.
type hint struct {
	name string
	form *regexp.Regexp
	say  func(m *mistake, g []string) string // g is what form has found
}

// hintFor returns the first row that fits a message, and what it found there.
func hintFor(msg string) (*hint, []string) {
	for i := range hints {
		if g := hints[i].form.FindStringSubmatch(msg); g != nil {
			return &hints[i], g
		}
	}
	return nil, nil
}

// always is a hint that is the same whatever the cell.
func always(text string) func(*mistake, []string) string {
	return func(*mistake, []string) string { return text }
}

var hints []hint

// They explain by checking changed cells, whose mistakes are explained in turn: hence init.
func init() {
	hints = []hint{
		{"did you mean, of a package", regexp.MustCompile(`^(undefined: .*) \(but have (\w+)\)$`), (*mistake).butHave},
		{"not exported", regexp.MustCompile(`^name (\w+) not exported by package (\w+)`), (*mistake).notExported},
		{"~", regexp.MustCompile(`^cannot use ~`), (*mistake).tilde},
		{"assignment to a value", regexp.MustCompile(`^cannot assign to [^\[]*neither addressable[^\[]*$`),
			always("only variables can be assigned to, not constants or the values of expressions")},
		{"undefined", regexp.MustCompile(`^undefined: (\S+)`), func(m *mistake, g []string) string { return m.name().undefined(g[1]) }},
		{"selector", regexp.MustCompile(`^(.*)\.(\w+) undefined \(type (.*) has no (?:field or )?method (\w+)`), func(m *mistake, g []string) string {
			if h := m.shadowedPackage(g[1], g[2]); h != "" {
				return h
			}
			return m.name().selector(g[1], g[2], g[3])
		}},
		{"unexported", regexp.MustCompile(`^.*\.(\w+) undefined \(cannot refer to unexported (?:field|method) \w+\)`), (*mistake).unexported},
		{"field of a type", regexp.MustCompile(`^operand for field selector (\w+) must be value of type (\S+)$`), (*mistake).fieldOfType}, // since Go 1.27
		{"overflow of an untyped constant", regexp.MustCompile(`^cannot use (.*) \(untyped int constant.*\) as (\w+) value.*overflows\)`), (*mistake).overflows},
		{"overflow of a constant", regexp.MustCompile(`^(.*) \(.*constant.*\) overflows (\w+)`), (*mistake).overflows},
		{"mismatched types", regexp.MustCompile(`^invalid operation: (.*) \(mismatched types (.+) and (.+?)\)?$`),
			func(m *mistake, g []string) string { return m.mismatch(g[1], g[2], g[3]) }},
		{"operator", regexp.MustCompile(`^invalid operation: operator (\S+) not defined on (.*) \((?:variable|value|untyped \w+ constant|constant)(.*)\)$`),
			func(m *mistake, g []string) string { return m.operator(g[1], g[2], g[3]) }},
		{"brackets of a tensor", regexp.MustCompile(`^(?:invalid operation: )?(cannot index|cannot slice|cannot range over) (.*) \(variable of (?:struct )?type \*?tensor\.Tensor\)`),
			func(m *mistake, g []string) string { return m.tensorIndex(g[1], g[2]) }},
		{"len of a tensor", regexp.MustCompile(`^invalid argument: (.*) \(variable of type \*tensor\.Tensor\) for built-in len`), (*mistake).tensorLen},
		{"missing package", regexp.MustCompile(`there is no package (\S+)$`), (*mistake).missingPackage}, // our importer's words
		{"method of a pointer", regexp.MustCompile(`\(method (\w+) has pointer receiver\)`), (*mistake).pointerMethod},
		{"missing method", regexp.MustCompile(`\(missing method (\w+)\)`),
			func(m *mistake, g []string) string { return "the type needs a method " + g[1] + " to be used here" }},
		{"wrong type", cannotUseMsg, func(m *mistake, g []string) string { return m.cannotUse(g[1], g[2], g[3], g[4]) }},
		{"conversion", regexp.MustCompile(`^cannot convert (.*) \((.*)\) to type (\S+)$`), func(m *mistake, g []string) string { return m.convert(g[1], g[2], g[3]) }},
		{"number of values", regexp.MustCompile(`^assignment mismatch: (\d+) variables? but (.*) returns? (\d+) values?`),
			func(m *mistake, g []string) string { return m.counts(g[1], g[3]) }},
		{"negative index", regexp.MustCompile(`^invalid argument: index (-.*) \(constant of type int\) must not be negative`),
			func(m *mistake, g []string) string { return m.habit().fromTheEnd(g[1]) }},
		{"indirection", regexp.MustCompile(`^invalid operation: cannot indirect`), func(m *mistake, _ []string) string {
			if h := m.habit().power(); h != "" {
				return h
			}
			return "* before a value follows a pointer, and this is not a pointer"
		}},
		{"assertion without an interface", regexp.MustCompile(`^invalid operation: (.*) \(variable of (?:\w+ )?type .*\) is not an interface`), (*mistake).notInterface},
		{"not a type", regexp.MustCompile(`^(\w+) (?:\(.*\) )?is not a type`), func(m *mistake, g []string) string {
			if h := m.name().turned(m.off, m.off+len(g[1])); m.src.Code != "" && h != "" {
				return h
			}
			return "a type is needed here: each parameter has one, as in func f(x float64)"
		}},
		{"unknown field", regexp.MustCompile(`^unknown field (\w+) in struct literal of type ([^\s,]+)`), (*mistake).unknownField},
		{"no new variables", regexp.MustCompile(`^no new variables on left side of :=`), (*mistake).noNewVariables},
		{"condition", regexp.MustCompile(`^non-boolean condition`), func(m *mistake, _ []string) string { return m.condition() }},
		{"return values", regexp.MustCompile(`return values`), func(m *mistake, _ []string) string { return m.returns() }},
		{"not constant", regexp.MustCompile(`is not constant$`), (*mistake).notConstant},
		{"in single-value context", regexp.MustCompile(`in single-value context`), always("it returns several values: give them names first, as in v, err := f()")},
		{"variables but 1 value", regexp.MustCompile(`variables but 1 value`), always("there must be as many values as names")},
		{"assignment mismatch", regexp.MustCompile(`assignment mismatch`), always("there must be as many values as names")},
		{"non-local type", regexp.MustCompile(`non-local type`), always("methods are for types that a cell declares, such as type Celsius float64")},
		{"expects 2 or 3 arguments; found 1", regexp.MustCompile(`expects 2 or 3 arguments; found 1`), always("make([]int, n) makes a slice of n elements")},
		{"truncated to int", regexp.MustCompile(`truncated to int`), (*mistake).truncated},
		{"out of bounds", regexp.MustCompile(`out of bounds`), always("the last index is the length minus one")},
		{"is not a function", regexp.MustCompile(`is not a function`), (*mistake).notFunction},
		{"arguments in conversion", regexp.MustCompile(`arguments? in conversion to (\S+)$`), (*mistake).conversionCall},
		{"is not used", regexp.MustCompile(`is not used`), always("only the value of a cell's last line is shown: assign it, print it, or put it last")},
		{"is declared and not used", regexp.MustCompile(`is declared and not used`), always("use it, or remove it")},
		{"try", pythonLabel, func(m *mistake, _ []string) string {
			m.e.Msg = noExceptions
			return "a function that can fail returns an error: if err != nil { … } handles it"
		}},
		{" declared and not used", regexp.MustCompile(` declared and not used`), always("remove the label, or jump to it")},
		{"missing return", regexp.MustCompile(`missing return`), always("every way through the function must end with a return")},
		{"not enough arguments in call", regexp.MustCompile(`not enough arguments in call`), always("the parameters that the function needs are listed after want")},
		{"too many arguments in call", regexp.MustCompile(`too many arguments in call`), always("the function takes only what is listed after want")},
		{"cannot infer", regexp.MustCompile(`cannot infer`), always("name the type: F[int](…)")},
		{"import cycle", regexp.MustCompile(`import cycle`), always("two packages import each other")},
		{"can only be compared to nil", regexp.MustCompile(`can only be compared to nil`), (*mistake).piecewise},
		{"use of untyped nil", regexp.MustCompile(`use of untyped nil`), always("nil alone has no type: write var p *T, which starts out as nil")},
		{"cannot use nil as", regexp.MustCompile(`cannot use nil as`), always("only pointers, slices, maps, channels, functions and interfaces can be nil; var x T is a zero value")},
		{"neither addressable nor a map index expression", regexp.MustCompile(`neither addressable nor a map index expression`), always("the bytes of a string can't be changed: b := []byte(s) makes a copy that can")},
		{"cannot assign to struct field", regexp.MustCompile(`cannot assign to struct field`), always("take the struct out of the map, change it, and put it back")},
		{"cannot take address of", regexp.MustCompile(`cannot take address of`), always("give the value a name first: v := value, then &v")},
		{"(value of type func", regexp.MustCompile(`\(value of type func`), always("it is a function: add ( ) to call it")},
		{"break not in", regexp.MustCompile(`break not in`), always("break only works inside for, switch and select")},
		{"continue not in", regexp.MustCompile(`continue not in`), always("continue only works inside a for")},
		{"must be function call", regexp.MustCompile(`must be function call`), always("write go f(…) or defer f(…), with the parentheses")},
		{"too many values in struct literal", regexp.MustCompile(`too many values in struct literal`), always("name the fields: T{Size: 1}")},
		{"too few values in struct literal", regexp.MustCompile(`too few values in struct literal`), always("name the fields: T{Size: 1}")},
		{"mixture of field:value", regexp.MustCompile(`mixture of field:value`), always("name all fields, or none")},
		{"is not an expression", regexp.MustCompile(`is not an expression`), always("this is a type: a value of it is written T{…} or T(x)")},
		{"invalid recursive type", regexp.MustCompile(`invalid recursive type`), always("a struct can't contain itself: use a pointer to it")},
		{"missing key in map literal", regexp.MustCompile(`missing key in map literal`), always("each entry is written key: value")},
		{"duplicate key", regexp.MustCompile(`duplicate key`), always("one of the two entries must go")},
		{"index of another type", regexp.MustCompile(`^invalid argument: index .* must be integer`), always("an index is an integer: int(x) turns a float64 into one")},
		{"invalid argument: index", regexp.MustCompile(`invalid argument: index`), always("the last index is the length minus one")},
		{"already declared", regexp.MustCompile(`already declared`), always("one of the two needs another name")},
		{"redeclared", regexp.MustCompile(`redeclared`), always("one of the two needs another name")},
		{"division by zero", regexp.MustCompile(`division by zero`), always("this divides by 0; with floating-point numbers, 1.0 / x may be infinite")},
		{"cannot range over", regexp.MustCompile(`cannot range over`), always("range works over slices, arrays, maps, strings, channels, integers and iterators")},
		{"pointer to a map", regexp.MustCompile(`^(?:invalid operation: )?cannot index .* \(variable of type \*map`), always("new returns a pointer to a map that doesn't exist yet: m := make(map[string]int) makes one")},
		{"cannot index", regexp.MustCompile(`cannot index`), always("[ ] is for slices, arrays, maps and strings")},
		{"cannot slice", regexp.MustCompile(`cannot slice`), always("[ : ] is for slices, arrays and strings")},
		{"impossible type assertion", regexp.MustCompile(`impossible type assertion`), always("the type lacks a method of the interface: no value can be both")},
		{"cannot be ordered", regexp.MustCompile(`cannot be ordered`), always("min and max take values one by one: slices.Max(xs) is the largest in a slice, t.Max() the largest in a tensor")},
		{"invalid argument:", regexp.MustCompile(`invalid argument:`), always("the built-in function takes other types; Shift+Tab after its ( shows which")},
	}
}

// Other forms that we look for: parts of these messages, and those that lead to no hint.
var (
	oursMsg       = regexp.MustCompile(` in argument to lectern\w*\.\w+`) // about code that the kernel has added
	quotedPackage = regexp.MustCompile(`([( *\]])"(?:[\w.-]+/)*(\w+)"\.([A-Z])`)
	didYouMean    = regexp.MustCompile(`but does have (field|method) (\w+)`)
	cannotUseMsg  = regexp.MustCompile(`^cannot use (.*?) \((untyped (?:\w+) constant|(?:variable|value|constant \S+) (?:of type|of struct type|of interface type) (\S+)).*\) as (\S+) value in`)
	typeOf        = regexp.MustCompile(`(?:variable|value|constant \S+) of (?:\w+ )?type (.+)$`)
	funcTypeMsg   = regexp.MustCompile(`^func\(.*is not an expression$`)
	unusedMsg     = regexp.MustCompile(`^declared and not used: (.*)$|^(\S+) declared and not used$`) // the second of a type switch
	pythonLabel   = regexp.MustCompile(`^label (?:try|except|finally) declared and not used$`)
	unusedValue   = regexp.MustCompile(`is not used$`)
)

// plain removes from the type checker's words what the user has not written, and its line breaks.
func plain(msg string) string {
	msg = oursMsg.ReplaceAllString(strings.ReplaceAll(msg, "\n\t", "; "), "")
	return quotedPackage.ReplaceAllString(msg, "$1$2.$3")
}

func (m *mistake) butHave(g []string) string {
	msg, near := g[1], g[2]
	m.e.Msg = msg
	if pythonMembers[msg[len("undefined: "):]] != "" {
		return m.name().undefined(msg[len("undefined: "):])
	}
	_, hi := m.lineAt(m.off)
	word := identifierAt(m.src.Code[m.off:hi])
	if pkg, ok := strings.CutSuffix(msg[len("undefined: "):], "."+word); ok && m.name().mean(m.off, m.off+len(word), near) != "" {
		return "did you mean " + pkg + "." + near + "?"
	}
	return m.name().mean(m.off, m.off+len(word), near)
}

func (m *mistake) notExported(g []string) string {
	upper := strings.ToUpper(g[1][:1]) + g[1][1:]
	if m.name().mean(m.off, m.off+len(g[1]), upper) != "" {
		return "did you mean " + g[2] + "." + upper + "?"
	}
	if p := m.name().packageNamed(g[2]); p != nil && p.Scope().Lookup(upper) != nil {
		return "its name is " + g[2] + "." + upper
	}
	return "only names that begin with a capital letter can be used from outside a package"
}

func (m *mistake) unexported(g []string) string {
	upper := camel(g[1])
	if m.name().mean(m.off, m.off+len(g[1]), upper) != "" {
		return "did you mean " + upper + "?"
	}
	return "only names that begin with a capital letter can be used from outside a package"
}

// conversionCall explains a type that is called like a function, with more or fewer values than one.
func (m *mistake) conversionCall(g []string) string {
	lo, hi := m.lineAt(m.off)
	hint := g[1] + " is a type: a value of it is written " + g[1] + "{…}"
	if pkg, name, ok := strings.Cut(g[1], "."); ok {
		if p := m.name().packageNamed(pkg); p != nil && p.Scope().Lookup("New"+name) != nil {
			hint = g[1] + " is a type: " + pkg + ".New" + name + "(…) makes one"
		}
	}
	at := strings.Index(m.masked[lo:hi], g[1]+"(") + lo
	if end := closing(m.masked, max(at, lo)+len(g[1])); at >= lo && end >= 0 {
		return m.write("the values of a type go between { and }", at, end+1, hint, g[1]+"{"+m.src.Code[at+len(g[1])+1:end]+"}")
	}
	return hint
}

// truncated explains a number with a fraction next to an int.
func (m *mistake) truncated([]string) string {
	const hint = "an integer is needed here"
	lo, hi := m.lineAt(m.off)
	g := re(`((?:NAME\.)*NAME(?:\([^()]*\)|\[[^\[\]]*\])?)\s*(?:[-+*/]|[=!<>]=|<|>)\s*$`).FindStringSubmatchIndex(m.masked[lo:m.off])
	number := re(`^[\d.]+`).FindString(m.masked[m.off:hi])
	if g == nil || number == "" {
		return hint
	}
	from, x := lo+g[2], m.src.Code[lo+g[2]:lo+g[3]]
	return m.write("an int has no fraction", from, m.off+len(number), hint, "float64("+x+")"+m.src.Code[lo+g[3]:m.off]+number)
}

// notFunction explains a call of what can't be called, such as a layer.
func (m *mistake) notFunction([]string) string {
	const hint = "only a function can be called with ( )"
	_, end := m.lineAt(m.off)
	if name := re(`^(?:NAME\.)*NAME`).FindString(m.masked[m.off:end]); name != "" {
		return m.write("only a function can be called; a layer has a method for that", m.off, m.off+len(name), hint, name+".Forward")
	}
	return hint
}

// piecewise explains a comparison of values that can only be compared to nil.
func (m *mistake) piecewise([]string) string {
	const hint = "slices and maps are compared element by element: slices.Equal(a, b) and maps.Equal(a, b) do that"
	lo, hi := m.lineAt(m.off)
	for at := hi; at > m.off; at-- {
		if _, _, x, op, y, ok := m.operands(m.off, at); ok && (op == "==" || op == "!=") {
			not := strings.TrimSuffix(op, "=")
			if not == "=" {
				not = ""
			}
			return m.write("slices and maps are compared element by element", max(lo, m.off), at, hint, not+"slices.Equal("+x+", "+y+")", not+"maps.Equal("+x+", "+y+")")
		}
	}
	return hint
}

func (m *mistake) tilde([]string) string {
	lo, hi := m.lineAt(m.off)
	if g := re(`~\s*(NAME|\d+)`).FindStringSubmatchIndex(m.masked[lo:hi]); g != nil {
		return m.write("^ flips the bits", lo+g[0], lo+g[1], "^x flips the bits", "^"+m.src.Code[lo+g[2]:lo+g[3]])
	}
	return "^x flips the bits"
}

// fieldOfType words it as Go did before 1.27, and says where.
func (m *mistake) fieldOfType(g []string) string {
	name, typ := g[1], g[2]
	m.e.Msg = fmt.Sprintf("%s.%s undefined (type %[1]s has no method %s)", typ, name)
	if m.src.Code != "" && strings.HasPrefix(m.src.Code[m.off:], typ+"."+name) {
		at := m.off + len(typ) + len(".")
		m.move(at, at+len(name))
	}
	return m.name().selector(typ, name, typ)
}

func (m *mistake) overflows(g []string) string {
	expr, typ := g[1], g[2]
	m.e.Msg = fmt.Sprintf("%s does not fit into %s %s", expr, article(typ), typ)
	hint := "a wider type has room for it; package math/big has integers of any size"
	if lo, hi, ok := m.find(expr); ok {
		return m.write("a float64 has room for it, with about 15 digits", lo, hi, hint, "float64("+m.src.Code[lo:hi]+")")
	}
	return hint
}

func (m *mistake) tensorLen(g []string) string {
	const hint = "t.Size(0) is the size along axis 0, t.Len() the number of elements"
	lo, hi := m.lineAt(m.off)
	if at := strings.LastIndex(m.masked[lo:m.off], "len("); at >= 0 {
		if end := strings.IndexByte(m.masked[m.off:hi], ')'); end >= 0 {
			return m.write("len doesn't work on tensors, Size does", lo+at, m.off+end+1, hint, g[1]+".Size(0)")
		}
	}
	return hint
}

func (m *mistake) missingPackage(g []string) string {
	if first, _, _ := strings.Cut(g[1], "/"); strings.Contains(first, ".") {
		return fmt.Sprintf("%%get %s@latest fetches it", g[1])
	}
	if lo, hi := m.lineAt(m.off); m.src.Code != "" {
		if near := nearest(g[1], m.s.packages.Names(), 2); near != "" {
			if at := strings.Index(m.src.Code[lo:hi], g[1]); at >= 0 {
				if h := m.name().mean(lo+at, lo+at+len(g[1]), near); h != "" {
					return h
				}
			}
		}
	}
	return "packages of the standard library have short paths, such as math/rand; other paths begin with a site's name"
}

func (m *mistake) pointerMethod(g []string) string {
	hint := "only a pointer has the method " + g[1] + ": put & before the value"
	if c := cannotUseMsg.FindStringSubmatch(m.e.Msg); c != nil {
		if lo, hi, ok := m.find(c[1]); ok {
			return m.write(hint, lo, hi, hint, "&"+m.src.Code[lo:hi])
		}
	}
	return hint
}

func (m *mistake) notInterface([]string) string {
	lo, hi := m.lineAt(m.off)
	if c := re(`^(.*)\.\((\w+)\)`).FindStringSubmatch(m.src.Code[m.off:hi]); c != nil && lo <= m.off {
		return m.write("x.(T) asks what an interface holds; a conversion is a call", m.off, m.off+len(c[0]), "a conversion is written T(x)", c[2]+"("+c[1]+")")
	}
	return "a conversion is written T(x)"
}

func (m *mistake) unknownField(g []string) string {
	if near := nearest(g[1], m.name().fields(g[2]), 0); near != "" {
		if h := m.name().mean(m.off, m.off+len(g[1]), near); h != "" {
			return h
		}
	}
	return "the declaration of " + g[2] + " lists its fields"
}

func (m *mistake) noNewVariables([]string) string {
	lo, hi := m.lineAt(m.off)
	if at := strings.Index(m.masked[lo:hi], ":="); at >= 0 && m.works(m.replaced(lo+at, lo+at+2, "="), lo, hi-1) {
		return "all of these names exist in this cell already: assign with = instead"
	}
	return "all of these names exist in this cell already, and have other types: choose other names"
}

func (m *mistake) notConstant([]string) string {
	lo, hi := m.lineAt(m.off)
	if c := re(`^(\s*)const\s+(NAME)\s*=\s*`).FindStringSubmatchIndex(m.masked[lo:hi]); c != nil {
		return m.write("a const is known before anything runs", lo+c[3], hi, "define a variable instead: x := value", m.src.Code[lo+c[4]:lo+c[5]]+" := "+m.src.Code[lo+c[1]:hi])
	}
	return "a const is known before anything runs: define a variable instead"
}
