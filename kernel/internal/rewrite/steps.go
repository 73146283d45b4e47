package rewrite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// A cell whose steps are recorded calls package show after each statement, with the variables that it set. The calls
// have a number, their site. So that a cell runs at full speed once enough is recorded, each function and each loop
// body is written twice, with the calls and without:
//
//	for i := range n {
//		if lecternshow.Stepping(3) { lecternshow.Step(4, "vi", i); s += i; lecternshow.Step(5, "gs", &s) } else { s += i }
//	}
//
// A loop that could spend much of its time on that question ends instead, and a plain loop continues from there:
//
//	for i := range n {
//		if !lecternshow.Stepping(3) { for k := i; k < n; k++ { i := k; { s += i } }; break }
//		lecternshow.Step(…); …
//	}
//
// Code with labels can't be written twice; then each call is guarded. Each function that the cell declares is written
// twice, too. The plain copies call its plain version, which records nothing, so that small functions are still
// inlined. The same goes for a closure in a variable that is only ever called:
//
//	add := func(a, b int) int { … }; lecternPlain_add := func(a, b int) int { return a + b }

// A Site is a place of a cell at which a step is recorded.
type Site struct {
	Line  int
	Loop  int    // the innermost loop around it, as an index into Loops plus one; 0 for none
	Head  bool   // an iteration of that loop begins here
	Func  string // the function that begins here
	In    int    // the function that it is in, by the order of their beginnings; 0 for the cell itself
	Scope int    // the innermost block around it, as an index into Scopes plus one; 0 for the cell itself
}

// A Loop is one of a cell's loops.
type Loop struct {
	Line   int
	Parent int // the loop around it in the same function, as in Site
}

// A tracing lets a cell record its steps.
type tracing struct {
	*assembly
	base      edits // those that are in both copies of a piece of code
	scopes    map[*types.Scope]int
	functions int
	ranges    int             // variables for what loops range over
	pointed   map[string]bool // the cell's own variables whose address is taken, or that closures set
	doors     map[string]bool // those of earlier cells that another one may point to
	closures  map[types.Object]*closure
}

// A tracer edits the statements of one checked program.
type tracer struct {
	*tracing
	c         *checked
	function  ast.Node
	results   *types.Signature // of the function, if what it returns can be recorded
	number    int              // of the function, as in Site
	loop      int
	guarded   bool                  // the code may run when nothing is recorded
	addressed map[types.Object]bool // variables whose address is taken, or that a closure sets
	top       *types.Scope          // that of the cell's own statements
}

// A closure is what a variable holds that is set once, by a function literal, and only called then.
type closure struct {
	st    *ast.AssignStmt // that sets it
	calls edits           // of its plain version, in plain copies where that is declared
	own   bool            // the variable is the cell's own, and its plain version one of the function that runs it
}

// stepped reports whether the steps of the cell are wanted.
func (w *work) stepped() bool {
	return !w.s.noSteps && !w.s.alone && (w.s.steps || strings.HasPrefix(strings.TrimSpace(w.src.Code), "//step")) && !w.r.Wasm && !w.tests
}

// traceSteps lets a cell record its statements, those of the functions that it declares among them. All other edits
// have been made. It returns the call that begins to record.
func (a *assembly) traceSteps() string {
	s := &tracing{assembly: a, base: slices.Clone(a.edits), scopes: map[*types.Scope]int{}, pointed: map[string]bool{}, doors: a.findDoors(), closures: a.findClosures()}
	recorded := a.recordedFunctions()
	s.base = append(s.base, s.callPlain(recorded)...)
	note := func(c *checked, found map[types.Object]bool) {
		for o := range found {
			if o != nil && (c == a.user && a.global[o] != "" || o.Parent() == c.pkg.Scope()) {
				s.pointed[o.Name()] = true
			}
		}
	}
	note(a.user, addressed(a.user, a.body))
	eachFunction := func(f func(fd *ast.FuncDecl)) {
		a.eachDecl(a.final, func(_ *decl, n ast.Node) {
			if fd, ok := n.(*ast.FuncDecl); ok && fd.Body != nil {
				f(fd)
			}
		})
	}
	eachFunction(func(fd *ast.FuncDecl) { note(a.final, addressed(a.final, fd.Body.List)) })
	t := s.tracer(a.user, a.body)
	t.guarded = slices.ContainsFunc(a.body, func(st ast.Stmt) bool { return !twice(st) })
	t.block(a.body)
	eachFunction(func(fd *ast.FuncDecl) {
		t := s.tracer(a.final, fd.Body.List)
		f := a.final.info.Defs[fd.Name].(*types.Func)
		if recorded[functionKey(f)] {
			t.plainFunction(fd)
		}
		t.called(strings.Replace(fd.Name.Name, mainName, "main", 1), fd, fd.Recv, fd.Type, f.Signature(), fd.Body)
	})
	return a.beginSteps()
}

// tracer begins to edit statements of a program.
func (s *tracing) tracer(c *checked, list []ast.Stmt) *tracer {
	t := &tracer{tracing: s, c: c, addressed: addressed(c, list)}
	if c.main != nil {
		t.top = c.pkg.Scope().Innermost(c.main.Body.Lbrace)
	}
	return t
}

// PlainName begins the names of functions that are copies of the cell's.
const PlainName = ownPrefix + "Plain_"

