package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// Some of what beginners write is valid Go but means something else. Each kind is pointed out once in a session, beside
// what the cell shows.

// A Vet examines a program that compiles, as the user has written it, and reports suspicious code in it.
type Vet func(fset *token.FileSet, file *ast.File, pkg *types.Package, info *types.Info, report func(at token.Pos, what string))

// Vetted returns a session whose cells are looked at by a Vet, too.
func (s *Session) Vetted(v Vet) *Session {
	c := s.clone()
	c.vet = v
	return c
}

// remarks looks at a cell without mistakes.
func (w *work) remarks() {
	if w.user == nil || w.s.alone {
		return
	}
	if off := divides(w.src.Code); off >= 0 {
		w.remark("//", off, "// begins a comment, so nothing is divided; / between integers drops the remainder")
	}
	if g := assignsSign.FindStringSubmatchIndex(mask(w.code)); g != nil {
		x, sign := w.code[g[2]:g[3]], w.code[g[4]:g[5]]
		w.remark("=+", g[2], "%s =%s assigns a number with a sign; write %[1]s %[2]s= to change %[1]s", x, sign)
	}
	r := remarker{w: w, bits: bitwise(w.code), measures: w.measure != "" || w.r.Timed || measuring.MatchString(w.code), counted: map[*ast.ExprStmt]bool{}}
	w.eachDecl(w.final, func(_ *decl, n ast.Node) { r.look(w.final, n) })
	for i, st := range w.body {
		if x, ok := st.(*ast.ExprStmt); ok && i == len(w.body)-1 {
			if w.stmts[len(w.stmts)-1].ended {
				r.unused(w.user, x)
			} else {
				r.shown(w.user, x.X)
			}
			r.look(w.user, x.X)
			continue
		}
		r.look(w.user, st)
	}
	if w.s.vet == nil || len(w.user.errs) > 0 && w.final == w.user && !w.onlyUnused() {
		return
	}
	c := w.user
	w.s.vet(c.fset, c.file, c.pkg, c.info, func(at token.Pos, what string) {
		src, off, exact := c.user(at)
		if exact && src == w.src {
			w.remark("vet "+what, off, "%s", what)
		}
	})
}

// onlyUnused reports whether the type checker has found nothing but unused values, which a cell may have.
func (w *work) onlyUnused() bool {
	for _, e := range w.user.errs {
		if _, unused := unusedName(e.Msg); !unused && !unusedValue.MatchString(e.Msg) {
			return false
		}
	}
	return true
}

// remark says something about a place in the cell, unless it was said before.
func (w *work) remark(key string, off int, format string, args ...any) {
	w.note("remark "+key, "line %d: %s", w.src.Pos(off).Line, fmt.Sprintf(format, args...))
}

var oneNumber = regexp.MustCompile(`^//\s*\(?-?[\d.]+\)?\s*$`)

// divides returns where there is a // that was to divide, or -1.
func divides(code string) int {
	ts := tokens(code)
	for i, t := range ts {
		if t.tok != token.COMMENT || !oneNumber.MatchString(t.lit) || i == 0 || strings.TrimSpace(code[strings.LastIndexByte(code[:t.lo], '\n')+1:t.lo]) == "" {
			continue
		}
		if i > 1 && ts[i-1].tok == token.SEMICOLON { // the end of the line, which the scanner puts before the comment
			i--
		}
		switch ts[i-1].tok {
		case token.IDENT, token.INT, token.FLOAT, token.RPAREN, token.RBRACK:
			return t.lo
		}
	}
	return -1
}

// assignsSign finds x =+ 1.
var assignsSign = regexp.MustCompile(`(?m)^\s*([\pL_][\pL\d_.]*) =([-+]) `)

// measuring finds cells that may call something only to see how long it takes.
var measuring = regexp.MustCompile(`\btime\.(Now|Since)\b|\baccounting\.|\btesting\.`)

// bitwise reports whether a cell has other operators on bits than ^: then it probably means ^, too.
func bitwise(code string) bool {
	ts := tokens(code)
	for i, t := range ts {
		switch t.tok {
		case token.SHL, token.SHR, token.OR, token.AND_NOT, token.XOR_ASSIGN, token.AND_ASSIGN, token.OR_ASSIGN, token.SHL_ASSIGN, token.SHR_ASSIGN:
			return true
		case token.AND, token.XOR: // not before an operand
			if unary := i == 0 || ts[i-1].tok.IsOperator() && ts[i-1].tok != token.RPAREN && ts[i-1].tok != token.RBRACK || ts[i-1].tok.IsKeyword(); t.tok == token.AND && !unary || t.tok == token.XOR && unary {
				return true
			}
		}
	}
	return false
}

