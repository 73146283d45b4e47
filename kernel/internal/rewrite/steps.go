package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A cell whose steps are recorded calls package show after each statement, with the variables that it set. The calls
// have a number, their site. So that a cell runs at its own speed once enough is recorded, each function and each body
// of a loop stands there twice, with the calls and as it was:
//
//	for i := range n { if lecternshow.Stepping(3) { lecternshow.Step(4, "vi", i); s += i; lecternshow.Step(5, "gs", &s) } else { s += i } }
//
// Code with labels can't stand there twice; then each call is guarded.

// A Site is a place of a cell at which a step is recorded.
type Site struct {
	Line int
	Loop int    // the innermost loop around it, as an index into Loops plus one; 0 for none
	Head bool   // an iteration of that loop begins here
	Func string // the function that begins here
}

// A Loop is one of a cell's loops.
type Loop struct {
	Line   int
	Parent int // the loop around it in the same function, as in Site
}

// A tracer edits the statements of one checked program.
type tracer struct {
	*work
	c         *checked
	base      edits // those that stand in both copies of a piece of code
	function  ast.Node
	results   *types.Signature // of the function, if what it returns can be recorded
	loop      int
	guarded   bool                  // the code may run when nothing is recorded
	addressed map[types.Object]bool // local variables whose address is taken
}

// stepped reports whether the steps of the cell are wanted.
func (w *work) stepped() bool {
	return !w.s.noSteps && !w.s.alone && (w.s.steps || strings.HasPrefix(strings.TrimSpace(w.src.Code), "//step")) && !w.r.Wasm && !w.tests
}

// traceSteps lets a cell record its statements, those of the functions that it declares among them. All other edits
// have been made.
func (w *work) traceSteps() {
	base := slices.Clone(w.edits)
	t := &tracer{work: w, c: w.user, base: base, addressed: addressed(w.user, w.body)}
	t.guarded = slices.ContainsFunc(w.body, func(st ast.Stmt) bool { return !twice(st) })
	t.block(w.body)
	w.eachDecl(w.final, func(_ *decl, n ast.Node) {
		fd, ok := n.(*ast.FuncDecl)
		if ok && fd.Body != nil {
			t := &tracer{work: w, c: w.final, base: base, addressed: addressed(w.final, fd.Body.List)}
			sig, _ := w.final.info.Defs[fd.Name].Type().(*types.Signature)
			t.body(strings.Replace(fd.Name.Name, mainName, "main", 1), fd, fd.Recv, fd.Type, sig, fd.Body)
		}
	})
}

// rememberPlain lets later cells have the declarations of this one without the calls that record steps, once its program
// is written.
func (w *work) rememberPlain() (remember func()) {
	base, before := slices.Clone(w.edits), map[*decl]edits{}
	for _, d := range w.decls {
		before[d] = slices.Clone(d.edits)
	}
	return func() {
		w.edits = base
		for _, d := range w.decls {
			d.edits = before[d]
			w.settleEdits(d)
		}
		for _, l := range w.literals {
			d := w.maker(l)
			w.n.decls[d.key] = d
		}
	}
}

// beginSteps is the call that begins to record, with the variables of earlier cells.
func (w *work) beginSteps(g *graph) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s.BeginSteps(%d, %v", showName, w.src.Cell, w.concurrent(g))
	for _, name := range w.r.Restores {
		if v := w.n.vars[name]; w.old[name] == "" {
			fmt.Fprintf(&b, ", %q, &%s", "g"+name, v.source(name))
		}
	}
	return b.String() + ")"
}

// concurrent reports whether the program starts goroutines, as far as its text tells.
func (w *work) concurrent(g *graph) bool {
	found := false
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Go" || n.Sel.Name == "AfterFunc"
		}
		return !found
	}
	for _, st := range w.body {
		ast.Inspect(st, look)
	}
	for i := range g.reached {
		for _, n := range g.nodes[i] {
			ast.Inspect(n, look)
		}
	}
	return found
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
			}
			return true
		})
	}
	return found
}