// functionKey tells the functions and methods of a program apart; "" is one without a plain version.
func functionKey(f *types.Func) string {
	if f.Signature().Recv() == nil {
		return f.Name()
	}
	if n := receiverNamed(f.Origin()); n != nil && !types.IsInterface(n) {
		return n.Obj().Name() + "." + f.Name()
	}
	return ""
}

// recordedFunctions finds the functions that the cell declares and may call.
func (a *assembly) recordedFunctions() map[string]bool {
	found := map[string]bool{}
	a.eachDecl(a.final, func(d *decl, n ast.Node) {
		fd, ok := n.(*ast.FuncDecl)
		if !ok || fd.Body == nil || d == a.main || isInit(d) || fd.Name.Name == "_" {
			return
		}
		if f, ok := a.final.info.Defs[fd.Name].(*types.Func); ok {
			found[functionKey(f)] = true
		}
	})
	delete(found, "")
	return found
}

// findClosures finds the closures of the cell that have a plain version, by their variables.
func (a *assembly) findClosures() map[types.Object]*closure {
	found := map[types.Object]*closure{}
	own := map[string]types.Object{}
	look := func(c *checked, list []ast.Stmt) {
		for _, st := range list {
			set, ok := st.(*ast.AssignStmt)
			if !ok || set.Tok != token.DEFINE || len(set.Lhs) != 1 || !a.mine(c, set) {
				continue
			}
			id, o := set.Lhs[0].(*ast.Ident), c.info.Defs[set.Lhs[0].(*ast.Ident)]
			lit, ok := set.Rhs[0].(*ast.FuncLit)
			if !ok || o == nil || id.Name == "_" || !twice(lit.Body) || slices.ContainsFunc(a.literals, func(l *literal) bool {
				return l.x == lit && len(l.captures)+len(l.params) > 0 // it finds what it has captured in a struct
			}) {
				continue
			}
			found[o] = &closure{st: set, own: a.global[o] != ""}
			if found[o].own {
				own[id.Name] = o
			}
		}
	}
	look(a.user, a.body)
	a.eachPart(func(c *checked, root ast.Node) {
		ast.Inspect(root, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				look(c, n.List)
			case *ast.CaseClause:
				look(c, n.Body)
			case *ast.CommClause:
				look(c, n.Body)
			}
			return true
		})
	})
	called := map[*ast.Ident]bool{}
	a.eachPart(func(c *checked, root ast.Node) {
		ast.Inspect(root, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok {
					called[id] = true
				}
			case *ast.Ident:
				if !called[n] { // it is set again, or goes somewhere
					delete(found, c.info.Uses[n])
				}
			}
			return true
		})
	})
	for i := range a.g.reached { // functions may set the cell's own, under their name
		for _, n := range a.g.nodes[i] {
			ast.Inspect(n, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					delete(found, own[id.Name])
				}
				return true
			})
		}
	}
	return found
}

// callPlain are the edits by which plain copies call the plain versions of the recorded functions.
func (s *tracing) callPlain(recorded map[string]bool) (calls edits) {
	s.eachPart(func(c *checked, root ast.Node) {
		ast.Inspect(root, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fun := ast.Unparen(call.Fun)
			switch x := fun.(type) {
			case *ast.IndexExpr:
				fun = x.X
			case *ast.IndexListExpr:
				fun = x.X
			}
			id, ok := fun.(*ast.Ident)
			if sel, is := fun.(*ast.SelectorExpr); is {
				if s := c.info.Selections[sel]; s == nil || s.Kind() != types.MethodVal || types.IsInterface(s.Recv()) {
					return true
				}
				id, ok = sel.Sel, true
			}
			if !ok || !s.mine(c, id) {
				return true
			}
			lo, hi := s.at(c, id.Pos()), s.end(c, id.End())
			if slices.ContainsFunc(s.base, func(e edit) bool { return e.lo < hi && e.hi > lo }) {
				return true
			}
			if closure := s.closures[c.info.Uses[id]]; closure != nil {
				closure.calls.replace(lo, hi, PlainName+id.Name)
			} else if f, ok := c.info.Uses[id].(*types.Func); ok && f.Pkg() == c.pkg && recorded[functionKey(f)] {
				calls.replace(lo, hi, PlainName+id.Name)
			}
			return true
		})
	})
	return calls
}

// plainFunction writes the plain version of a function after it.
func (t *tracer) plainFunction(fd *ast.FuncDecl) {
	lo, hi := t.at(t.c, fd.Pos()), t.at(t.c, fd.Body.Lbrace)+1
	es := t.base.within(lo, hi)
	es.replace(t.at(t.c, fd.Name.Pos()), t.end(t.c, fd.Name.End()), PlainName+fd.Name.Name)
	head := &Text{}
	head.Inject("\n")
	es.apply(head, t.src, lo, hi)
	t.edits.insert(t.end(t.c, fd.End()), head.Source()+t.plain(fd.Body, true)+"}\n")
}

// plainClosure writes the plain version of a closure after the statement that makes it.
func (t *tracer) plainClosure(st *ast.AssignStmt) {
	for _, c := range t.closures {
		if c.st == st && len(c.calls) > 0 {
			lit, name := st.Rhs[0].(*ast.FuncLit), PlainName+st.Lhs[0].(*ast.Ident).Name
			t.after(t.c, st, fmt.Sprintf("; %s := %s {%s}; _ = %s", name, t.text(lit.Type), t.plain(lit.Body, true), name))
		}
	}
}

