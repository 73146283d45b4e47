package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"strings"
)

// A function value is a code pointer and the variables that it captures. Another program has its code elsewhere, and
// what a closure holds has no type that reflection could see. So a literal that may be stored moves to the package
// level, into a function that makes it:
//
//	func lecternLit_3_1(lecternc *struct{ n *int }) func() int { return func() int { (*lecternc.n)++; … } }
//
// The closure captures one pointer, to a struct of pointers to the user's variables. Package persist knows it by its
// code pointer, keeps the struct like any other value, and makes the closure again by calling the function. A method
// value and an instance of a generic function become such literals, too. In a generic function the maker is generic,
// and the struct begins with a word that says for which types it is: see persist.Maker.

// A literal is a function literal, a method value, a method expression or an instance of a generic function that moves.
type literal struct {
	id       string
	x        ast.Expr // *ast.FuncLit, or what names a function
	c        *checked
	params   []*types.TypeParam // of the function that it is in
	parent   *literal           // the one around it that moves, too
	lo, hi   int                // in the cell
	captures []capture
	children []*literal
	fails    bool // it must stay where it is
	idle     bool // it is in a declaration that this cell does not reach
}

// A capture is a variable of the surrounding function.
type capture struct {
	o     types.Object // nil for the receiver of a method value
	field string       // that holds it
	typ   string       // of the field
	op    string       // &, * or a function, before the receiver
	path  string       // from there to what the method is called on: .A.B
}

const (
	captured = ownPrefix + "c" // the parameter of the function that makes a closure
	makerOf  = ownPrefix + "m" // the field that says for which types
)

// A mover moves the literals of a cell.
type mover struct {
	*work
	literals []*literal // that move
}

// moveLiterals finds the literals below a node that move, and edits the places where they stood.
func (m *mover) moveLiterals(c *checked, root ast.Node) {
	if m.s.unkeptLiterals || m.s.alone {
		return
	}
	calledOnly := m.calledOnly(c, root)
	params := typeParams(c, root)
	var stack []ast.Node
	var around []*literal
	var found []*literal
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if len(around) > 0 && around[len(around)-1].x == top {
				around = around[:len(around)-1]
			}
			return true
		}
		x, ok := n.(ast.Expr)
		if ok && m.mine(c, n) {
			switch e := x.(type) {
			case *ast.FuncLit:
				ok = true
			case *ast.SelectorExpr:
				s := c.info.Selections[e]
				ok = s != nil && s.Kind() != types.FieldVal || c.instance(e) != nil
			default:
				ok = c.instance(e) != nil
			}
			if ok && len(stack) > 0 && c.instance(x) != nil && c.instance(stack[len(stack)-1]) != nil {
				ok = false // F in F[int]
			}
			if ok && stored(c, stack, x, calledOnly) {
				l := &literal{x: x, c: c, params: params, lo: m.at(c, x.Pos()), hi: m.end(c, x.End())}
				if len(around) > 0 {
					l.parent = around[len(around)-1]
				}
				found = append(found, l)
				if _, isFunc := x.(*ast.FuncLit); isFunc {
					around = append(around, l)
				}
			}
		}
		stack = append(stack, n)
		return true
	})
	for _, l := range found {
		m.capture(l)
	}
	for _, l := range found {
		for l.parent != nil && l.parent.fails {
			l.parent = l.parent.parent
		}
		if l.fails {
			continue
		}
		l.id = fmt.Sprintf("%d_%d", m.src.Cell, len(m.literals)+1)
		m.literals = append(m.literals, l)
		if l.parent != nil {
			l.parent.children = append(l.parent.children, l)
		}
	}
	moved := map[ast.Node]bool{}
	for _, l := range found {
		moved[l.x] = !l.fails
	}
	for _, l := range found {
		if f, ok := l.x.(*ast.FuncLit); ok && !l.fails {
			m.editCaptures(l, f, moved)
		}
	}
}

// typeParams are the type parameters of a declaration, or of its receiver. It has none if one has no name.
func typeParams(c *checked, root ast.Node) (list []*types.TypeParam) {
	fd, ok := root.(*ast.FuncDecl)
	if !ok {
		return nil
	}
	f, ok := c.info.Defs[fd.Name].(*types.Func)
	if !ok {
		return nil
	}
	for _, ps := range []*types.TypeParamList{f.Signature().TypeParams(), f.Signature().RecvTypeParams()} {
		for i := range ps.Len() {
			if ps.At(i).Obj().Name() == "_" {
				return nil
			}
			list = append(list, ps.At(i))
		}
	}
	return list
}

