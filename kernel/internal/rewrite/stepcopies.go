package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Code whose steps are recorded is in the program twice, with the calls that record them and without, so that a cell
// runs at full speed once enough is recorded. Each function and each loop body asks which copy is to run:
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
//
// This file writes the plain copies, and decides where there are none. docs/architecture.md says why a cell is not run
// a second time instead.

// A closure is what a variable holds that is set once, by a function literal, and only called then.
type closure struct {
	st    ast.Stmt // that sets it
	calls edits    // of its plain version, in plain copies where that is declared
	own   bool     // the variable is the cell's own, and its plain version one of the function that runs it
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

// copiedFunctions are the functions that the cell declares and may call, by their functionKey.
func (a *assembly) copiedFunctions() map[string]bool {
	found := map[string]bool{}
	a.eachDecl(a.final, func(d *decl, n ast.Node) {
		if fd, ok := n.(*ast.FuncDecl); ok && fd.Body != nil && d != a.main && !isInit(d) && fd.Name.Name != "_" {
			found[functionKey(a.final.info.Defs[fd.Name].(*types.Func))] = true
		}
	})
	delete(found, "")
	return found
}

// findClosures finds the closures of the cell that have a plain version, by their variables.
func (a *assembly) findClosures() map[types.Object]*closure {
	found := map[types.Object]*closure{}
	look := func(c *checked, list []ast.Stmt) {
		for _, st := range list {
			if o := a.holdsClosure(c, st); o != nil {
				found[o] = &closure{st: st, own: a.global[o] != ""}
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
	a.keepCalled(found)
	return found
}

// holdsClosure is the variable that a statement defines and sets to a function literal, which may be copied; or nil.
func (a *assembly) holdsClosure(c *checked, st ast.Stmt) types.Object {
	set, ok := st.(*ast.AssignStmt)
	if !ok || set.Tok != token.DEFINE || len(set.Lhs) != 1 || !a.mine(c, set) {
		return nil
	}
	o := c.info.Defs[set.Lhs[0].(*ast.Ident)] // nil for a blank one
	lit, ok := set.Rhs[0].(*ast.FuncLit)
	if o == nil || !ok || !copyable(lit.Body) {
		return nil
	}
	for _, l := range a.literals {
		if l.x == lit && len(l.captures)+len(l.params) > 0 { // it finds what it has captured in a struct
			return nil
		}
	}
	return o
}

// keepCalled drops the closures of variables that are set again, or whose value goes somewhere.
func (a *assembly) keepCalled(closures map[types.Object]*closure) {
	called := map[*ast.Ident]bool{}
	a.eachPart(func(c *checked, root ast.Node) {
		ast.Inspect(root, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok {
					called[id] = true
				}
			case *ast.Ident:
				if !called[n] {
					delete(closures, c.info.Uses[n])
				}
			}
			return true
		})
	})
	own := map[string]types.Object{} // functions may set the cell's own, under their name
	for o, c := range closures {
		if c.own {
			own[o.Name()] = o
		}
	}
	for i := range a.g.reached {
		for _, n := range a.g.nodes[i] {
			for n := range ast.Preorder(n) {
				if id, ok := n.(*ast.Ident); ok {
					delete(closures, own[id.Name])
				}
			}
		}
	}
}

// callPlain are the edits by which plain copies call the plain versions of the cell's functions. Those of its closures
// are noted with them.
func (s *tracing) callPlain() (calls edits) {
	s.eachPart(func(c *checked, root ast.Node) {
		ast.Inspect(root, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			id := named(call.Fun)
			if id == nil || !s.mine(c, id) {
				return true
			}
			lo, hi := s.at(c, id.Pos()), s.end(c, id.End())
			if slices.ContainsFunc(s.base, func(e edit) bool { return e.lo < hi && e.hi > lo }) {
				return true
			}
			o := c.info.Uses[id]
			if closure := s.closures[o]; closure != nil {
				closure.calls.replace(lo, hi, PlainName+id.Name)
			} else if f, ok := o.(*types.Func); ok && f.Pkg() == c.pkg && s.copied[functionKey(f)] {
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

// plainClosure writes the plain version of the closure, if any, that a statement sets a variable to.
func (t *tracer) plainClosure(st ast.Stmt) {
	for o, c := range t.closures {
		if c.st == st && len(c.calls) > 0 {
			lit, name := st.(*ast.AssignStmt).Rhs[0].(*ast.FuncLit), PlainName+o.Name()
			t.after(t.c, st, fmt.Sprintf("; %s := %s {%s}; _ = %s", name, t.text(lit.Type), t.plain(lit.Body, true), name))
		}
	}
}

// copyable reports whether code can stand in a function a second time: a label can't, and a type would be another one.
func copyable(n ast.Node) bool {
	for n := range outsideLiterals(n) { // they have labels of their own
		switch n := n.(type) {
		case *ast.LabeledStmt:
			return false
		case *ast.DeclStmt:
			if n.Decl.(*ast.GenDecl).Tok == token.TYPE {
				return false
			}
		}
	}
	return true
}

// ifStepping begins the copy of a block that records.
func (t *tracer) ifStepping(begin string) string {
	return fmt.Sprintf(" if %s { %s", t.stepping(), begin)
}

// elsePlain ends it, and is the plain one.
func (t *tracer) elsePlain(body *ast.BlockStmt) string {
	return " } else { " + t.plain(body, false) + " }"
}

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

// leave records the end of a call.
const leave = "defer " + showName + ".Leave(); "

// StepsFile is where stack traces find calls that record steps.
const StepsFile = "lecternsteps"

// bothCopies is what stands before and behind the body of a function that is there twice. The copy that records begins
// with enter, and is a function literal where that is possible, so that the plain one has neither its deferred call nor
// its variables. Results with names, which the compiler keeps in memory where a call is deferred, are those of another
// literal inside.
func (t *tracer) bothCopies(ft *ast.FuncType, body *ast.BlockStmt, enter string) (head, tail string) {
	if !t.mayBeLiteral(ft, body) {
		return t.ifStepping(enter + leave), t.elsePlain(body)
	}
	var args []string
	for _, f := range ft.Params.List {
		for _, id := range f.Names {
			arg := id.Name
			if _, variadic := f.Type.(*ast.Ellipsis); variadic {
				arg += "..."
			}
			args = append(args, arg)
		}
	}
	params := "()"
	if len(args) > 0 {
		params = t.text(ft.Params)
	}
	call := fmt.Sprintf(" } /*line %s:1*/ (%s)", StepsFile, strings.Join(args, ", "))
	plain := t.plain(body, false)
	if ft.Results == nil || len(ft.Results.List) == 0 {
		return t.ifStepping("func" + params + " { " + enter + leave), call + "; return }; " + plain
	}
	inner := "return func" + params + " " + t.text(ft.Results) + " { " + enter
	if len(ft.Results.List[0].Names) == 0 {
		return t.ifStepping(inner + leave), call + " }; " + plain
	}
	var blank []string
	for _, f := range ft.Results.List {
		for range f.Names {
			blank = append(blank, "_ "+t.text(f.Type))
		}
	}
	return t.ifStepping("return func" + params + " (" + strings.Join(blank, ", ") + ") { " + leave + inner), call + call + " }; " + plain
}

// mayBeLiteral reports whether the body of a function means the same in a literal inside it, that is called at once.
func (t *tracer) mayBeLiteral(ft *ast.FuncType, body *ast.BlockStmt) bool {
	for n := range outsideLiterals(body) {
		if id, ok := n.(*ast.Ident); ok && id.Name == "recover" { // which is of use to a deferred function itself
			return false
		}
	}
	for n := range ast.Preorder(ft) { // a parameter may have the name of a type that is written once more
		if id, ok := n.(*ast.Ident); ok {
			o := t.c.info.Uses[id]
			if o != nil && (o.Pkg() == nil || o.Pkg() == t.c.pkg) && o != t.c.lookup(id.Name, body.Lbrace+1) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(identifiersOf(ft.Params), func(id *ast.Ident) bool { return id.Name == "_" })
}

// plainRest is a loop without calls that goes on where another one is: its header, and what its body has to begin with.
// Both are "" if it can't be written, or would be of no use.
func (t *tracer) plainRest(st ast.Stmt, body *ast.BlockStmt) (header, first string) {
	if t.guarded {
		return "", ""
	}
	for n := range outsideLiterals(body) {
		if b, ok := n.(*ast.BranchStmt); ok && b.Label != nil {
			return "", "" // it leaves another loop
		}
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
	var names []string
	if a, ok := st.Init.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
		for _, id := range identifiers(a.Lhs) {
			if id.Name != "_" {
				names = append(names, id.Name)
			}
		}
	}
	var init, cond, post string
	if list := strings.Join(names, ", "); list != "" {
		init = list + " := " + list
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
		if t.c.lookup("len", st.Body.Lbrace+1) == types.Universe.Lookup("len") {
			return "len(" + variable + ")"
		}
	case *types.Basic:
		if u.Info()&types.IsInteger != 0 {
			return variable
		}
	}
	return ""
}

// harmless reports whether an expression or statement, if any, may run once more than it would, and be written twice.
func (t *tracer) harmless(n ast.Node) bool {
	if n == nil {
		return true
	}
	for n := range ast.Preorder(n) {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			f := t.c.info.Types[n.Fun]
			if !f.IsType() && !(ok && f.IsBuiltin() && (id.Name == "len" || id.Name == "cap")) {
				return false
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				return false
			}
		}
	}
	return true
}

// text is a piece of the cell as it is when nothing is recorded.
func (t *tracer) text(n ast.Node) string {
	lo, hi := t.at(t.c, n.Pos()), t.end(t.c, n.End())
	return t.base.text(t.src, lo, hi).String()
}