// beginSteps is the call that begins to record, with the variables of earlier cells.
func (a *assembly) beginSteps() string {
	var b strings.Builder
	var sites, scopes []string
	for _, s := range a.r.Sites {
		sites = append(sites, fmt.Sprintf("%d %d", s.In, s.Scope))
	}
	for _, around := range a.r.Scopes {
		scopes = append(scopes, strconv.Itoa(around))
	}
	fmt.Fprintf(&b, "\n%s.BeginSteps(%d, %v, %q", showName, a.src.Cell, a.r.effects.goroutines, strings.Join(sites, ",")+";"+strings.Join(scopes, ","))
	for _, name := range a.r.Restores {
		if v := a.n.vars[name]; a.old[name] == "" {
			fmt.Fprintf(&b, ", %q, &%s", "g"+name, v.source(name))
		}
	}
	return b.String() + ")"
}

// findDoors finds the variables of earlier cells that may change through another one of those: by a pointer, or by a
// function that has captured it.
func (a *assembly) findDoors() map[string]bool {
	found := map[string]bool{}
	var doors []types.Type
	for _, name := range a.r.Restores {
		if o := a.user.pkg.Scope().Lookup(name); o != nil && o.Type() != nil {
			doors = append(doors, o.Type())
		}
	}
	for _, name := range a.r.Restores {
		o := a.user.pkg.Scope().Lookup(name)
		if o == nil || o.Type() == nil {
			continue
		}
		found[name] = slices.ContainsFunc(doors, func(t types.Type) bool { return opens(t, o.Type(), map[types.Type]bool{}) })
	}
	return found
}

// opens reports whether a value of type t may lead to a variable of type to, or run code that does.
func opens(t, to types.Type, seen map[types.Type]bool) bool {
	if n, ok := types.Unalias(t).(*types.Named); seen[t] || ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() != "main" {
		return false
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return types.Identical(u.Elem(), to) || opens(u.Elem(), to, seen)
	case *types.Slice:
		return opens(u.Elem(), to, seen)
	case *types.Array:
		return opens(u.Elem(), to, seen)
	case *types.Map:
		return opens(u.Key(), to, seen) || opens(u.Elem(), to, seen)
	case *types.Struct:
		for f := range u.Fields() {
			if opens(f.Type(), to, seen) {
				return true
			}
		}
	case *types.Signature, *types.Interface:
		return true
	}
	return false
}

// addressed finds the local variables whose address is taken, or that a closure may set.
func addressed(c *checked, list []ast.Stmt) map[types.Object]bool {
	found := map[types.Object]bool{}
	note := func(e ast.Expr) {
		if id := root(c, e); id != nil {
			found[c.info.Uses[id]] = true
		}
	}
	var literals []*ast.FuncLit
	for _, st := range list {
		ast.Inspect(st, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				literals = append(literals, n)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					note(n.X)
				}
			case *ast.SliceExpr:
				if _, array := c.info.TypeOf(n.X).Underlying().(*types.Array); array {
					note(n.X)
				}
			case *ast.SelectorExpr:
				s := c.info.Selections[n]
				if s == nil || s.Kind() != types.MethodVal {
					break
				}
				if recv := s.Obj().(*types.Func).Signature().Recv(); recv != nil {
					_, byPointer := recv.Type().(*types.Pointer)
					if _, isPointer := c.info.TypeOf(n.X).Underlying().(*types.Pointer); byPointer && !isPointer {
						note(n.X)
					}
				}
			}
			return true
		})
	}
	for _, lit := range literals {
		set := func(e ast.Expr) {
			if id := root(c, e); id != nil {
				if o := c.info.Uses[id]; o != nil && (o.Pos() < lit.Pos() || o.Pos() >= lit.End()) {
					found[o] = true
				}
			}
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, l := range n.Lhs {
					set(l)
				}
			case *ast.IncDecStmt:
				set(n.X)
			case *ast.RangeStmt:
				if n.Tok == token.ASSIGN {
					set(n.Key)
					set(n.Value)
				}
			}
			return true
		})
	}
	return found
}

// root is the variable that an expression on the left of an assignment begins with, or nil.
func root(c *checked, e ast.Expr) *ast.Ident {
	for e != nil {
		switch x := e.(type) {
		case *ast.Ident:
			o := c.info.Defs[x]
			if o == nil {
				o = c.info.Uses[x]
			}
			if v, ok := o.(*types.Var); ok && !v.IsField() && x.Name != "_" {
				return x
			}
			return nil
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return nil
		}
	}
	return nil
}

// twice reports whether code can occur in a function a second time: a label can't, and a type would be another one.
func twice(n ast.Node) (yes bool) {
	yes = true
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit: // which has its own labels
			return false
		case *ast.LabeledStmt:
			yes = false
		case *ast.DeclStmt:
			yes = yes && n.Decl.(*ast.GenDecl).Tok != token.TYPE
		}
		return yes
	})
	return yes
}

