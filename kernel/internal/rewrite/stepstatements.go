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

// block records the statements of a list.
func (t *tracer) block(list []ast.Stmt) {
	for _, st := range list {
		t.statement(unlabeled(st))
	}
}

func (t *tracer) statement(st ast.Stmt) {
	switch st := st.(type) {
	case *ast.AssignStmt, *ast.IncDecStmt, *ast.SendStmt:
		t.simple(st, setBySimple(st)...)
		t.plainClosure(st)
	case *ast.DeclStmt:
		if g := st.Decl.(*ast.GenDecl); g.Tok == token.VAR {
			t.simple(st, expressions(Declared(g))...)
		}
	case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt:
		if !isPanic(st) {
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
		t.forLoop(st)
	case *ast.RangeStmt:
		t.rangeLoop(st)
	case *ast.SwitchStmt:
		t.literals(st.Init, st.Tag)
		t.cases(st, st.Body, setBySimple(st.Init), st.Init, st.Tag)
	case *ast.TypeSwitchStmt:
		t.literals(st.Init, st.Assign)
		t.cases(st, st.Body, setBySimple(st.Init), st.Init, st.Assign)
	case *ast.SelectStmt:
		t.cases(st, st.Body, nil)
	}
}

// setBySimple are the variables that a simple statement sets, such as the one before a condition.
func setBySimple(st ast.Stmt) []ast.Expr {
	if send, ok := st.(*ast.SendStmt); ok {
		return []ast.Expr{send.Chan}
	}
	return setBy(st)
}

// simple records a statement that has no blocks, and sets variables.
func (t *tracer) simple(st ast.Stmt, es ...ast.Expr) {
	t.literals(st)
	t.after(t.c, st, "; "+t.step(st.Pos(), es, st))
}

// branches records which way an if goes; set are the variables of those before it.
func (t *tracer) branches(st *ast.IfStmt, set []ast.Expr) {
	t.literals(st.Init, st.Cond)
	set = append(slices.Clone(set), setBySimple(st.Init)...)
	step := func() string { return t.step(st.Pos(), set, st.Cond, st.Init) }
	t.insert(t.c, st.Body.Lbrace+1, " "+step()+"; ")
	t.block(st.Body.List)
	switch e := st.Else.(type) {
	case *ast.BlockStmt:
		t.insert(t.c, e.Lbrace+1, " "+step()+"; ")
		t.block(e.List)
	case *ast.IfStmt:
		t.branches(e, set)
	default:
		t.insert(t.c, st.Body.Rbrace+1, fmt.Sprintf(" else if %s { %s }", t.stepping(), step()))
	}
}

// cases records which way a switch or select goes; set are the variables of the statement before it.
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
			t.literals(c.Comm)
			t.insert(t.c, c.Colon+1, " "+t.step(c.Pos(), setBySimple(c.Comm), c.Comm)+"; ")
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

func (t *tracer) forLoop(st *ast.ForStmt) {
	t.literals(st.Init, st.Cond, st.Post)
	set := setBySimple(st.Init)
	var later []ast.Expr // variables that the loop sets and that outlive it
	for _, e := range setBySimple(st.Post) {
		if id := t.c.root(e); id != nil && !declaredIn(t.c.info.Uses[id], st) {
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
}

func (t *tracer) rangeLoop(st *ast.RangeStmt) {
	t.literals(st.X)
	set := []ast.Expr{st.Key, st.Value}
	all := t.reaches(set, nil)
	switch t.c.info.TypeOf(st.X).Underlying().(type) {
	case *types.Chan, *types.Signature: // each turn takes something out, or runs code
		all = true
	}
	t.iterations(st, st.Body, set, all)
}

// iterations records each turn of a loop.
func (t *tracer) iterations(st ast.Stmt, body *ast.BlockStmt, vars []ast.Expr, all bool) {
	t.r.Loops = append(t.r.Loops, Loop{t.src.Pos(t.at(t.c, st.Pos())).Line, t.loop})
	in := *t
	in.loop = len(t.r.Loops)
	site := in.site(st.Pos(), Site{Head: true, Loop: in.loop})
	in.guarded = !copyable(body)
	head, tail := in.call(all, site, in.values(vars))+"; ", ""
	if in.guarded {
		head = " " + head
	} else if rest, first := t.plainRest(st, body); rest != "" {
		head = fmt.Sprintf(" if !%s { %s { %s{ %s} }; break }; %s", t.stepping(), rest, first, t.plain(body, true), head)
	} else {
		head, tail = t.ifStepping(head), t.elsePlain(body)
	}
	t.insert(t.c, body.Lbrace+1, head)
	in.block(body.List)
	if tail != "" {
		t.insert(t.c, body.Rbrace, tail)
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
					t.called("func", n)
				}
				return false
			case *ast.BlockStmt:
				return false
			}
			return true
		})
	}
}

// declaration records the calls of a function that the cell declares, and writes its plain version.
func (t *tracer) declaration(fd *ast.FuncDecl) {
	if f := t.c.info.Defs[fd.Name].(*types.Func); t.copied[functionKey(f)] {
		t.plainFunction(fd)
	}
	t.called(strings.Replace(fd.Name.Name, mainName, "main", 1), fd)
}

// called records a call to a function, with its parameters, and its end.
func (t *tracer) called(name string, fn ast.Node) {
	recv, ft, body := functionParts(fn)
	in := *t
	t.functions++
	in.function, in.number, in.loop, in.results = fn, t.functions, 0, nil
	in.guarded = !copyable(body)
	site := in.site(body.Lbrace, Site{Func: name})
	given := in.values(expressions(identifiersOf(recv, ft.Params, ft.Results)))
	if _, literal := fn.(*ast.FuncLit); literal {
		given += in.captured(body)
	}
	enter := fmt.Sprintf("%s.Enter(%d%s); ", showName, site, given)
	if in.guarded {
		t.insert(t.c, body.Lbrace+1, t.ifStepping(enter+leave)+"}; ")
		in.block(body.List)
		return
	}
	in.results = t.c.signature(fn)
	head, tail := t.bothCopies(ft, body, enter)
	t.insert(t.c, body.Lbrace+1, head)
	in.block(body.List)
	t.insert(t.c, body.Rbrace, tail)
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
	if _, ft, _ := functionParts(t.function); ft != nil && len(st.Results) == 0 {
		named = expressions(identifiersOf(ft.Results))
	}
	t.insert(t.c, st.Pos(), t.step(st.Pos(), named)+"; ")
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
			name, ok := t.c.lookup(n.Name, p).(*types.TypeName)
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