// named returns the identifier in an expression that names a function: f, p.f, or either with type arguments; or nil.
func named(n ast.Node) *ast.Ident {
	if x, ok := n.(ast.Expr); ok {
		n = ast.Unparen(x)
	}
	switch x := n.(type) {
	case *ast.IndexExpr:
		n = x.X
	case *ast.IndexListExpr:
		n = x.X
	}
	switch x := n.(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	}
	return nil
}

// instance returns the identifier of the generic function of which an expression is an instance, or nil.
func (c *checked) instance(n ast.Node) *ast.Ident {
	if _, paren := n.(*ast.ParenExpr); paren { // what is in it is one
		return nil
	}
	id := named(n)
	if id == nil || c.info.Instances[id].TypeArgs == nil {
		return nil
	}
	if _, ok := c.info.Uses[id].(*types.Func); !ok {
		return nil
	}
	return id
}

// storing are the packages that keep functions they are given: hooks, recomputed modules, derivatives; handlers, and
// what a flag calls.
var storing = map[string]bool{libraryPrefix + "tensor": true, libraryPrefix + "nn": true, widgetPath: true, "net/http": true, "flag": true}

// stored reports whether a function value, by its place, may end up in a variable. One that is called
// on the spot, or passed to a function of another package, stays as it is: code that is measured should be the user's.
func stored(c *checked, stack []ast.Node, x ast.Expr, calledOnly map[types.Object]bool) bool {
	child := ast.Node(x)
	for i := len(stack) - 1; i >= 0; i-- {
		switch p := stack[i].(type) {
		case *ast.ParenExpr:
		case *ast.KeyValueExpr:
			if p.Value != child {
				return false
			}
		case *ast.CompositeLit, *ast.ReturnStmt, *ast.SendStmt:
			return true
		case *ast.ValueSpec:
			for j, v := range p.Values {
				if v == child && j < len(p.Names) {
					return !calledOnly[c.info.Defs[p.Names[j]]]
				}
			}
			return true
		case *ast.AssignStmt:
			for j, v := range p.Rhs {
				if v != child || len(p.Lhs) != len(p.Rhs) {
					continue
				}
				if id, ok := p.Lhs[j].(*ast.Ident); ok {
					o := c.info.Defs[id]
					if o == nil {
						o = c.info.Uses[id]
					}
					return o == nil || !calledOnly[o]
				}
				return true
			}
			return false
		case *ast.CallExpr:
			if ast.Unparen(p.Fun) == x || p.Fun == child {
				return false
			}
			if tv := c.info.Types[p.Fun]; tv.IsType() || tv.IsBuiltin() {
				return true
			}
			id := named(p.Fun)
			if id == nil {
				return true
			}
			o := c.info.Uses[id]
			_, isFunc := o.(*types.Func)
			return !isFunc || o.Pkg() == c.pkg || o.Pkg() != nil && storing[o.Pkg().Path()]
		default:
			return false
		}
		child = stack[i]
	}
	return false
}

// calledOnly finds the variables of functions that are only ever called: what they hold goes nowhere. A cell's own
// variables live on.
func (m *mover) calledOnly(c *checked, root ast.Node) map[types.Object]bool {
	only := map[types.Object]bool{}
	callee := map[*ast.Ident]bool{}
	returned := map[types.Object]bool{}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
				callee[id] = true
			}
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok {
					callee[id] = true
				}
			}
		case *ast.FuncType: // what a function returns goes somewhere
			if n.Results != nil {
				for _, f := range n.Results.List {
					for _, id := range f.Names {
						returned[c.info.Defs[id]] = true
					}
				}
			}
		case *ast.Ident:
			if o, ok := c.info.Defs[n].(*types.Var); ok && !o.IsField() && o.Parent() != c.pkg.Scope() && m.global[o] == "" {
				only[o] = true
			}
		}
		return true
	})
	ast.Inspect(root, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !callee[id] {
			delete(only, c.info.Uses[id])
		}
		return true
	})
	for o := range returned {
		delete(only, o)
	}
	return only
}