// A remarker looks for code that may not mean what its author thinks.
type remarker struct {
	w        *work
	bits     bool // the cell works on bits
	measures bool // it looks at how long something takes, or at what it costs
	counted  map[*ast.ExprStmt]bool
}

func (r *remarker) remark(c *checked, n ast.Node, key, format string, args ...any) {
	if src, off, exact := c.user(n.Pos()); exact && src == r.w.src {
		r.w.remark(key, off, format, args...)
	}
}

func (r *remarker) look(c *checked, root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if l := n.Body.List; len(l) > 0 {
				if st, ok := l[len(l)-1].(*ast.ExprStmt); ok { // func() { x.Matmul(w) }, to be timed, counted or tried
					r.counted[st] = true
				}
			}
		case *ast.BinaryExpr:
			switch n.Op {
			case token.EQL, token.NEQ:
				r.identity(c, n)
			case token.XOR:
				r.power(c, n)
			case token.QUO:
				r.quotient(c, n, false)
			}
		case *ast.CallExpr:
			if f, ok := c.info.Uses[named(n.Fun)].(*types.Func); ok && f.Pkg() != nil && strings.HasSuffix(f.Pkg().Path(), "/notebooks/lesson") {
				return false // what a question is about is meant
			}
			r.arguments(c, n)
			if b, ok := c.info.Uses[named(n.Fun)].(*types.Builtin); ok && strings.HasPrefix(b.Name(), "print") {
				r.remark(c, n, "print", "%s is meant for debugging Go itself, and writes to standard error in its own format: use fmt.Println(…)", b.Name())
			}
		case *ast.ExprStmt:
			r.unused(c, n)
		case *ast.ForStmt:
			r.loop(c, n)
		case *ast.RangeStmt:
			if b, ok := ast.Unparen(n.X).(*ast.BasicLit); ok && b.Value == "0" {
				r.remark(c, n, "loop", "this loop never runs: range 0 counts nothing")
			}
		}
		return true
	})
}

// identity finds == between pointers whose type has a method that compares what they point to.
func (r *remarker) identity(c *checked, x *ast.BinaryExpr) {
	p, ok := c.info.TypeOf(x.X).(*types.Pointer)
	if !ok || !types.Identical(p, c.info.TypeOf(x.Y)) {
		return
	}
	t, ok := types.Unalias(p.Elem()).(*types.Named)
	for _, y := range []ast.Expr{x.X, x.Y} { // whether w is that very part of a model
		if sel, isSel := ast.Unparen(y).(*ast.SelectorExpr); isSel && c.info.Selections[sel] != nil {
			return
		}
	}
	if !ok || t.Obj().Pkg() == nil || t.Obj().Pkg() == c.pkg {
		return
	}
	a, b, not := atomic(c.source(x.X)), c.source(x.Y), ""
	if r.related(c.source(x.X), b) {
		r.w.n.noted["remark identity"] = true // whether these are the tensor itself
		return
	}
	if x.Op == token.NEQ {
		not = "!"
	}
	how := ""
	pkg := t.Obj().Pkg()
	takesTwo := func(f types.Object) bool {
		fn, ok := f.(*types.Func)
		return ok && fn.Signature().Params().Len() == 2 && types.Identical(fn.Signature().Params().At(0).Type(), p) && types.Identical(fn.Signature().Params().At(1).Type(), p)
	}
	method := func(name string) bool {
		o, _, _ := types.LookupFieldOrMethod(p, false, pkg, name)
		fn, ok := o.(*types.Func)
		return ok && fn.Signature().Params().Len() == 1 && types.Identical(fn.Signature().Params().At(0).Type(), p)
	}
	switch {
	case takesTwo(pkg.Scope().Lookup("Equal")): // such as tensor.Equal
		how = fmt.Sprintf("%s%s.Equal(%s, %s)", not, pkg.Name(), c.source(x.X), b)
	case method("Equal"):
		how = fmt.Sprintf("%s%s.Equal(%s)", not, a, b)
	case method("Cmp"):
		how = fmt.Sprintf("%s.Cmp(%s) %s 0", a, b, x.Op)
	default:
		return
	}
	if isTensor(types.TypeString(p, (*types.Package).Name)) {
		how += fmt.Sprintf(" compares all elements at once, %s.%s(%s) for each", a, tensorMethods[x.Op.String()], b)
	} else {
		how += " compares the values"
	}
	r.remark(c, x, "identity", "%s asks whether both are the same %s in memory: %s", c.source(x), strings.ToLower(t.Obj().Name()), how)
}

// givenOn finds y := x, and y := x.To(device), which may be x itself.
var givenOn = re(`(?m)^\s*(NAME)\s*:?=\s*(NAME)(?:\.(?:To|Contiguous)\(.*)?\s*$`)