// scope numbers a block; those around the cell's own statements are 0.
func (t *tracer) scope(s *types.Scope) int {
	c := t.c
	if s == nil || s == types.Universe || s == c.pkg.Scope() || s.Parent() == c.pkg.Scope() || s == t.top {
		return 0
	}
	n := t.scopes[s]
	if n == 0 {
		around := t.scope(s.Parent())
		t.r.Scopes = append(t.r.Scopes, around)
		n = len(t.r.Scopes)
		t.scopes[s] = n
	}
	return n
}

// site numbers a place.
func (t *tracer) site(p token.Pos, s Site) int {
	s.Line, s.In = t.src.Pos(t.at(t.c, p)).Line, t.number
	s.Scope = t.scope(t.c.pkg.Scope().Innermost(p))
	if !s.Head {
		s.Loop = t.loop
	}
	t.r.Sites = append(t.r.Sites, s)
	return len(t.r.Sites) // 0 is what was there before the cell
}

// values writes arguments: the variables that the expressions set.
func (t *tracer) values(es []ast.Expr) string {
	var b strings.Builder
	written := map[types.Object]bool{}
	for _, e := range es {
		if e == nil {
			continue
		}
		id := root(t.c, e)
		if id == nil {
			continue
		}
		o := t.c.info.Defs[id]
		if o == nil {
			o = t.c.info.Uses[id]
		}
		if written[o] {
			continue
		}
		written[o] = true
		b.WriteString(t.value(o, t.expression(id)))
	}
	return b.String()
}

// value writes the arguments that tell of a variable: its sort, name and block, and its value or address.
func (t *tracer) value(o types.Object, expression string) string {
	if o.Type() == nil || o.Type() == types.Typ[types.Invalid] {
		return ""
	}
	if a, ok := o.Type().Underlying().(*types.Array); ok && a.Len() > 4096 {
		return ""
	}
	name := o.Name()
	sort, address := "v", ""
	switch {
	case t.own(o):
		sort, address = "g", "&"
	case o.Pkg() != t.c.pkg: // of another package
		return ""
	case t.function != nil && (o.Pos() < t.function.Pos() || o.Pos() >= t.function.End()):
		if sort = "o"; t.addressed[o] {
			sort, address = "p", "&"
		}
	case t.addressed[o]:
		sort, address = "a", "&"
	}
	if n := t.scope(o.Parent()); n > 0 && sort != "g" {
		name += " " + strconv.Itoa(n)
	}
	return fmt.Sprintf(", %q, %s%s", sort+name, address, expression)
}

// own reports whether a variable is one of the cell's own, which lives on.
func (t *tracer) own(o types.Object) bool {
	return t.c == t.user && t.global[o] != "" || o.Parent() == t.c.pkg.Scope()
}

// captured writes the variables that a function literal has captured.
func (t *tracer) captured(body *ast.BlockStmt) string {
	if t.r.effects.goroutines { // other goroutines may be writing them
		return ""
	}
	var b strings.Builder
	written := map[types.Object]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o, ok := t.c.info.Uses[id].(*types.Var)
		if !ok || written[o] || o.IsField() || o.Parent() == nil || t.own(o) || o.Pkg() != t.c.pkg || o.Pos() >= t.function.Pos() && o.Pos() < t.function.End() {
			return true
		}
		written[o] = true
		b.WriteString(t.value(o, t.expression(id)))
		return true
	})
	return b.String()
}

// expression is a name of the user's as the program writes it there.
func (t *tracer) expression(id *ast.Ident) string {
	lo, hi := t.at(t.c, id.Pos()), t.end(t.c, id.End())
	var own edits
	for _, x := range t.base.within(lo, hi) {
		if x.hi > x.lo {
			own = append(own, x)
		}
	}
	text := &Text{}
	own.apply(text, t.src, lo, hi)
	return text.String()
}

// call writes a recording call. values are arguments, as t.values writes them.
func (t *tracer) call(all bool, site int, values string) string {
	name := "Step"
	if all {
		name = "StepAll"
	}
	s := fmt.Sprintf("%s.%s(%d%s)", showName, name, site, values)
	if t.guarded {
		s = fmt.Sprintf("if %s { %s }", t.stepping(), s)
	}
	return s
}

func (t *tracer) stepping() string { return fmt.Sprintf("%s.Stepping(%d)", showName, t.src.Cell) }

// step records a statement; by are the parts of it that may change more than they name.
func (t *tracer) step(p token.Pos, es []ast.Expr, by ...ast.Node) string {
	return t.call(t.reaches(es, by), t.site(p, Site{}), t.values(es))
}

// reaches reports whether code may change variables that it doesn't name.
func (t *tracer) reaches(es []ast.Expr, by []ast.Node) (yes bool) {
	for _, e := range es {
		if e == nil {
			continue
		}
		id, name := e.(*ast.Ident)
		yes = yes || !name || t.aliased(id)
	}
	for _, n := range by {
		if n == nil || yes {
			continue
		}
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.BlockStmt:
				return false
			case *ast.CallExpr:
				if tv := t.c.info.Types[n.Fun]; tv.IsType() {
					return true
				} else if id, ok := n.Fun.(*ast.Ident); ok && tv.IsBuiltin() {
					yes = yes || !slices.Contains([]string{"len", "cap", "make", "new", "min", "max", "print", "println", "panic"}, id.Name)
					return true
				}
				yes = yes || !t.computes(n)
			case *ast.UnaryExpr:
				yes = yes || n.Op == token.ARROW
			case *ast.SendStmt:
				yes = true
			}
			return !yes
		})
	}
	return yes
}