// capture finds the variables that a literal captures, or that it can't move.
func (m *mover) capture(l *literal) {
	if id := l.c.instance(l.x); id != nil {
		_, ok := m.instanceText(l.c, id)
		l.fails = !ok
		return
	}
	if s, ok := l.x.(*ast.SelectorExpr); ok {
		m.captureReceiver(l, s)
		return
	}
	lit := l.x.(*ast.FuncLit)
	if _, ok := m.writeType(l.c.info.TypeOf(lit)); !ok {
		l.fails = true
		return
	}
	seen := map[types.Object]bool{}
	ast.Inspect(lit, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || l.fails {
			return !l.fails
		}
		o := l.c.info.Uses[id]
		if o == nil || o.Pkg() != l.c.pkg || o.Parent() == l.c.pkg.Scope() || o.Pos() >= lit.Pos() && o.Pos() < lit.End() {
			return true
		}
		switch o := o.(type) {
		case *types.Var:
			if o.IsField() || m.global[o] != "" || seen[o] {
				return true
			}
			seen[o] = true
			t, ok := m.writeType(o.Type())
			if !ok {
				l.fails = true
			}
			field := o.Name()
			for _, c := range l.captures {
				if c.field == field { // another variable of the same name
					field = fmt.Sprint(o.Name(), "_", len(l.captures))
				}
			}
			l.captures = append(l.captures, capture{o: o, field: field, typ: "*" + t})
		case *types.TypeName:
			_, param := o.Type().(*types.TypeParam)
			l.fails = l.fails || !param || len(l.params) == 0
		case *types.Const: // of the surrounding function
			l.fails = true
		}
		return true
	})
}

// instanceText writes an instance of a generic function with its type arguments.
func (m *mover) instanceText(c *checked, id *ast.Ident) (text string, ok bool) {
	f := c.info.Uses[id].(*types.Func)
	text = f.Name()
	switch {
	case f.Pkg() == c.pkg:
	case !f.Exported():
		return "", false
	default:
		text = m.n.alias(f.Pkg().Path(), f.Pkg().Name()) + "." + text
	}
	var args []string
	for t := range c.info.Instances[id].TypeArgs.Types() {
		arg, ok := m.writeType(t)
		if !ok {
			return "", false
		}
		args = append(args, arg)
	}
	_, ok = m.writeType(c.info.Instances[id].Type)
	return text + "[" + strings.Join(args, ", ") + "]", ok
}

// captureReceiver prepares a method value: its closure holds the receiver.
func (m *mover) captureReceiver(l *literal, s *ast.SelectorExpr) {
	sel := l.c.info.Selections[s]
	f := sel.Obj().(*types.Func)
	if sel.Kind() == types.MethodExpr { // T.M, which has no receiver yet
		_, l.fails = m.writeType(l.c.info.TypeOf(s))
		l.fails = !l.fails || f.Pkg() != nil && f.Pkg() != l.c.pkg && !f.Exported()
		return
	}
	l.fails = true
	if f.Pkg() != nil && f.Pkg() != l.c.pkg && !f.Exported() {
		return
	}
	recv, path, ok := l.c.receiver(sel)
	if !ok {
		return
	}
	_, fromPointer := types.Unalias(recv).(*types.Pointer)
	_, toPointer := types.Unalias(f.Signature().Recv().Type()).(*types.Pointer)
	hold, op := recv, ""
	switch {
	case types.IsInterface(recv) || fromPointer == toPointer:
	case toPointer: // x.M means (&x).M
		hold, op = types.NewPointer(recv), "&"
	default: // p.M means (*p).M
		hold, op = types.Unalias(recv).(*types.Pointer).Elem(), "*"
	}
	t, ok := m.writeType(hold)
	if _, ok2 := m.writeType(l.c.info.TypeOf(s)); !ok || !ok2 {
		return
	}
	if _, param := recv.(*types.TypeParam); !param && types.IsInterface(recv) { // nil panics here, and not in the call
		op = "(func(r " + t + ") " + t + " { _ = r." + f.Name() + "; return r })"
	}
	l.fails = false
	l.captures = []capture{{nil, "receiver", t, op, path}}
}

// receiver is the type of what a method value holds, and the embedded fields that lead there: what x.M means by x is
// found when the value is made, and not when it is called, so b.Inc is b.A.Inc, with the A that b has by then. A field
// that can't be named here stays part of the receiver, if the way leads through no pointer or interface.
func (c *checked) receiver(sel *types.Selection) (recv types.Type, path string, ok bool) {
	recv = sel.Recv()
	nameable, inside := true, true // and inside what sel.Recv is or points at
	for _, i := range sel.Index()[:len(sel.Index())-1] {
		t := recv.Underlying()
		if p, isPointer := t.(*types.Pointer); isPointer {
			t = p.Elem().Underlying()
		}
		field := t.(*types.Struct).Field(i)
		recv, path = field.Type(), path+"."+field.Name()
		nameable = nameable && (field.Exported() || field.Pkg() == c.pkg)
		_, isPointer := types.Unalias(recv).(*types.Pointer)
		inside = inside && !isPointer && !types.IsInterface(recv)
	}
	if !nameable {
		return sel.Recv(), "", inside
	}
	return recv, path, true
}

