package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// A tracer edits the statements of one checked program.
type tracer struct {
	*work
	c *checked
}

// traceSteps lets a //step cell record each statement with the values that it set, in main and in the functions that
// the cell declares.
func (w *work) traceSteps() {
	tracer{w, w.user}.block(w.body, true)
	t := tracer{w, w.final}
	w.eachDecl(w.final, func(_ *decl, n ast.Node) {
		if fd, ok := n.(*ast.FuncDecl); ok && fd.Body != nil {
			t.function(strings.Replace(fd.Name.Name, mainName, "main", 1), fd.Type, fd.Body)
		}
	})
}

// function records a call, with its parameters, and its end.
func (w tracer) function(name string, t *ast.FuncType, body *ast.BlockStmt) {
	var params []ast.Expr
	for _, f := range t.Params.List {
		for _, id := range f.Names {
			params = append(params, id)
		}
	}
	w.insert(w.c, body.Lbrace+1, fmt.Sprintf(" %s.Enter(%d, %q%s); defer %s.Leave(); ", showName, w.line(body.Lbrace), name, w.values(params), showName))
	w.block(body.List, false)
}

func (w tracer) line(p token.Pos) int { return w.src.Pos(w.at(w.c, p)).Line }

// values writes the arguments of Step: names and values of expressions that can be evaluated again without effect.
func (w tracer) values(es []ast.Expr) string {
	var b strings.Builder
	for _, e := range es {
		if e == nil || !repeatable(e) {
			continue
		}
		if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
			continue
		}
		fmt.Fprintf(&b, ", %q, %s", types.ExprString(e), w.expression(e))
	}
	return b.String()
}

// expression is an expression of the user's as the program writes it there.
func (w tracer) expression(e ast.Expr) string {
	lo, hi := w.at(w.c, e.Pos()), w.end(w.c, e.End())
	var own edits
	for _, x := range w.edits.within(lo, hi) {
		if x.hi > x.lo {
			own = append(own, x)
		}
	}
	t := &Text{}
	own.apply(t, w.src, lo, hi)
	return t.String()
}

// repeatable reports whether an expression calls nothing and receives nothing.
func repeatable(e ast.Expr) (yes bool) {
	yes = true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr, *ast.FuncLit:
			yes = false
		case *ast.UnaryExpr:
			yes = yes && n.Op != token.ARROW
		}
		return yes
	})
	return yes
}

func (w tracer) step(p token.Pos, es ...ast.Expr) string {
	return fmt.Sprintf("%s.Step(%d%s)", showName, w.line(p), w.values(es))
}

// block records the statements of a list; main says that its last expression is the cell's value.
func (w tracer) block(list []ast.Stmt, main bool) {
	for i, st := range list {
		st = unlabeled(st)
		w.functionLiterals(st)
		switch st := st.(type) {
		case *ast.AssignStmt:
			w.after(w.c, st, "; "+w.step(st.Pos(), st.Lhs...))
		case *ast.IncDecStmt:
			w.after(w.c, st, "; "+w.step(st.Pos(), st.X))
		case *ast.DeclStmt:
			if g, ok := st.Decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
				var names []ast.Expr
				for _, sp := range g.Specs {
					for _, id := range sp.(*ast.ValueSpec).Names {
						names = append(names, id)
					}
				}
				w.after(w.c, st, "; "+w.step(st.Pos(), names...))
			}
		case *ast.ExprStmt:
			if main && i == len(list)-1 {
				w.insert(w.c, st.Pos(), w.step(st.Pos())+"; ")
				break
			}
			w.after(w.c, st, "; "+w.step(st.Pos(), w.receiver(st.X)...))
		case *ast.SendStmt:
			w.after(w.c, st, "; "+w.step(st.Pos()))
		case *ast.ReturnStmt, *ast.BranchStmt:
			w.insert(w.c, st.Pos(), w.step(st.Pos())+"; ")
		case *ast.BlockStmt:
			w.block(st.List, false)
		case *ast.IfStmt:
			w.branches(st)
		case *ast.ForStmt:
			var vars []ast.Expr
			if a, ok := st.Init.(*ast.AssignStmt); ok {
				vars = a.Lhs
			}
			w.insert(w.c, st.Body.Lbrace+1, " "+w.step(st.Pos(), vars...)+"; ")
			w.block(st.Body.List, false)
		case *ast.RangeStmt:
			w.insert(w.c, st.Body.Lbrace+1, " "+w.step(st.Pos(), st.Key, st.Value)+"; ")
			w.block(st.Body.List, false)
		case *ast.SwitchStmt:
			w.cases(st.Body)
		case *ast.TypeSwitchStmt:
			w.cases(st.Body)
		case *ast.SelectStmt:
			w.cases(st.Body)
		}
	}
}

func (w tracer) branches(st *ast.IfStmt) {
	w.insert(w.c, st.Body.Lbrace+1, " "+w.step(st.Pos())+"; ")
	w.block(st.Body.List, false)
	switch e := st.Else.(type) {
	case *ast.BlockStmt:
		w.insert(w.c, e.Lbrace+1, " "+w.step(e.Pos())+"; ")
		w.block(e.List, false)
	case *ast.IfStmt:
		w.branches(e)
	}
}

func (w tracer) cases(b *ast.BlockStmt) {
	for _, c := range b.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			w.insert(w.c, c.Colon+1, " "+w.step(c.Pos())+"; ")
			w.block(c.Body, false)
		case *ast.CommClause:
			w.insert(w.c, c.Colon+1, " "+w.step(c.Pos())+"; ")
			w.block(c.Body, false)
		}
	}
}

// functionLiterals records what happens inside the function literals of a simple statement.
func (w tracer) functionLiterals(st ast.Stmt) {
	switch st.(type) {
	case *ast.BlockStmt, *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return // their own statements come one by one
	}
	ast.Inspect(st, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			w.function("func", lit.Type, lit.Body)
			return false
		}
		return true
	})
}

// receiver is the variable whose method is called and which may have changed.
func (w tracer) receiver(x ast.Expr) []ast.Expr {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	if id, ok := sel.X.(*ast.Ident); ok {
		if _, ok := w.c.info.Uses[id].(*types.Var); ok {
			return []ast.Expr{id}
		}
	}
	return nil
}