// computing are packages of Go's whose functions change nothing that they are not given.
var computing = []string{"math", "math/bits", "math/cmplx", "strconv", "strings", "unicode", "unicode/utf8"}

// computes reports whether a call makes a value of numbers, strings and bools, and does nothing else.
func (t *tracer) computes(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := t.c.info.Uses[sel.Sel].(*types.Func)
	return ok && f.Signature().Recv() == nil && f.Pkg() != nil && slices.Contains(computing, f.Pkg().Path()) &&
		!slices.ContainsFunc(call.Args, func(e ast.Expr) bool {
			_, basic := types.Unalias(t.c.info.TypeOf(e)).(*types.Basic)
			return !basic
		})
}

// aliased reports whether a variable may be seen by another name, too.
func (t *tracer) aliased(id *ast.Ident) bool {
	o := t.c.info.Uses[id]
	if o == nil {
		return false
	}
	return t.addressed[o] || t.own(o) && (t.pointed[o.Name()] || t.doors[o.Name()])
}

// called records a call to a function, with its parameters, and its end.
func (t *tracer) called(name string, fn ast.Node, recv *ast.FieldList, ft *ast.FuncType, sig *types.Signature, body *ast.BlockStmt) {
	in := *t
	t.functions++
	in.function, in.number, in.loop, in.results = fn, t.functions, 0, nil
	in.guarded = !twice(body)
	var params []ast.Expr
	for _, list := range []*ast.FieldList{recv, ft.Params, ft.Results} {
		if list != nil {
			for _, f := range list.List {
				for _, id := range f.Names {
					params = append(params, id)
				}
			}
		}
	}
	if !in.guarded {
		in.results = sig
	}
	site := in.site(body.Lbrace, Site{Func: name})
	given := in.values(params)
	if _, literal := fn.(*ast.FuncLit); literal {
		given += in.captured(body)
	}
	begin, end, leaves := t.inLiteral(ft, body)
	enter := fmt.Sprintf(" if %s { %s%s.Enter(%d%s); ", t.stepping(), begin, showName, site, given)
	if !leaves {
		enter += leave
	}
	if in.guarded {
		t.insert(t.c, body.Lbrace+1, enter+"}; ")
		in.block(body.List)
		return
	}
	t.insert(t.c, body.Lbrace+1, enter)
	in.block(body.List)
	if begin != "" {
		t.insert(t.c, body.Rbrace, end+t.plain(body, false))
	} else {
		t.insert(t.c, body.Rbrace, " } else { "+t.plain(body, false)+" }")
	}
}

// leave records the end of a call.
const leave = "defer " + showName + ".Leave(); "

// inLiteral begins and ends a function literal for the copy of a body that records, so that the other one has neither
// its deferred call nor its variables. Both are "" where that would change what the code does. Results with names,
// which the compiler keeps in memory where a call is deferred, are those of a literal inside, and leaves is true.
func (t *tracer) inLiteral(ft *ast.FuncType, body *ast.BlockStmt) (begin, end string, leaves bool) {
	alone := twice(body)
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "recover" { // which is of use to a deferred function itself
			alone = false
		}
		_, literal := n.(*ast.FuncLit)
		return !literal
	})
	ast.Inspect(ft, func(n ast.Node) bool { // a parameter may have the name of a type that is written once more
		if id, ok := n.(*ast.Ident); ok {
			if o := t.c.info.Uses[id]; o != nil && (o.Pkg() == nil || o.Pkg() == t.c.pkg) {
				_, inside := t.c.pkg.Scope().Innermost(body.Lbrace+1).LookupParent(id.Name, body.Lbrace+1)
				alone = alone && o == inside
			}
		}
		return true
	})
	var args []string
	for _, f := range ft.Params.List {
		for _, id := range f.Names {
			alone = alone && id.Name != "_"
			args = append(args, id.Name)
			if _, variadic := f.Type.(*ast.Ellipsis); variadic {
				args[len(args)-1] += "..."
			}
		}
	}
	if !alone {
		return "", "", false
	}
	params := "()"
	if len(args) > 0 {
		params = t.text(ft.Params)
	}
	call := fmt.Sprintf(" } /*line %s:1*/ (%s)", StepsFile, strings.Join(args, ", "))
	if ft.Results == nil || len(ft.Results.List) == 0 {
		return "func" + params + " { ", call + "; return }; ", false
	}
	begin = "return func" + params + " " + t.text(ft.Results) + " { "
	var blank []string
	for _, f := range ft.Results.List {
		for range f.Names {
			blank = append(blank, "_ "+t.text(f.Type))
		}
	}
	if blank == nil {
		return begin, call + " }; ", false
	}
	return "return func" + params + " (" + strings.Join(blank, ", ") + ") { " + leave + begin, call + call + " }; ", true
}

// StepsFile is where stack traces find calls that record steps.
const StepsFile = "lecternsteps"