// root is the variable that an expression on the left of an assignment begins with, or nil.
func root(c *checked, e ast.Expr) *ast.Ident {
	for {
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
}

// twice reports whether code can stand in a function a second time: a label can't, and a type would be another one.
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

// site numbers a place.
func (t *tracer) site(p token.Pos, s Site) int {
	s.Line = t.src.Pos(t.at(t.c, p)).Line
	if !s.Head {
		s.Loop = t.loop
	}
	t.r.Sites = append(t.r.Sites, s)
	return len(t.r.Sites) // 0 is what was there before the cell
}

// values writes arguments: the variables that the expressions set.
func (t *tracer) values(es []ast.Expr) string {
	var b strings.Builder
	told := map[types.Object]bool{}
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
		if told[o] || o.Type() == nil || o.Type() == types.Typ[types.Invalid] {
			continue
		}
		told[o] = true
		if a, ok := o.Type().Underlying().(*types.Array); ok && a.Len() > 4096 {
			continue
		}
		sort, address := byte('v'), ""
		switch {
		case t.c == t.user && t.global[o] != "" || o.Parent() == t.c.pkg.Scope():
			sort, address = 'g', "&"
		case o.Pkg() != t.c.pkg: // of another package
			continue
		case t.function != nil && (o.Pos() < t.function.Pos() || o.Pos() >= t.function.End()):
			if sort = 'o'; t.addressed[o] {
				sort, address = 'p', "&"
			}
		case t.addressed[o]:
			sort, address = 'a', "&"
		}
		fmt.Fprintf(&b, ", %q, %s%s", string(sort)+id.Name, address, t.expression(id))
	}
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

// call writes a recording call.
func (t *tracer) call(name string, site int, es []ast.Expr) string {
	s := fmt.Sprintf("%s.%s(%d%s)", showName, name, site, t.values(es))
	if t.guarded {
		s = fmt.Sprintf("if %s { %s }", t.stepping(), s)
	}
	return s
}

func (t *tracer) stepping() string { return fmt.Sprintf("%s.Stepping(%d)", showName, t.src.Cell) }

// step records a statement; by are the parts of it that may change more than they name.
func (t *tracer) step(p token.Pos, es []ast.Expr, by ...ast.Node) string {
	name := "Step"
	if t.reaches(es, by) {
		name = "StepAll"
	}
	return t.call(name, t.site(p, Site{}), es)
}

// reaches reports whether code may change variables that it doesn't name.
func (t *tracer) reaches(es []ast.Expr, by []ast.Node) (yes bool) {
	for _, e := range es {
		if e != nil {
			_, name := e.(*ast.Ident)
			yes = yes || !name
		}
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
				yes = true
			case *ast.UnaryExpr:
				yes = yes || n.Op == token.ARROW
			}
			return !yes
		})
	}
	return yes
}

// body records a call of a function, with its parameters, and its end.
func (t *tracer) body(name string, fn ast.Node, recv *ast.FieldList, ft *ast.FuncType, sig *types.Signature, body *ast.BlockStmt) {
	in := *t
	in.function, in.loop, in.results = fn, 0, nil
	in.guarded = !twice(body)
	var params []ast.Expr
	for _, list := range []*ast.FieldList{recv, ft.Params} {
		if list != nil {
			for _, f := range list.List {
				for _, id := range f.Names {
					params = append(params, id)
				}
			}
		}
	}
	if !in.guarded && sig != nil && sig.Results().Len() == 1 && sig.TypeParams() == nil && sig.RecvTypeParams() == nil {
		in.results = sig
	}
	site := in.site(body.Lbrace, Site{Func: name})
	enter := fmt.Sprintf(" if %s { %s.Enter(%d%s); defer %s.Leave(); ", t.stepping(), showName, site, in.values(params), showName)
	if in.guarded {
		t.insert(t.c, body.Lbrace+1, enter+"}; ")
		in.block(body.List)
		return
	}
	t.insert(t.c, body.Lbrace+1, enter)
	in.block(body.List)
	t.insert(t.c, body.Rbrace, " } else { "+t.plain(body)+" }")
}

