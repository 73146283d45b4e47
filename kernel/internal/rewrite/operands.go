package rewrite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// Mistakes with values and their types.

func isNumeric(t string) bool {
	o, ok := types.Universe.Lookup(strings.TrimPrefix(t, "untyped ")).(*types.TypeName)
	if !ok {
		return false
	}
	b, ok := o.Type().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

func isTensor(t string) bool { return strings.TrimPrefix(t, "*") == "tensor.Tensor" }

func isString(t string) bool { return t == "string" || t == "untyped string" }

func article(typ string) string {
	if typ != "" && strings.ContainsRune("aeio8", rune(typ[0])) {
		return "an"
	}
	return "a"
}

// binary takes apart a binary expression that Go has quoted. lo and hi are where it is; x and y are its operands
// as they are written there.
func (m *mistake) binary(expr string) (lo, hi int, x, op, y string, ok bool) {
	lo, hi, ok = m.find(expr)
	if !ok {
		return
	}
	return m.operands(lo, hi)
}

func (m *mistake) operands(lo, hi int) (int, int, string, string, string, bool) {
	text := m.src.Code[lo:hi]
	e, err := parser.ParseExpr(text)
	if err != nil {
		return 0, 0, "", "", "", false
	}
	b, isBinary := e.(*ast.BinaryExpr)
	if !isBinary {
		return 0, 0, "", "", "", false
	}
	cut := func(n ast.Node) string { return text[n.Pos()-1 : n.End()-1] }
	return lo, hi, cut(b.X), b.Op.String(), cut(b.Y), true
}

// atomic puts parentheses around an expression that needs them before a dot.
func atomic(x string) string {
	if e, err := parser.ParseExpr(x); err == nil {
		switch e.(type) {
		case *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr:
			return "(" + x + ")"
		}
	}
	return x
}

// tensorMethods are the methods that replace operators between tensors.
var tensorMethods = map[string]string{"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "%": "Remainder", "==": "Eq", "!=": "Ne", "<": "Lt", "<=": "Le", ">": "Gt", ">=": "Ge",
	"&&": "LogicalAnd", "||": "LogicalOr"}

const tensorOperators = "operators don't work on tensors, methods do"

// tensorCall proposes the method for an operator between x and y, one of which is a tensor.
func (m *mistake) tensorCall(lo, hi int, x, op, y string, first bool) string {
	method := tensorMethods[op]
	if op == "^" && first {
		return m.write("^ is exclusive or, and not for tensors", lo, hi, "a.Pow(2) raises each element to a power", atomic(x)+".Pow("+y+")")
	}
	if method == "" {
		return tensorOperators + ": Add, Sub, Mul, Div, Pow, Matmul"
	}
	fixes := []string{atomic(x) + "." + method + "(" + y + ")"}
	if strings.ContainsAny(op, "<>") {
		fixes = append(fixes, atomic(x)+".Item() "+op+" "+y)
	}
	if !first {
		turned := map[string]string{"Add": "Add", "Mul": "Mul", "Eq": "Eq", "Ne": "Ne", "Lt": "Gt", "Gt": "Lt", "Le": "Ge", "Ge": "Le"}[method]
		fixes = []string{"tensor.Number(" + x + ")." + method + "(" + y + ")"}
		if turned != "" {
			fixes = append([]string{atomic(y) + "." + turned + "(" + x + ")"}, fixes...)
		}
	}
	if h := m.write(tensorOperators, lo, hi, "", fixes...); h != "" {
		return h
	}
	return m.wholeTensor(tensorOperators + ": a." + method + "(b)")
}

// wholeTensor proposes a right side, or a line, in which all operators between tensors are methods.
func (m *mistake) wholeTensor(otherwise string) string {
	lo, hi := m.lineAt(m.off)
	if g := re(`^\s*(?:(?:NAME\s*,?\s*)+:?=|return\b)\s*`).FindStringIndex(m.masked[lo:m.off]); g != nil {
		lo += g[1]
	}
	text := strings.TrimSpace(m.src.Code[lo:hi])
	lo += strings.Index(m.src.Code[lo:hi], text)
	x, err := parser.ParseExpr(text)
	if err != nil {
		return otherwise
	}
	t, is := m.tensorText(text, x)
	if !is {
		return otherwise
	}
	return m.write(tensorOperators, lo, lo+len(text), otherwise, t)
}

// tensorText writes an expression with methods for operators, and reports whether it is a tensor.
func (m *mistake) tensorText(text string, x ast.Expr) (t string, is bool) {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name, isTensor(m.next.vars[x.Name].shown) || isTensor(m.s.vars[x.Name].shown)
	case *ast.ParenExpr:
		if t, is = m.tensorText(text, x.X); is {
			return t, is
		}
		return "(" + t + ")", false
	case *ast.UnaryExpr:
		if t, is = m.tensorText(text, x.X); is && x.Op == token.SUB {
			return atomic(t) + ".Neg()", true
		}
		return x.Op.String() + t, is
	case *ast.CallExpr:
		sel, ok := x.Fun.(*ast.SelectorExpr)
		if !ok {
			break
		}
		args := text[x.Lparen-1 : x.End()-1]
		if t, is = m.tensorText(text, sel.X); is {
			return atomic(t) + "." + camel(sel.Sel.Name) + args, true
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == "tensor" {
			return text[x.Pos()-1 : x.End()-1], true
		}
	case *ast.BinaryExpr:
		method, right := tensorMethods[x.Op.String()], x.Y
		if star, ok := x.Y.(*ast.StarExpr); ok && x.Op == token.MUL { // **
			method, right = "Pow", star.X
		}
		a, first := m.tensorText(text, x.X)
		b, second := m.tensorText(text, right)
		switch turned := map[string]string{"Add": "Add", "Mul": "Mul"}[method]; {
		case first && method != "":
			return atomic(a) + "." + method + "(" + b + ")", true
		case second && turned != "":
			return atomic(b) + "." + turned + "(" + a + ")", true
		case second && method != "":
			return "tensor.Number(" + a + ")." + method + "(" + b + ")", true
		}
		return a + " " + x.Op.String() + " " + b, false
	}
	return text[x.Pos()-1 : x.End()-1], false
}

// mismatch explains an operator between two types.
func (m *mistake) mismatch(expr, a, b string) string {
	lo, hi, x, op, y, ok := m.binary(expr)
	switch {
	case isTensor(a) || isTensor(b):
		if !ok {
			return m.inPlace()
		}
		return m.tensorCall(lo, hi, x, op, y, isTensor(a))
	case ok && (a == "time.Duration" || b == "time.Duration"):
		fix := x + " " + op + " time.Duration(" + y + ")"
		if b == "time.Duration" {
			fix = "time.Duration(" + x + ") " + op + " " + y
		}
		return m.write("Go never converts numbers by itself", lo, hi, "a duration has a unit: 2 * time.Second", fix)
	case op == "&&" || op == "||":
		return op + " is for true and false only: compare with 0, \"\" or nil first"
	case ok && op == "%" && isString(a):
		return m.formatted(lo, hi, x, y)
	case isNumeric(a) && isNumeric(b):
		if op == "%" {
			if !ok {
				return "% is for integers: math.Mod(x, y) is for the others"
			}
			return m.write("% is for integers", lo, hi, "% is for integers: math.Mod(x, y) is for the others", "math.Mod(float64("+x+"), "+y+")", "math.Mod("+x+", float64("+y+"))")
		}
		to, other := a, b
		if strings.HasPrefix(b, "float") || strings.HasPrefix(b, "complex") {
			to, other = b, a
		}
		hint := fmt.Sprintf("Go never converts numbers by itself: write %s(…) around the %s", to, other)
		if !ok {
			return hint
		}
		fix := x + " " + op + " " + to + "(" + y + ")"
		if to == b {
			fix = to + "(" + x + ") " + op + " " + y
		}
		return m.write("Go never converts numbers by itself", lo, hi, hint, fix)
	case ok && op == "*" && (isString(a) && isNumeric(b) || isNumeric(a) && isString(b)):
		if isNumeric(a) {
			x, y = y, x
		}
		return m.write("strings can't be multiplied", lo, hi, "strings.Repeat(s, n) repeats a string", "strings.Repeat("+x+", "+y+")")
	case ok && op == "+" && isString(a) && strings.HasPrefix(y, "'"):
		return m.write("single quotes are for one character, a number", lo, hi, "put the character between double quotes", x+" + \""+strings.Trim(y, "'")+"\"")
	case ok && op == "+" && isString(a) && (b == "rune" || b == "byte"):
		return m.write("only strings can be added to strings", lo, hi, "string(c) turns a character into a string", x+" + string("+y+")")
	case ok && op == "+" && (isString(a) || isString(b)):
		fix := "fmt.Sprint(" + x + ", " + y + ")"
		return m.write("only strings can be added to strings", lo, hi, "only strings can be added to strings: fmt.Sprint(x) turns any value into one", fix)
	case ok && strings.Contains(a, "bool") && strings.ContainsAny(op, "<>"):
		if _, _, _, _, mid, two := m.operands(lo, lo+len(x)); two {
			return m.write("comparisons don't chain", lo, hi, "write a < b && b < c", x+" && "+mid+" "+op+" "+y)
		}
		return "comparisons don't chain: write a < b && b < c"
	case strings.Contains(b, "nil") || strings.Contains(a, "nil"):
		return "only pointers, slices, maps, channels, functions and interfaces can be nil"
	case ok && (strings.Contains(a, "rune") || strings.Contains(b, "rune") || a == "byte" || b == "byte"):
		return "\"h\" is a string, and 'h' is a number that stands for a character: compare like with like"
	}
	if strings.HasPrefix(a, "[]") || strings.HasPrefix(b, "[]") {
		return "operators don't work on slices: go through the elements with for i := range xs, or make a tensor of them"
	}
	return "both sides of an operator must have the same type"
}

// operator explains an operator that a type does not have. what is the operand, and desc is what Go says about it.
func (m *mistake) operator(op, what, desc string) string {
	typ := ""
	if g := typeOf.FindStringSubmatch("variable" + desc); g != nil {
		typ = g[1]
	}
	lo, _ := m.lineAt(m.off)
	if isTensor(typ) {
		if l, h, x, o, y, ok := m.around(op, what); ok {
			return m.tensorCall(l, h, x, o, y, true)
		}
		if op == "-" && m.off > lo && m.src.Code[m.off-1] == '-' {
			if h := m.write(tensorOperators, m.off-1, m.off+len(what), "", what+".Neg()"); h != "" {
				return h
			}
			return m.wholeTensor("a.Neg() changes the sign")
		}
		return m.inPlace()
	}
	l, h, x, _, y, ok := m.around(op, what)
	switch {
	case op == "%" && ok && isString(typ):
		return m.formatted(l, h, x, y)
	case op == "^" && ok:
		return m.write("^ is exclusive or, bit by bit", l, h, "^ is exclusive or, bit by bit; math.Pow(x, y) raises x to the power of y", "math.Pow("+x+", "+y+")", "math.Pow("+x+", float64("+y+"))")
	case op == "%" && ok:
		return m.write("% is for integers", l, h, "% is for integers: math.Mod(x, y) is for the others", "math.Mod("+x+", "+y+")", "math.Mod("+x+", float64("+y+"))")
	case op == "%":
		return "% is for integers: math.Mod(x, y) is for the others"
	case op == "+" && ok && strings.HasPrefix(typ, "[]"):
		return m.write("slices can't be added", l, h, "append(a, b...) joins slices", "append("+x+", "+y+"...)")
	case op == "!":
		return "! is for true and false only: compare with 0, \"\" or nil instead"
	case op == "&&" || op == "||":
		return op + " is for true and false only: compare with 0, \"\" or nil first"
	case strings.HasPrefix(typ, "[]"):
		return "operators don't work on slices: go through the elements with for i := range xs, or make a tensor of them"
	case isString(typ) && op == "-":
		return "strings.TrimSuffix and strings.ReplaceAll remove parts of a string"
	}
	return "this operator is not for values of this type"
}

// formatted explains a % after a string.
func (m *mistake) formatted(lo, hi int, x, y string) string {
	m.e.Msg = "Go has no % for strings"
	return m.write("", lo, hi, "fmt.Sprintf(\"%d %s\", n, s) puts values into a string", "fmt.Sprintf("+x+", "+y+")")
}

// inPlace explains a += b of tensors.
func (m *mistake) inPlace() string {
	lo, hi := m.lineAt(m.off)
	g := re(`^\s*((?:NAME\.)*NAME)\s*(\+|-|\*|/)=\s*(.*\S)`).FindStringSubmatchIndex(m.masked[lo:hi])
	if g == nil {
		return tensorOperators + ": Add, Sub, Mul, Div, Pow, Matmul"
	}
	src := m.src.Code[lo:hi]
	method := tensorMethods[src[g[4]:g[5]]]
	return m.write(tensorOperators, lo+g[2], lo+g[7], "a.AddInPlace(b) changes a", src[g[2]:g[3]]+"."+method+"InPlace("+src[g[6]:g[7]]+")")
}

// around finds the binary expression with an operator that is around the error.
func (m *mistake) around(op, what string) (lo, hi int, x, o, y string, ok bool) {
	start, end := m.lineAt(m.off)
	for at := start; at < end; at++ {
		for to := end; to > m.off; to-- {
			if at > m.off || strings.TrimSpace(m.src.Code[at:to]) != m.src.Code[at:to] {
				continue
			}
			if l, h, x, o, y, ok := m.operands(at, to); ok && o == op && strings.ReplaceAll(x, " ", "") == strings.ReplaceAll(what, " ", "") && m.off < l+len(x)+len(op)+3 {
				return l, h, x, o, y, true
			}
		}
	}
	return
}

// tensorIndex explains brackets after a tensor.
func (m *mistake) tensorIndex(what, x string) string {
	lo, hi, ok := m.find(x)
	if what == "cannot range over" {
		if !ok {
			return "write for i := range t.Size(0): t.Index(i) is one of the rows"
		}
		line, _ := m.lineAt(lo)
		if at := strings.LastIndex(m.masked[line:lo], "range"); at >= 0 {
			lo = line + at
		}
		return m.write("range counts along an axis, and t.Index(i) is the part at i", lo, hi, "for i := range t.Size(0) { … } counts along an axis", "range "+x+".Size(0)")
	}
	hint := "brackets don't work on tensors: t.Index(0) is a part of t, t.At(0) one of its elements"
	if !ok || hi >= len(m.masked) || m.masked[hi] != '[' {
		return hint
	}
	var items []string
	end := hi
	for end < len(m.masked) && m.masked[end] == '[' { // a[0][1]
		close := strings.IndexByte(m.masked[end:], ']')
		if close < 0 {
			return hint
		}
		item := m.src.Code[end+1 : end+close]
		items = append(items, indexItems(item))
		end += close + 1
	}
	list := strings.Join(items, ", ")
	start, stop := m.lineAt(m.off)
	if g := re(`^\s*=([^=].*\S|\d)`).FindStringSubmatch(m.src.Code[end:stop]); g != nil && start <= lo {
		return m.write("brackets don't work on tensors", lo, end+len(g[0]), hint, x+".SetIndex("+strings.TrimSpace(g[1])+", "+list+")")
	}
	if g := re(`^\s*([-+*/])=\s*(.*\S)`).FindStringSubmatch(m.src.Code[end:stop]); g != nil && start <= lo { // the part is a view
		return m.write("brackets don't work on tensors", lo, end+len(g[0]), hint, x+".Index("+list+")."+tensorMethods[g[1]]+"InPlace("+g[2]+")")
	}
	return m.write("brackets don't work on tensors", lo, end, hint, x+".Index("+list+")")
}

// cannotUse explains a value of one type where another is wanted.
func (m *mistake) cannotUse(expr, kind, typ, want string) string {
	lo, hi, ok := m.find(expr)
	text := ""
	if ok {
		text = m.src.Code[lo:hi]
	}
	switch {
	case strings.HasPrefix(kind, "untyped string") || typ == "string":
		if isNumeric(want) {
			return m.write("a string is not a number", lo, hi, "a string is not a number: strconv.Atoi(s) reads an int, strconv.ParseFloat(s, 64) a float64", m.unquoted(text, want))
		}
		if want == "byte" || want == "rune" {
			return "a character goes between single quotes"
		}
		if isTensor(want) {
			return "a string is not a tensor"
		}
	case want == "string" && (isNumeric(typ) || strings.HasPrefix(kind, "untyped")):
		return m.write("a number is not a string", lo, hi, "a number is not a string: fmt.Sprint(x) turns it into one", "fmt.Sprint("+text+")")
	case isTensor(want) && ok:
		return m.write("a tensor is needed here", lo, hi, "a tensor is needed here: tensor.Of(…) makes one", "tensor.Of("+text+")", "tensor.Number("+text+")")
	case isTensor(typ) && isNumeric(want) && ok:
		return m.write("a tensor of one element is still a tensor", lo, hi, "t.Item() is the number in a tensor of one element", text+".Item()", want+"("+text+".Item())")
	case want == "time.Duration":
		return m.write("a duration has a unit", lo, hi, "a duration has a unit: 500 * time.Millisecond is half a second", text+" * time.Second", "time.Duration("+text+") * time.Second")
	case isNumeric(want) && (typ == "" || isNumeric(typ)):
		if strings.Contains(m.e.Msg, "truncated") {
			return fmt.Sprintf("%s %s has no fraction: use a float64, or an integer", article(want), want)
		}
		return m.write("Go never converts numbers by itself", lo, hi, fmt.Sprintf("the types differ: %s(…) converts a number", want), want+"("+text+")")
	}
	if ok && strings.HasPrefix(want, "*") && typ == strings.TrimPrefix(want, "*") {
		return m.write("a pointer is needed here", lo, hi, "put & before a variable to get a pointer to it", "&"+text)
	}
	if ok && strings.HasPrefix(typ, "*") && want == strings.TrimPrefix(typ, "*") {
		return m.write("this is a pointer", lo, hi, "put * before a pointer to get what it points to", "*"+text)
	}
	have := typ
	if have == "" {
		have = strings.TrimSuffix(strings.TrimPrefix(kind, "untyped "), " constant") + " constant"
	}
	return fmt.Sprintf("%s %s is needed here, and this is %s %s", article(want), want, article(have), have)
}

// unquoted returns what a string literal holds if it may be meant as a number.
func (m *mistake) unquoted(lit, want string) string {
	s := strings.Trim(lit, "\"`")
	if len(s) == len(lit) || !regexp.MustCompile(`^-?\d+(\.\d+)?$`).MatchString(s) {
		return ""
	}
	return s
}

func (m *mistake) convert(x, desc, typ string) string {
	lo, hi, ok := m.find(typ + "(" + x + ")")
	switch {
	case strings.Contains(desc, "string") && isNumeric(typ):
		hint := "strconv.Atoi(s) reads an int, strconv.ParseFloat(s, 64) a float64; both return an error, too"
		if s := m.unquoted(x, typ); ok && s != "" {
			return m.write("a string is not a number", lo, hi, hint, typ+"("+s+")")
		}
		return hint
	case strings.Contains(desc, "bool"):
		return "true and false are not numbers: n := 0; if b { n = 1 }"
	case strings.Contains(desc, "float constant"):
		return "Go doesn't cut off the fraction of a constant: write the integer"
	case typ == "string" && ok:
		return m.write("only bytes and characters can be converted to a string like that", lo, hi, "fmt.Sprint(x) turns any value into a string", "fmt.Sprint("+x+")")
	case strings.Contains(desc, "tensor.Tensor") && ok:
		return m.write("a tensor of one element is still a tensor", lo, hi, "t.Item() is the number in a tensor of one element", x+".Item()", typ+"("+x+".Item())")
	}
	return "these types can't be converted to each other"
}

// counts explains an assignment with different numbers of names and values.
func (m *mistake) counts(have, want string) string {
	hint := fmt.Sprintf("write %s names on the left, with _ for those that you don't want", want)
	lo, hi := m.lineAt(m.off)
	if g := re(`^\s*(NAME)\s*(:?=)`).FindStringSubmatchIndex(m.masked[lo:hi]); g != nil && have == "1" && want == "2" {
		second := "_"
		if m.src.Code[lo+g[2]:lo+g[3]] == "err" {
			return m.write("it returns 2 values, and the error is the second", lo+g[2], hi, hint, "_, err "+m.src.Code[lo+g[4]:hi])
		}
		if re(`\b(?:strconv|os|io|json|time|http)\.`).MatchString(m.masked[lo:hi]) {
			second = "err"
		}
		left := m.src.Code[lo+g[2] : lo+g[3]]
		return m.write("it returns 2 values", lo+g[2], hi, hint, left+", "+second+" "+m.src.Code[lo+g[4]:hi], left+", _ "+m.src.Code[lo+g[4]:hi])
	}
	if want == "1" {
		return "write 1 name on the left"
	}
	if want == "0" {
		return "the function returns nothing: call it on a line of its own"
	}
	return hint
}

// fromTheEnd explains xs[-1].
func (m pythonHabit) fromTheEnd(index string) string {
	const hint = "an index counts from the beginning: the last element is xs[len(xs)-1]"
	lo, _ := m.lineAt(m.off)
	open := strings.LastIndexByte(m.masked[lo:m.off], '[')
	end := strings.IndexAny(m.masked[m.off:], "]:")
	if open < 0 || end < 0 {
		return hint
	}
	x := re(`(?:NAME\.)*NAME$`).FindString(m.masked[lo : lo+open])
	if x == "" {
		return hint
	}
	bottom, top := lo+open-len(x), m.off+end
	tail := strings.IndexByte(m.masked[bottom:], ']') + bottom + 1
	fix := m.src.Code[bottom:m.off] + "len(" + x + ")" + m.src.Code[m.off:top] + m.src.Code[top:tail]
	if m.masked[top] == ':' { // a[-3:]
		fix = m.src.Code[bottom:m.off] + "len(" + x + ")" + m.src.Code[m.off:tail]
	}
	return m.write("an index counts from the beginning", bottom, tail, hint, fix)
}

// power explains **.
func (m pythonHabit) power() string {
	lo, hi := m.lineAt(m.off)
	g := re(`(NAME|[\d.]+|\([^()]*\))\s*\*\*\s*(-?NAME|-?[\d.]+|\([^()]*\))`).FindStringSubmatchIndex(m.masked[lo:hi])
	if g == nil {
		return ""
	}
	x, y := m.src.Code[lo+g[2]:lo+g[3]], m.src.Code[lo+g[4]:lo+g[5]]
	m.e.Msg = "Go has no operator **"
	defer m.move(lo+g[0], lo+g[1])
	return m.write("", lo+g[0], lo+g[1], m.wholeTensor("math.Pow(x, y) raises x to the power of y, as float64s"), "math.Pow("+x+", "+y+")", "math.Pow(float64("+x+"), "+y+")", x+".Pow("+y+")",
		"math.Pow("+x+", float64("+y+"))", "math.Pow(float64("+x+"), float64("+y+"))")
}

// condition explains if x { … } with an x that is neither true nor false.
func (m *mistake) condition() string {
	lo, hi := m.lineAt(m.off)
	const hint = "a condition must be true or false: compare it with something"
	at := strings.LastIndexByte(m.masked[lo:hi], '{')
	if at < 0 || lo+at < m.off {
		return hint
	}
	x := strings.TrimSpace(m.src.Code[m.off : lo+at])
	return m.write("a condition must be true or false", m.off, m.off+len(x), hint, x+` != ""`, "len("+x+") > 0", x+" != nil", x+" != 0", x+".Item() != 0")
}

// returns explains a return with too many or too few values.
func (m *mistake) returns() string {
	lo, _ := m.lineAt(m.off)
	inside := false
	for _, it := range split(m.src.Code) {
		inside = inside || it.kind == token.FUNC && it.lo <= m.off && m.off < it.hi
	}
	switch {
	case strings.Contains(m.e.Msg, "not enough"):
		return "the results that the function promises are listed after want"
	case inside || strings.Contains(m.masked[lo:m.off], "func"):
		return "say what the function returns before its {, as in func f(x int) int { … }"
	}
	at := strings.Index(m.masked[lo:], "return") + lo
	end := at + lineLen(m.src.Code[at:])
	line := strings.TrimRight(m.src.Code[at:end], "\n ;")
	return m.write("a cell shows the value of its last line by itself", at, at+len(line), "a cell shows the value of its last line by itself: leave return out", strings.TrimSpace(strings.TrimPrefix(line, "return")))
}

// python explains code that the parser takes for Go, but that is meant as Python.
func (m pythonHabit) python() string {
	if m.src.Code == "" {
		return ""
	}
	lo, hi := m.lineAt(m.off)
	line := m.masked[lo:hi]
	if g := re(`^\s*(NAME)\s*:\s*(int|float|str|bool|string|float64|float32|int64|byte)\s*=\s*`).FindStringSubmatchIndex(line); g != nil {
		src := m.src.Code[lo:hi]
		m.e.Msg = "a colon does not go before a type in Go"
		defer m.move(lo+g[2], lo+g[5])
		typ := src[g[4]:g[5]]
		if t := map[string]string{"str": "string", "float": "float64"}[typ]; t != "" {
			typ = t
		}
		return m.write("", lo+g[2], hi, "write var x int = …", "var "+src[g[2]:g[3]]+" "+typ+" = "+src[g[1]:])
	}
	if strings.Contains(line, "**") && strings.HasPrefix(m.e.Msg, "invalid operation") {
		return m.habit().power()
	}
	return ""
}

// firstLexical returns the place of the scanner's first error, and what it says; -1 if there is none.
func firstLexical(code string) (at int, msg string) {
	at = -1
	for range scan([]byte(code), func(p int, m string) {
		if at < 0 || p < at {
			at, msg = p, m
		}
	}) {
		if at >= 0 {
			break
		}
	}
	return at, msg
}

// lexicalHint adds a proposal to what lexical has said, now that it can be checked.
func (m pythonHabit) lexicalHint() string {
	lo, hi := m.lineAt(m.off)
	line := m.src.Code[m.off:hi]
	switch {
	case strings.HasPrefix(m.e.Msg, "single quotes are"):
		if text, _, ok := strings.Cut(line[1:], "'"); ok {
			return m.write("a string goes between double quotes", m.off, m.off+len(text)+2, "", `"`+text+`"`)
		}
	case strings.HasPrefix(m.e.Msg, "Go has no operator @"):
		if g := re(`((?:NAME\.)*NAME)\s*@\s*((?:NAME\.)*NAME)`).FindStringSubmatchIndex(m.src.Code[lo:hi]); g != nil && lo+g[0] <= m.off && m.off < lo+g[1] {
			src := m.src.Code[lo:hi]
			turned := re(`\.T$`)
			return m.write("", lo+g[0], lo+g[1], "", turned.ReplaceAllString(src[g[2]:g[3]], ".T()")+".Matmul("+turned.ReplaceAllString(src[g[4]:g[5]], ".T()")+")")
		}
	case strings.HasPrefix(m.e.Msg, "a number that begins with 0"):
		if g := re(`0+(\d+)`).FindStringSubmatchIndex(m.src.Code[lo:hi]); g != nil {
			return m.write("", lo+g[0], lo+g[1], "", m.src.Code[lo+g[2]:lo+g[3]])
		}
	}
	return ""
}
