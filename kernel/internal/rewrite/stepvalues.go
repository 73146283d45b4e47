package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// A recording call names the variables that a statement has set. Where it may have changed more than that, through a
// pointer or a call, package show compares all that it knows (StepAll).

// values writes arguments: the variables that the expressions set.
func (t *tracer) values(es []ast.Expr) string {
	var b strings.Builder
	written := map[types.Object]bool{}
	for _, e := range es {
		id := t.c.root(e)
		if id == nil {
			continue
		}
		if o := t.c.info.ObjectOf(id); !written[o] {
			written[o] = true
			b.WriteString(t.value(o, t.expression(id)))
		}
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
	case t.function != nil && !declaredIn(o, t.function):
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
		if ok && !written[o] && !o.IsField() && o.Parent() != nil && !t.own(o) && o.Pkg() == t.c.pkg && !declaredIn(o, t.function) {
			written[o] = true
			b.WriteString(t.value(o, t.expression(id)))
		}
		return true
	})
	return b.String()
}

// expression is a name of the user's as the program writes it there.
func (t *tracer) expression(id *ast.Ident) string {
	lo, hi := t.at(t.c, id.Pos()), t.end(t.c, id.End())
	own := slices.DeleteFunc(t.base.within(lo, hi), func(e edit) bool { return e.lo == e.hi })
	return own.text(t.src, lo, hi).String()
}

// reaches reports whether code may change variables that it doesn't name.
func (t *tracer) reaches(es []ast.Expr, by []ast.Node) (yes bool) {
	for _, e := range es {
		id, name := e.(*ast.Ident)
		yes = yes || e != nil && (!name || t.aliased(id))
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
				yes = yes || !t.c.info.Types[n.Fun].IsType() && !t.computes(n)
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

// computing are builtin functions, and packages of Go's, which change nothing that they are not given.
var (
	computing         = []string{"len", "cap", "make", "new", "min", "max", "print", "println", "panic"}
	computingPackages = []string{"math", "math/bits", "math/cmplx", "strconv", "strings", "unicode", "unicode/utf8"}
)

// computes reports whether a call makes a value of numbers, strings and bools, and does nothing else.
func (t *tracer) computes(call *ast.CallExpr) bool {
	if id, ok := call.Fun.(*ast.Ident); ok && t.c.info.Types[id].IsBuiltin() {
		return slices.Contains(computing, id.Name)
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := t.c.info.Uses[sel.Sel].(*types.Func)
	return ok && f.Signature().Recv() == nil && f.Pkg() != nil && slices.Contains(computingPackages, f.Pkg().Path()) &&
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

// addressed finds the local variables whose address is taken, or that a closure may set.
func addressed(c *checked, list []ast.Stmt) map[types.Object]bool {
	found := map[types.Object]bool{}
	note := func(e ast.Expr) {
		if id := c.root(e); id != nil {
			found[c.info.Uses[id]] = true
		}
	}
	for _, st := range list {
		ast.Inspect(st, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				c.setOutside(n, found)
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
	return found
}

// setOutside finds the variables from outside a closure that it sets.
func (c *checked) setOutside(lit *ast.FuncLit, found map[types.Object]bool) {
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		for _, e := range setBy(n) {
			if id := c.root(e); id != nil {
				if o := c.info.Uses[id]; o != nil && !declaredIn(o, lit) {
					found[o] = true
				}
			}
		}
		return true
	})
}

// findDoors finds the variables of earlier cells that may change through another one of those: by a pointer, or by a
// function that has captured it.
func (a *assembly) findDoors() map[string]bool {
	restored := map[string]types.Type{}
	for _, name := range a.r.Restores {
		if o := a.user.pkg.Scope().Lookup(name); o != nil && o.Type() != nil {
			restored[name] = o.Type()
		}
	}
	found := map[string]bool{}
	for name, to := range restored {
		for _, door := range restored {
			found[name] = found[name] || opens(door, to, map[types.Type]bool{})
		}
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