// plain is the inside of a block as it is when nothing is recorded, whole or without what comes before both copies.
func (t *tracer) plain(body *ast.BlockStmt, whole bool) string {
	lo, hi := t.at(t.c, body.Lbrace)+1, t.at(t.c, body.Rbrace)
	var around *literal
	for _, l := range t.mover.literals {
		if _, ok := l.x.(*ast.FuncLit); ok && l.lo < lo && hi < l.hi && (around == nil || l.lo > around.lo) {
			around = l
		}
	}
	traced := t.edits
	t.edits = t.base
	es := slices.DeleteFunc(t.editsWithin(around, lo, hi), func(e edit) bool { return !whole && e.lo == lo && e.hi == lo })
	t.edits = traced
	for _, c := range t.closures {
		if at := t.at(t.c, c.st.Pos()); (at < lo || at >= hi) && (around == nil || !c.own) { // else it is plain itself, or not in sight
			es = append(es, c.calls.within(lo, hi)...)
		}
	}
	text := &Text{}
	text.Inject("\n")
	es.apply(text, t.src, lo, hi)
	return text.Source()
}

// block records the statements of a list.
func (t *tracer) block(list []ast.Stmt) {
	for _, st := range list {
		t.statement(unlabeled(st))
	}
}

func (t *tracer) statement(st ast.Stmt) {
	switch st := st.(type) {
	case *ast.AssignStmt:
		t.simple(st, st.Lhs...)
		t.plainClosure(st)
	case *ast.IncDecStmt:
		t.simple(st, st.X)
	case *ast.DeclStmt:
		var names []ast.Expr
		if g := st.Decl.(*ast.GenDecl); g.Tok == token.VAR {
			for _, sp := range g.Specs {
				for _, id := range sp.(*ast.ValueSpec).Names {
					names = append(names, id)
				}
			}
			t.simple(st, names...)
		}
	case *ast.SendStmt:
		t.simple(st, st.Chan)
	case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt:
		if !ends(st) {
			t.simple(st)
			break
		}
		t.literals(st)
		t.insert(t.c, st.Pos(), t.step(st.Pos(), nil)+"; ")
	case *ast.ReturnStmt:
		t.returns(st)
	case *ast.BranchStmt:
		t.insert(t.c, st.Pos(), t.step(st.Pos(), nil)+"; ")
	case *ast.BlockStmt:
		t.block(st.List)
	case *ast.IfStmt:
		t.branches(st, nil)
	case *ast.ForStmt:
		t.literals(st.Init, st.Cond, st.Post)
		set := setBefore(st.Init)
		var later []ast.Expr // variables that the loop sets and that outlive it
		for _, e := range setBefore(st.Post) {
			if id := root(t.c, e); id != nil && !t.declares(st, id) {
				set, later = append(slices.Clone(set), e), append(later, e)
			}
		}
		t.iterations(st, st.Body, set, t.reaches(set, []ast.Node{st.Init, st.Cond, st.Post}))
		all := t.reaches(later, []ast.Node{st.Cond, st.Post})
		if st.Cond != nil && (all || len(later) > 0) { // what the last test has changed is seen after the loop
			site := t.site(st.Pos(), Site{})
			t.r.Sites[site-1].Scope = t.scope(t.c.pkg.Scope().Innermost(st.Pos()).Parent())
			t.after(t.c, st, "; "+t.call(all, site, t.values(later)))
		}
	case *ast.RangeStmt:
		t.literals(st.X)
		set := []ast.Expr{st.Key, st.Value}
		all := t.reaches(set, nil)
		switch t.c.info.TypeOf(st.X).Underlying().(type) {
		case *types.Chan, *types.Signature: // each turn takes something out, or runs code
			all = true
		}
		t.iterations(st, st.Body, set, all)
	case *ast.SwitchStmt:
		t.literals(st.Init, st.Tag)
		t.cases(st, st.Body, setBefore(st.Init), st.Init, st.Tag)
	case *ast.TypeSwitchStmt:
		t.literals(st.Init, st.Assign)
		t.cases(st, st.Body, setBefore(st.Init), st.Init, st.Assign)
	case *ast.SelectStmt:
		t.cases(st, st.Body, nil)
	}
}

// declares reports whether a variable is declared inside a statement.
func (t *tracer) declares(st ast.Stmt, id *ast.Ident) bool {
	o := t.c.info.Uses[id]
	return o != nil && o.Pos() >= st.Pos() && o.Pos() < st.End()
}

// ends reports whether a statement is a call to panic, after which nothing may follow.
func ends(st ast.Stmt) bool {
	x, ok := st.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := x.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == "panic"
}

func (t *tracer) simple(st ast.Stmt, es ...ast.Expr) {
	t.literals(st)
	t.after(t.c, st, "; "+t.step(st.Pos(), es, st))
}

// returns records what a function returns, if that is one value.
func (t *tracer) returns(st *ast.ReturnStmt) {
	t.literals(st)
	if wrap := t.returning(st); wrap != "" {
		first, last := st.Results[0], st.Results[len(st.Results)-1]
		t.insert(t.c, first.Pos(), fmt.Sprintf("%s(%d)(", wrap, t.site(st.Pos(), Site{})))
		t.edits.insert(t.end(t.c, last.End()), ")")
		return
	}
	var named []ast.Expr // results with names, which a plain return gives back
	if ft := functionType(t.function); len(st.Results) == 0 && ft != nil && ft.Results != nil {
		for _, f := range ft.Results.List {
			for _, id := range f.Names {
				named = append(named, id)
			}
		}
	}
	t.insert(t.c, st.Pos(), t.step(st.Pos(), named)+"; ")
}