// editCaptures lets the uses of a literal's captured variables go by its struct.
func (m *mover) editCaptures(l *literal, lit *ast.FuncLit, moved map[ast.Node]bool) {
	index := map[types.Object]int{}
	for i, c := range l.captures {
		index[c.o] = i
	}
	ast.Inspect(lit, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok && f != lit && moved[f] { // which has its own struct
			return false
		}
		if id, ok := n.(*ast.Ident); ok {
			if i, ok := index[l.c.info.Uses[id]]; ok && l.c.info.Uses[id] != nil {
				m.replace(l.c, id.Pos(), id.End(), fmt.Sprintf("(*%s.%s)", captured, l.captures[i].field))
			}
		}
		return true
	})
}

// site is the call that replaces the literal.
func (m *mover) site(l *literal) string {
	if len(l.captures) == 0 && len(l.params) == 0 {
		return literalName + l.id + "()"
	}
	var fields []string
	name := literalName + l.id
	if len(l.params) > 0 {
		var args []string
		for _, p := range l.params {
			args = append(args, p.Obj().Name())
		}
		list := strings.Join(args, ", ")
		name += "[" + list + "]"
		fields = append(fields, fmt.Sprintf("%s.Maker{%s, (func(%s))(nil)}", persistName, name, list))
	}
	for _, c := range l.captures {
		fields = append(fields, m.address(l, c))
	}
	return name + "(&" + l.structType() + "{" + strings.Join(fields, ", ") + "})"
}

// address writes what a field of the struct is set to.
func (m *mover) address(l *literal, c capture) string {
	if c.o != nil {
		if l.parent != nil {
			for _, p := range l.parent.captures {
				if p.o == c.o {
					return captured + "." + p.field
				}
			}
		}
		return "&" + c.o.Name()
	}
	s := l.x.(*ast.SelectorExpr)
	t := &Text{}
	m.render(t, l, m.at(l.c, s.X.Pos()), m.end(l.c, s.X.End()))
	if c.path != "" {
		return c.op + "((" + t.String() + ")" + c.path + ")"
	}
	return c.op + "(" + t.String() + ")"
}

func (l *literal) structType() string {
	var b strings.Builder
	b.WriteString("struct{ ")
	if len(l.params) > 0 {
		fmt.Fprintf(&b, "%s %s.Maker; ", makerOf, persistName)
	}
	for _, c := range l.captures {
		fmt.Fprintf(&b, "%s %s; ", c.field, c.typ)
	}
	b.WriteString("}")
	return b.String()
}

// render writes the bytes [lo, hi) of the cell as they are in the program, inside a literal that moves or outside of
// all if it is nil.
func (m *mover) render(t *Text, inside *literal, lo, hi int) {
	m.editsWithin(inside, lo, hi).apply(t, m.src, lo, hi)
}

// editsWithin are the edits of the bytes [lo, hi), in which the literals that move out of there are calls.
func (m *mover) editsWithin(inside *literal, lo, hi int) edits {
	es := m.edits.within(lo, hi)
	for _, l := range m.literals {
		if l.lo >= lo && l.hi <= hi && l != inside && l.parent == parentOf(inside) {
			es.replace(l.lo, l.hi, m.site(l))
		}
	}
	return es
}

// parentOf says whose children are in the text of l: its own if it is a function literal; the receiver of a method
// value lies in the value around it.
func parentOf(l *literal) *literal {
	if l == nil {
		return nil
	}
	if _, ok := l.x.(*ast.FuncLit); ok {
		return l
	}
	return l.parent
}

// maker is the function that makes a literal.
func (m *mover) maker(l *literal) *decl {
	name := literalName + l.id
	typ, _ := m.writeType(l.c.info.TypeOf(l.x))
	t := &Text{}
	t.Inject("//go:noinline\nfunc ", name)
	for i, p := range l.params {
		t.Inject([]string{"[", ", "}[min(i, 1)], p.Obj().Name(), " ", types.TypeString(p.Constraint(), m.qualify))
	}
	if len(l.params) > 0 {
		t.Inject("]")
	}
	t.Inject("(")
	if len(l.captures)+len(l.params) > 0 {
		t.Inject(captured, " *", l.structType())
	}
	t.Inject(") ", typ, " { return ")
	if id := l.c.instance(l.x); id != nil {
		callee, _ := m.instanceText(l.c, id)
		t.Inject(m.forward(l, callee))
	} else {
		m.makerBody(t, l)
	}
	t.Inject(" }\n")
	d := &decl{key: name, names: []string{name}, tok: token.FUNC, src: m.src, lo: l.lo, hi: l.hi, text: t, generic: len(l.params) > 0, order: m.src.Cell<<20 + l.lo,
		meaning: meaning(m.src.Code[l.lo:l.hi])}
	d.funcs, d.shared, d.effects = m.mentioned(l.c, l.x), pointedInto(l.c, l.x), l.c.effects(l.x)
	return d
}