// related reports whether the cell gives one of two variables to the other, perhaps by way of others.
func (r *remarker) related(a, b string) bool {
	pairs, same := givenOn.FindAllStringSubmatch(r.w.code, -1), map[string]bool{a: true}
	for n := 0; n < len(same); {
		n = len(same)
		for _, p := range pairs {
			if same[p[1]] || same[p[2]] {
				same[p[1]], same[p[2]] = true, true
			}
		}
	}
	return same[b]
}

// decimal returns the text of an integer as people write it, or "".
func decimal(x ast.Expr) string {
	if b, ok := ast.Unparen(x).(*ast.BasicLit); ok && b.Kind == token.INT && !strings.ContainsAny(b.Value, "xXoObB_") && (b.Value == "0" || b.Value[0] != '0') {
		return b.Value
	}
	return ""
}

// power finds a ^ that was to raise to a power.
func (r *remarker) power(c *checked, x *ast.BinaryExpr) {
	a, b := decimal(x.X), decimal(x.Y)
	t, ok := c.info.TypeOf(x).Underlying().(*types.Basic)
	if r.bits || !ok || t.Info()&types.IsUnsigned != 0 || a == "" && b != "2" && b != "3" || b == "" && a != "2" && a != "10" {
		return
	}
	left, right := c.source(x.X), c.source(x.Y)
	float := func(text, literal string) string {
		if literal != "" {
			return text
		}
		return "float64(" + text + ")"
	}
	hint := fmt.Sprintf("math.Pow(%s, %s)", float(left, a), float(right, b))
	switch {
	case a == "2":
		hint = fmt.Sprintf("1<<%s, or %s", atomic(right), hint)
	case b == "2" && a == "":
		hint = fmt.Sprintf("%s*%[1]s, or %s", atomic(left), hint)
	}
	r.remark(c, x, "power", "^ is exclusive or, bit by bit. A power is written %s", hint)
}

// isQuotient reports whether x divides constants without a type as integers, and a remainder is lost.
func (c *checked) isQuotient(x ast.Expr) (q *ast.BinaryExpr, zero bool) {
	q, ok := ast.Unparen(x).(*ast.BinaryExpr)
	if !ok || q.Op != token.QUO {
		return nil, false
	}
	a, b := c.info.Types[q.X], c.info.Types[q.Y]
	if !untypedInt(a) || !untypedInt(b) || constant.Sign(b.Value) == 0 || constant.Sign(constant.BinaryOp(a.Value, token.REM, b.Value)) == 0 {
		return nil, false
	}
	return q, constant.Sign(constant.BinaryOp(a.Value, token.QUO_ASSIGN, b.Value)) == 0
}

func untypedInt(tv types.TypeAndValue) bool {
	b, ok := tv.Type.(*types.Basic)
	return ok && tv.Value != nil && tv.Value.Kind() == constant.Int && b.Info()&types.IsUntyped != 0 && b.Info()&types.IsInteger != 0
}

// quotient finds integers that are divided where a number with a fraction is wanted: the result becomes one, or it
// is shown, or nothing is left of it.
func (r *remarker) quotient(c *checked, x *ast.BinaryExpr, shown bool) {
	const loses = "%s divides integers, which drops the remainder: "
	if q, zero := c.isQuotient(x); q != nil {
		t, _ := c.info.TypeOf(q).Underlying().(*types.Basic)
		if !shown && !zero && (t == nil || t.Info()&(types.IsFloat|types.IsComplex) == 0) {
			return
		}
		left, right := c.source(q.X), c.source(q.Y)
		hint := fmt.Sprintf("write float64(%s) / %s", left, right)
		if decimal(q.X) != "" {
			hint = fmt.Sprintf("write %s.0 / %s", left, right)
		}
		r.remark(c, x, "quotient", loses+"it is %s; %s", c.source(q), constant.BinaryOp(c.info.Types[q.X].Value, token.QUO_ASSIGN, c.info.Types[q.Y].Value), hint)
		return
	}
	if t, ok := c.info.TypeOf(x).(*types.Basic); ok && t.Info()&types.IsInteger != 0 && decimal(x.X) == "1" && c.info.Types[x].Value == nil {
		y := c.source(x.Y)
		r.remark(c, x, "quotient", loses+"it is 0 as soon as %s is more than 1; write 1 / float64(%[2]s)", c.source(x), y)
	}
}

// arguments looks for quotients that are printed.
func (r *remarker) arguments(c *checked, call *ast.CallExpr) {
	f, ok := c.info.Uses[named(call.Fun)].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "fmt" {
		return
	}
	for _, a := range call.Args {
		if q, _ := c.isQuotient(a); q != nil {
			r.quotient(c, q, true)
		}
	}
}