func functionType(fn ast.Node) *ast.FuncType {
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		return fn.Type
	case *ast.FuncLit:
		return fn.Type
	}
	return nil
}

// returning is the function that records what a return statement with expressions returns, "" if there is none.
func (t *tracer) returning(st *ast.ReturnStmt) string {
	if t.results == nil || len(st.Results) == 0 || t.results.Results().Len() > 3 {
		return ""
	}
	var list []string
	for v := range t.results.Results().Variables() {
		typ, ok := t.writeType(v.Type())
		if !ok || !t.namesTypes(st.Pos(), typ) {
			return ""
		}
		list = append(list, typ)
	}
	name := "Return"
	if len(list) > 1 {
		name += strconv.Itoa(len(list))
	}
	return fmt.Sprintf("%s.%s[%s]", showName, name, strings.Join(list, ", "))
}

// namesTypes reports whether the names in a type that we write at a place are those of types there:
// a variable may have such a name, too.
func (t *tracer) namesTypes(p token.Pos, typ string) (yes bool) {
	x, err := parser.ParseExpr(typ)
	if err != nil {
		return false
	}
	yes = true
	var look func(n ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			ast.Inspect(n.Type, look)
			return false
		case *ast.SelectorExpr: // under a name of ours
			return false
		case *ast.Ident:
			_, o := t.c.pkg.Scope().Innermost(p).LookupParent(n.Name, p)
			name, ok := o.(*types.TypeName)
			if yes = yes && ok; yes {
				_, param := name.Type().(*types.TypeParam)
				yes = param || slices.Contains([]*types.Scope{types.Universe, t.c.pkg.Scope(), t.top}, name.Parent())
			}
		}
		return yes
	}
	ast.Inspect(x, look)
	return yes
}

// setBefore are the variables that a simple statement sets, such as the one before a condition.
func setBefore(st ast.Stmt) []ast.Expr {
	switch st := st.(type) {
	case *ast.AssignStmt:
		return st.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{st.X}
	case *ast.SendStmt:
		return []ast.Expr{st.Chan}
	}
	return nil
}

// branches records which way an if goes; set are the variables of those before it.
func (t *tracer) branches(st *ast.IfStmt, set []ast.Expr) {
	t.literals(st.Init, st.Cond)
	set = append(slices.Clone(set), setBefore(st.Init)...)
	by := []ast.Node{st.Cond, st.Init}
	t.insert(t.c, st.Body.Lbrace+1, " "+t.step(st.Pos(), set, by...)+"; ")
	t.block(st.Body.List)
	switch e := st.Else.(type) {
	case *ast.BlockStmt:
		t.insert(t.c, e.Lbrace+1, " "+t.step(st.Pos(), set, by...)+"; ")
		t.block(e.List)
	case *ast.IfStmt:
		t.branches(e, set)
	default:
		t.insert(t.c, st.Body.Rbrace+1, fmt.Sprintf(" else if %s { %s }", t.stepping(), t.step(st.Pos(), set, by...)))
	}
}

// iterations records each turn of a loop.
func (t *tracer) iterations(st ast.Stmt, body *ast.BlockStmt, vars []ast.Expr, all bool) {
	t.r.Loops = append(t.r.Loops, Loop{t.src.Pos(t.at(t.c, st.Pos())).Line, t.loop})
	in := *t
	in.loop = len(t.r.Loops)
	site := in.site(st.Pos(), Site{Head: true, Loop: in.loop})
	dual := twice(body)
	in.guarded = !dual
	head := in.call(all, site, in.values(vars)) + "; "
	if !dual {
		t.insert(t.c, body.Lbrace+1, " "+head)
		in.block(body.List)
		return
	}
	if rest, first := t.plainRest(st, body); rest != "" {
		t.insert(t.c, body.Lbrace+1, fmt.Sprintf(" if !%s { %s { %s{ %s} }; break }; %s", t.stepping(), rest, first, t.plain(body, true), head))
		in.block(body.List)
		return
	}
	t.insert(t.c, body.Lbrace+1, fmt.Sprintf(" if %s { %s", t.stepping(), head))
	in.block(body.List)
	t.insert(t.c, body.Rbrace, " } else { "+t.plain(body, false)+" }")
}

// plainRest is a loop without calls that goes on where another one is: its header, and what its body has to begin with.
// Both are "" if it can't be written, or would be of no use.
func (t *tracer) plainRest(st ast.Stmt, body *ast.BlockStmt) (header, first string) {
	simple := true // it leaves no other loop, and the code that is written twice holds no function
	ast.Inspect(body, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		simple = simple && !(ok && b.Label != nil)
		_, literal := n.(*ast.FuncLit)
		return !literal
	})
	if t.guarded || !simple {
		return "", ""
	}
	switch st := st.(type) {
	case *ast.ForStmt:
		return t.restOfFor(st), ""
	case *ast.RangeStmt:
		return t.restOfRange(st)
	}
	return "", ""
}