// plain is the inside of a block as it is when nothing is recorded.
func (t *tracer) plain(body *ast.BlockStmt) string {
	lo, hi := t.at(t.c, body.Lbrace)+1, t.at(t.c, body.Rbrace)
	var around *literal
	for _, l := range t.work.literals {
		if _, ok := l.x.(*ast.FuncLit); ok && l.made() && l.lo < lo && hi < l.hi && (around == nil || l.lo > around.lo) {
			around = l
		}
	}
	traced := t.edits
	t.edits = t.base
	es := slices.DeleteFunc(t.editsWithin(around, lo, hi), func(e edit) bool { return e.lo == lo && e.hi == lo }) // which stand before the copies
	t.edits = traced
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
		t.iterations(st, st.Body, setBefore(st.Init), st.Init, st.Cond, st.Post)
	case *ast.RangeStmt:
		t.literals(st.X)
		t.iterations(st, st.Body, []ast.Expr{st.Key, st.Value})
	case *ast.SwitchStmt:
		t.literals(st.Init, st.Tag)
		t.cases(st.Body, setBefore(st.Init), st.Init, st.Tag)
	case *ast.TypeSwitchStmt:
		t.literals(st.Init, st.Assign)
		t.cases(st.Body, setBefore(st.Init), st.Init, st.Assign)
	case *ast.SelectStmt:
		t.cases(st.Body, nil)
	}
}

// ends reports whether a statement is a call of panic, behind which nothing may stand.
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
	if t.results != nil && len(st.Results) == 1 {
		if _, several := t.c.info.TypeOf(st.Results[0]).(*types.Tuple); !several {
			if typ, ok := t.writeType(t.results.Results().At(0).Type()); ok {
				x := st.Results[0]
				t.insert(t.c, x.Pos(), fmt.Sprintf("%s.Return[%s](%d, ", showName, typ, t.site(st.Pos(), Site{})))
				t.insert(t.c, x.End(), ")")
				return
			}
		}
	}
	t.insert(t.c, st.Pos(), t.step(st.Pos(), nil)+"; ")
}

// setBefore are the variables that the statement before a condition sets.
func setBefore(st ast.Stmt) []ast.Expr {
	if a, ok := st.(*ast.AssignStmt); ok {
		return a.Lhs
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
func (t *tracer) iterations(st ast.Stmt, body *ast.BlockStmt, vars []ast.Expr, by ...ast.Node) {
	t.r.Loops = append(t.r.Loops, Loop{t.src.Pos(t.at(t.c, st.Pos())).Line, t.loop})
	in := *t
	in.loop = len(t.r.Loops)
	site := in.site(st.Pos(), Site{Head: true, Loop: in.loop})
	dual := twice(body)
	in.guarded = !dual
	name := "Step"
	if t.reaches(nil, by) {
		name = "StepAll"
	}
	head := in.call(name, site, vars) + "; "
	if !dual {
		t.insert(t.c, body.Lbrace+1, " "+head)
		in.block(body.List)
		return
	}
	t.insert(t.c, body.Lbrace+1, fmt.Sprintf(" if %s { %s", t.stepping(), head))
	in.block(body.List)
	t.insert(t.c, body.Rbrace, " } else { "+t.plain(body)+" }")
}

func (t *tracer) cases(b *ast.BlockStmt, set []ast.Expr, by ...ast.Node) {
	for _, c := range b.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			for _, e := range c.List {
				t.literals(e)
			}
			t.insert(t.c, c.Colon+1, " "+t.step(c.Pos(), set, by...)+"; ")
			t.block(c.Body)
		case *ast.CommClause:
			if c.Comm != nil {
				t.literals(c.Comm)
			}
			t.insert(t.c, c.Colon+1, " "+t.step(c.Pos(), setBefore(c.Comm))+"; ")
			t.block(c.Body)
		}
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
					t.body("func", n, nil, n.Type, sig, n.Body)
				}
				return false
			case *ast.BlockStmt:
				return false
			}
			return true
		})
	}
}