// shown looks at the expression whose value the cell shows.
func (r *remarker) shown(c *checked, x ast.Expr) {
	if q, _ := c.isQuotient(x); q != nil {
		r.quotient(c, q, true)
	}
	sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
	if !ok {
		return
	}
	f, ok := c.info.Uses[sel.Sel].(*types.Func)
	if !ok {
		return
	}
	kind := "function"
	if f.Signature().Recv() != nil {
		kind = "method"
	}
	if s, ok := c.info.Selections[sel]; ok && s.Kind() == types.MethodExpr {
		return
	}
	call := c.source(x)
	if n := f.Signature().Params().Len(); n == 0 || n == 1 && f.Signature().Variadic() {
		call += "()"
	} else {
		call += "(…)"
	}
	r.remark(c, x, "call", "%s is the %s itself: %s calls it", c.source(x), kind, call)
}

// pure are packages whose functions do nothing but return a value; those that return none, such as slices.Sort, don't
// count.
var pure = map[string]bool{"bytes": true, "cmp": true, "errors": true, "maps": true, "math": true, "math/bits": true, "math/cmplx": true, "path": true, "slices": true,
	"strconv": true, "strings": true, "unicode": true, "unicode/utf8": true}

// printed are the functions of package fmt that are pure.
var printed = regexp.MustCompile(`^(Sprint|Errorf|Append)`)

// changes are the methods of a tensor that return it, or another, and are called for what they do to it.
var changes = regexp.MustCompile(`InPlace$|^(Set|Copy)|^(Fill|Zero|RequireGrad|RetainGrad|StopGrad)$`)

// unused finds calls that do nothing but return a value, which is then not used. Go itself finds the expressions that
// are no calls.
func (r *remarker) unused(c *checked, st *ast.ExprStmt) {
	call, ok := ast.Unparen(st.X).(*ast.CallExpr)
	if !ok {
		return
	}
	f, ok := c.info.Uses[named(call.Fun)].(*types.Func)
	if !ok || f.Pkg() == nil || f.Signature().Results().Len() == 0 {
		return
	}
	recv := f.Signature().Recv()
	switch {
	case recv == nil && (pure[f.Pkg().Path()] || f.Pkg().Path() == "fmt" && printed.MatchString(f.Name())):
		r.remark(c, st, "unused", "what %s returns is lost: assign it, as in x := %s", c.source(call.Fun), c.source(call))
	case recv != nil && isTensor(types.TypeString(recv.Type(), (*types.Package).Name)) && f.Signature().Results().Len() == 1 &&
		types.Identical(f.Signature().Results().At(0).Type(), recv.Type()) && !changes.MatchString(f.Name()) && !r.measures && !r.counted[st]:
		x := c.source(call.Fun.(*ast.SelectorExpr).X)
		hint := fmt.Sprintf("%s returns a new tensor and leaves %s as it is: assign the result", c.source(call.Fun), x)
		if o, _, _ := types.LookupFieldOrMethod(recv.Type(), false, f.Pkg(), f.Name()+"InPlace"); o != nil {
			hint += fmt.Sprintf(", or write %s.%sInPlace(…) to change %[1]s", x, f.Name())
		}
		r.remark(c, st, "unused", "%s", hint)
	}
}

// loop finds a for that never runs.
func (r *remarker) loop(c *checked, f *ast.ForStmt) {
	if f.Cond == nil {
		return
	}
	if v := c.info.Types[f.Cond].Value; v != nil {
		if v.Kind() == constant.Bool && !constant.BoolVal(v) {
			r.remark(c, f, "loop", "this loop never runs: %s is false", c.source(f.Cond))
		}
		return
	}
	init, ok := f.Init.(*ast.AssignStmt)
	post, counts := f.Post.(*ast.IncDecStmt)
	cond, compares := f.Cond.(*ast.BinaryExpr)
	if !ok || !counts || !compares || len(init.Lhs) != 1 || len(init.Rhs) != 1 || c.info.TypeOf(init.Rhs[0]) == nil {
		return
	}
	i := c.source(init.Lhs[0])
	if c.source(post.X) != i || c.source(cond.X) != i {
		return
	}
	a, b := c.info.Types[init.Rhs[0]].Value, c.info.Types[cond.Y].Value
	up := post.Tok == token.INC
	switch op := cond.Op; {
	case op != token.LSS && op != token.LEQ && op != token.GTR && op != token.GEQ:
	case a != nil && b != nil && !constant.Compare(a, op, b):
		r.remark(c, f, "loop", "this loop never runs: %s begins at %s, and %s is false", i, c.source(init.Rhs[0]), c.source(cond))
	case (op == token.GTR || op == token.GEQ) == up: // it begins where it should end
		turned := map[token.Token]string{token.LSS: ">", token.LEQ: ">=", token.GTR: "<", token.GEQ: "<="}[op]
		r.remark(c, f, "loop", "this loop never runs, or has no end: it counts with %s, and goes on as long as %s; write %s %s %s", c.source(post), c.source(cond), i, turned, c.source(cond.Y))
	}
}