// restOfFor is the header of a plain loop that goes on where the variables of another one are.
func (t *tracer) restOfFor(st *ast.ForStmt) string {
	if !t.harmless(st.Cond) || !t.harmless(st.Post) {
		return ""
	}
	var init, cond, post string
	if a, ok := st.Init.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
		var names []string
		for _, l := range a.Lhs {
			if id := l.(*ast.Ident); id.Name != "_" {
				names = append(names, id.Name)
			}
		}
		if list := strings.Join(names, ", "); list != "" {
			init = list + " := " + list
		}
	}
	if st.Cond != nil {
		cond = t.text(st.Cond)
	}
	if st.Post != nil {
		post = t.text(st.Post)
	}
	return fmt.Sprintf("for %s; %s; %s", init, cond, post)
}

// restOfRange is plainRest of a range over a slice or an integer, which is kept in a variable for that. Both loops
// count by a name of ours if the user gives the index none.
func (t *tracer) restOfRange(st *ast.RangeStmt) (header, first string) {
	const index, end = ownPrefix + "k", ownPrefix + "n"
	limit := t.rangeLimit(st, end)
	key, named := st.Key.(*ast.Ident)
	typ, ok := t.writeType(types.Default(t.c.info.TypeOf(st.X)))
	switch {
	case limit == "" || !ok || !t.namesTypes(st.Pos(), typ):
		return "", ""
	case st.Key != nil && (!named || st.Tok != token.DEFINE):
		return "", ""
	case named && key.Name == "_" && st.Value == nil:
		return "", ""
	}
	from := index
	switch {
	case !named:
		t.insert(t.c, st.Range, index+" := ")
	case key.Name == "_":
		t.replace(t.c, key.Pos(), key.End(), index)
	default:
		from = key.Name
		first = key.Name + " := " + index + "; "
	}
	if value, ok := st.Value.(*ast.Ident); ok && value.Name != "_" {
		first += fmt.Sprintf("%s := %s[%s]; ", value.Name, end, index)
	}
	t.ranges++
	kept := fmt.Sprint(end, t.ranges)
	t.insert(t.c, st.Pos(), fmt.Sprintf("var %s %s; ", kept, typ))
	t.insert(t.c, st.X.Pos(), fmt.Sprintf("%s.Kept(&%s, ", showName, kept))
	t.edits.insert(t.end(t.c, st.X.End()), ")")
	return fmt.Sprintf("%s := %s; for %s := %s; %s < %s; %s++", end, kept, index, from, index, limit, index), first
}

// rangeLimit is the end of a range over what a variable holds; "" if it is none over a slice or an integer.
func (t *tracer) rangeLimit(st *ast.RangeStmt, variable string) string {
	switch u := t.c.info.TypeOf(st.X).Underlying().(type) {
	case *types.Slice:
		begin := st.Body.Lbrace + 1
		if _, o := t.c.pkg.Scope().Innermost(begin).LookupParent("len", begin); o == types.Universe.Lookup("len") {
			return "len(" + variable + ")"
		}
	case *types.Basic:
		if u.Info()&types.IsInteger != 0 {
			return variable
		}
	}
	return ""
}

// harmless reports whether code may run once more than it would, and be written twice.
func (t *tracer) harmless(n ast.Node) (yes bool) {
	yes = true
	if n == nil {
		return yes
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			yes = false
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			yes = yes && (t.c.info.Types[n.Fun].IsType() || ok && (id.Name == "len" || id.Name == "cap") && t.c.info.Types[n.Fun].IsBuiltin())
		case *ast.UnaryExpr:
			yes = yes && n.Op != token.ARROW
		}
		return yes
	})
	return yes
}

// text is a piece of the cell as it is when nothing is recorded.
func (t *tracer) text(n ast.Node) string {
	lo, hi := t.at(t.c, n.Pos()), t.end(t.c, n.End())
	text := &Text{}
	t.base.within(lo, hi).apply(text, t.src, lo, hi)
	return text.String()
}

func (t *tracer) cases(st ast.Stmt, b *ast.BlockStmt, set []ast.Expr, by ...ast.Node) {
	_, open := st.(*ast.SelectStmt)
	for _, c := range b.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			for _, e := range c.List {
				t.literals(e)
			}
			values := t.values(set)
			if o := t.c.info.Implicits[c]; o != nil { // v of switch v := x.(type)
				values += t.value(o, o.Name())
			}
			t.insert(t.c, c.Colon+1, " "+t.call(t.reaches(set, by), t.site(c.Pos(), Site{}), values)+"; ")
			t.block(c.Body)
			open = open || c.List == nil
		case *ast.CommClause:
			if c.Comm != nil {
				t.literals(c.Comm)
			}
			t.insert(t.c, c.Colon+1, " "+t.step(c.Pos(), setBefore(c.Comm), c.Comm)+"; ")
			t.block(c.Body)
		}
	}
	if !open { // no case may fit
		end := ""
		if len(b.List) > 0 {
			end = ";"
		}
		t.insert(t.c, b.Rbrace, end+" default: "+t.step(st.Pos(), set, by...)+"; ")
	}
}

// literals records what happens inside the function literals of statements and expressions without blocks.
func (t *tracer) literals(list ...ast.Node) {
	for _, n := range list {
		if n == nil {
			continue
		}
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				if t.mine(t.c, n) {
					sig, _ := t.c.info.TypeOf(n).(*types.Signature)
					t.called("func", n, nil, n.Type, sig, n.Body)
				}
				return false
			case *ast.BlockStmt:
				return false
			}
			return true
		})
	}
}