// makerBody writes the closure of a function literal or a method value.
func (m *mover) makerBody(t *Text, l *literal) {
	switch x := l.x.(type) {
	case *ast.FuncLit:
		inner := m.editsWithin(l, l.lo, l.hi)
		for i := len(inner) - 1; i >= 0; i-- { // what stands right before and after the literal is not part of it
			if e := inner[i]; e.lo == e.hi && (e.lo == l.lo || e.lo == l.hi) {
				inner = append(inner[:i], inner[i+1:]...)
			}
		}
		for _, u := range m.packageUses(l.c, x) { // whatever becomes of the names in later cells
			inner.replace(u.lo, u.hi, m.n.alias(u.path, u.name))
		}
		if len(l.params) > 0 { // even if it captures nothing else
			inner.insert(m.at(l.c, x.Body.Lbrace+1), " _ = "+captured+"; ")
		}
		inner.apply(t, m.src, l.lo, l.hi)
	case *ast.SelectorExpr:
		if sel := l.c.info.Selections[x]; sel.Kind() == types.MethodExpr {
			recv, _ := m.writeType(sel.Recv())
			t.Inject(m.forward(l, "("+recv+")."+x.Sel.Name))
		} else {
			t.Inject(m.forward(l, captured+".receiver."+x.Sel.Name))
		}
	}
}

// forward writes a function that calls another one of the same type.
func (m *mover) forward(l *literal, callee string) string {
	sig := l.c.info.TypeOf(l.x).Underlying().(*types.Signature)
	var params, args []string
	for i := range sig.Params().Len() {
		t, _ := m.writeType(sig.Params().At(i).Type())
		arg := fmt.Sprint("p", i)
		if sig.Variadic() && i == sig.Params().Len()-1 {
			t = "..." + strings.TrimPrefix(t, "[]")
			args = append(args, arg+"...")
		} else {
			args = append(args, arg)
		}
		params = append(params, arg+" "+t)
	}
	results, _ := m.writeType(types.NewSignatureType(nil, nil, nil, nil, sig.Results(), false))
	results = strings.TrimPrefix(results, "func()")
	call := callee + "(" + strings.Join(args, ", ") + ")"
	if sig.Results().Len() > 0 {
		call = "return " + call
	}
	if len(l.params) > 0 {
		call = "_ = " + captured + "; " + call
	}
	return "func(" + strings.Join(params, ", ") + ")" + results + " { " + call + " }"
}

// packageUses lists the places below a node that name a package, in the cell's text.
func (m *mover) packageUses(c *checked, root ast.Node) (uses []use) {
	ast.Inspect(root, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !m.dropped[id] {
			if p, ok := c.info.Uses[id].(*types.PkgName); ok {
				if src, lo, exact := c.user(id.Pos()); exact && src == m.src && src.Code[lo:min(len(src.Code), lo+len(id.Name))] == id.Name {
					uses = append(uses, use{id.Name, p.Imported().Path(), lo, lo + len(id.Name)})
				}
			}
		}
		return true
	})
	sort.Slice(uses, func(i, j int) bool { return uses[i].lo < uses[j].lo })
	return uses
}

// mentioned finds the functions that code mentions without calling them: by identity, how a program writes them.
func (m *mover) mentioned(c *checked, root ast.Node) map[string]string {
	called := map[*ast.Ident]bool{}
	funcs := map[string]string{}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			called[named(n.Fun)] = true
		case *ast.IndexExpr, *ast.IndexListExpr: // a generic function has its code and a dictionary
			called[named(n)] = true
		case *ast.Ident:
			f, ok := c.info.Uses[n].(*types.Func)
			if !ok || called[n] || f.Pkg() == nil || f.Signature().Recv() != nil || f.Signature().TypeParams().Len() > 0 {
				return true
			}
			if f.Pkg() == c.pkg {
				if name := programName(f); !strings.HasPrefix(name, literalName) {
					funcs["main."+name] = name
				}
			} else if f.Exported() {
				funcs[f.Pkg().Path()+"."+f.Name()] = m.n.alias(f.Pkg().Path(), f.Pkg().Name()) + "." + f.Name()
			}
		}
		return true
	})
	if len(funcs) == 0 {
		return nil
	}
	return funcs
}
