package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A definition is a top-level variable that the cell defines.
type definition struct {
	name string
	obj  types.Object
	stmt int // index of its statement among the cell's
}

// definitions finds the top-level variables of the cell.
func (w *work) definitions() []definition {
	var ds []definition
	note := func(id *ast.Ident, stmt int) {
		if obj := w.user.info.Defs[id]; obj != nil && id.Name != "_" && obj.Type() != nil {
			ds = append(ds, definition{id.Name, obj, stmt})
		}
	}
	for i, st := range w.body {
		switch st := unlabeled(st).(type) {
		case *ast.AssignStmt:
			if st.Tok == token.DEFINE {
				for _, l := range st.Lhs {
					if id, ok := l.(*ast.Ident); ok {
						note(id, i)
					}
				}
			}
		case *ast.DeclStmt:
			if g, ok := st.Decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, sp := range g.Specs {
					for _, id := range sp.(*ast.ValueSpec).Names {
						note(id, i)
					}
				}
			}
		}
	}
	return ds
}

// unlabeled is the statement without its labels.
func unlabeled(st ast.Stmt) ast.Stmt {
	for label, ok := st.(*ast.LabeledStmt); ok; label, ok = st.(*ast.LabeledStmt) {
		st = label.Stmt
	}
	return st
}

// A hoister makes variables of a cell those of the program's package.
type hoister struct {
	*work
	ds      []definition
	objects map[string]types.Object // of those that become package-level
}

// hoist decides which of the definitions become package-level, with which types, and edits their statements. The
// others stay variables of main: their type can't be written outside its package.
func (w *work) hoist(ds []definition) {
	p := &hoister{work: w, ds: ds, objects: map[string]types.Object{}}
	w.types, w.local = map[string]variable{}, map[string]string{}
	for _, d := range p.ds {
		t := p.typeOf(d)
		typ, ok := p.writeType(t)
		why := ""
		switch {
		case t == types.Typ[types.Invalid]:
			why = "its type is one of C's: convert it, as in x := int(C.f()), or declare it with its type"
		case Reserved(d.name):
			p.fail(p.at(p.user, d.obj.Pos()), reservedMsg(d.name), "choose another name")
			return
		case !ok:
			why = "its type " + types.TypeString(d.obj.Type(), types.RelativeTo(p.user.pkg)) + " can't be named outside its package or function"
		case p.s.unkept[d.name] != "":
			why = p.s.unkept[d.name]
		}
		if why != "" {
			if p.local[d.name] == "" {
				p.keepLocal(d.name, why)
			}
			continue
		}
		v := variable{typ: typ, shown: types.TypeString(t, shownPackage), types: mainTypes(t)}
		switch {
		case types.Universe.Lookup(d.name) != nil || d.name == "main" || d.name == "init":
			v.hidden = true
			if types.Universe.Lookup(d.name) != nil {
				p.note("name "+d.name, "%s is a variable from here on. Inside functions, and where a variable can't be meant, it is still Go's own; %%rm %s brings that back", d.name, d.name)
			}
		case p.user.used[d.name] != "" && p.user.used[d.name] != helpers[d.name] || p.s.imports[d.name] != "" || p.imported[d.name]:
			if p.namesPackage(d.name) || p.s.imports[d.name] != "" || p.imported[d.name] {
				p.noteShadow(d.name)
				p.shadowPackage(d.name)
			}
		case common[d.name]:
			if _, was := p.s.vars[d.name]; !was {
				p.noteShadow(d.name)
			}
		}
		p.types[d.name] = v
		p.objects[d.name] = d.obj
	}
	p.stayTogether()
	p.assignEarlier()
	for _, d := range p.ds {
		if p.local[d.name] != "" {
			delete(p.types, d.name)
			continue
		}
		p.global[d.obj] = p.types[d.name].source(d.name)
		p.defs = append(p.defs, d)
	}
	p.renameOld()
	for i, st := range p.body {
		switch st := unlabeled(st).(type) {
		case *ast.AssignStmt:
			if st.Tok != token.DEFINE {
				break
			}
			if names := p.localNames(i); len(names) > 0 {
				p.declareLocally(st, identifiers(st.Lhs), names)
				break
			}
			p.replace(p.user, st.TokPos, st.TokPos+2, " =")
		case *ast.DeclStmt:
			g, ok := st.Decl.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				break
			}
			if names := p.localNames(i); len(names) > 0 {
				p.declareLocally(st, g.Specs[0].(*ast.ValueSpec).Names, names)
				break
			}
			p.assign(g)
		}
	}
	p.renameHidden()
}

// common are the packages whose names most people mean as packages.
var common = map[string]bool{"fmt": true, "math": true, "os": true, "strings": true, "time": true, "errors": true, "slices": true, "strconv": true, "tensor": true}

// shownPackage writes a type's package for a reader.
func shownPackage(p *types.Package) string {
	if p.Path() == "main" {
		return ""
	}
	return p.Name()
}

// keepLocal leaves a variable in main, and says why.
func (p *hoister) keepLocal(name, why string) {
	p.local[name] = fmt.Sprintf("%s is not remembered by later cells: %s", name, why)
	p.note("", "%s", p.local[name])
}

// assignEarlier finds the variables of earlier cells to which := assigns, as it does in Go where it defines another one
// at the same time and the type is the same: pointers and closures see the new value. A := that ran before defines
// again what it defined then, and assigns to what it assigned to.
func (p *hoister) assignEarlier() {
	p.assigned = map[string]bool{}
	for i, st := range p.body {
		if a, ok := unlabeled(st).(*ast.AssignStmt); !ok || a.Tok != token.DEFINE {
			continue
		}
		var fresh, earlier, beside []string
		for _, d := range p.ds {
			if d.stmt != i {
				continue
			}
			now := p.types[d.name]
			if old, was := p.s.vars[d.name]; was && p.local[d.name] == "" && old.typ == now.typ && old.hidden == now.hidden {
				earlier = append(earlier, d.name)
				beside = append(beside, old.beside...)
			} else {
				fresh = append(fresh, d.name)
			}
		}
		if len(fresh) == 0 {
			fresh, earlier = earlier, slices.DeleteFunc(slices.Clone(earlier), func(n string) bool { return !slices.Contains(beside, n) })
		}
		for _, name := range earlier {
			p.assigned[name] = true
			v := p.types[name]
			v.beside = p.s.vars[name].beside
			p.types[name] = v
		}
		for _, name := range fresh {
			if v, ok := p.types[name]; ok && !p.assigned[name] {
				v.beside = earlier
				p.types[name] = v
			}
		}
	}
}

// stayTogether leaves the variables of a var (...) of several lines local if one of them stays so: its lines may use
// each other.
func (p *hoister) stayTogether() {
	for i, st := range p.body {
		declared, ok := unlabeled(st).(*ast.DeclStmt)
		if !ok || len(declared.Decl.(*ast.GenDecl).Specs) == 1 {
			continue
		}
		local := p.localNames(i)
		for _, d := range p.ds {
			if d.stmt == i && len(local) > 0 && p.local[d.name] == "" {
				p.keepLocal(d.name, "it is declared together with "+local[0])
			}
		}
	}
}

// declareLocally leaves a declaration, some of whose variables stay local, as it is; the values of the others come by
// way of names of ours.
func (p *hoister) declareLocally(st ast.Stmt, all []*ast.Ident, local []string) {
	end := "; _ = " + strings.Join(local, "; _ = ")
	for _, id := range all {
		if id.Name != "_" && p.local[id.Name] == "" {
			own := ownPrefix + "_" + id.Name
			p.replace(p.user, id.Pos(), id.End(), own)
			end += "; " + p.types[id.Name].source(id.Name) + " = " + own
		}
	}
	p.after(p.user, st, end)
}

// identifiers are the names on the left of :=.
func identifiers(left []ast.Expr) []*ast.Ident {
	ids := make([]*ast.Ident, len(left))
	for i, l := range left {
		ids[i] = l.(*ast.Ident) // the compiler has seen to it
	}
	return ids
}

// localNames are the variables of a statement that stay local.
func (p *hoister) localNames(stmt int) (names []string) {
	for _, d := range p.ds {
		if d.stmt == stmt && p.local[d.name] != "" {
			names = append(names, d.name)
		}
	}
	return names
}

// assign turns a var declaration into assignments, in place.
func (p *hoister) assign(g *ast.GenDecl) {
	p.blank(p.user, g.TokPos, g.TokPos+3)
	if g.Lparen.IsValid() {
		p.blank(p.user, g.Lparen, g.Lparen+1)
		p.blank(p.user, g.Rparen, g.Rparen+1)
	}
	for _, sp := range g.Specs {
		v := sp.(*ast.ValueSpec)
		if len(v.Values) == 0 {
			var zero []string
			for _, id := range v.Names {
				if id.Name != "_" {
					zero = append(zero, fmt.Sprintf("%s = *new(%s)", p.types[id.Name].source(id.Name), p.types[id.Name].typ))
				}
			}
			p.replace(p.user, v.Pos(), v.End(), strings.Join(zero, "; "))
			continue
		}
		if v.Type == nil {
			continue
		}
		blank := true
		for _, id := range v.Names {
			blank = blank && id.Name == "_"
		}
		p.blank(p.user, v.Type.Pos(), v.Type.End())
		if blank && len(v.Values) == len(v.Names) { // var _ I = v asserts that v is an I
			for _, x := range v.Values {
				p.insert(p.user, x.Pos(), "("+p.user.source(v.Type)+")(")
				p.insert(p.user, x.End(), ")")
			}
		}
	}
}

// useUnused writes uses of variables that are declared and not used, by the places of their declarations: inside a
// statement of a cell such a variable is not a mistake worth stopping for. It removes from unused those that it
// can write.
func (w *work) useUnused(c *checked, unused map[token.Pos]bool) {
	if len(unused) == 0 {
		return
	}
	ast.PreorderStack(c.main, nil, func(n ast.Node, stack []ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || !unused[id.Pos()] {
			return true
		}
		use := " _ = " + id.Name + "; "
		for i := len(stack) - 1; i > 0; i-- {
			switch at, behind := useAt(stack[i], stack[i-1]); {
			case !at.IsValid():
				continue
			case behind:
				w.insert(c, at, "; _ = "+id.Name)
			default:
				w.insert(c, at, use)
			}
			delete(unused, id.Pos())
			break
		}
		return true
	})
}

// useAt says where a use of a variable that is declared in n can be written: after that statement, or at the beginning
// of the block that belongs to it. It is invalid if n has no such place.
func useAt(n, parent ast.Node) (at token.Pos, behind bool) {
	first := func(b *ast.BlockStmt) token.Pos {
		if len(b.List) == 0 {
			return token.NoPos
		}
		return b.List[0].(*ast.CaseClause).Colon + 1
	}
	switch n := n.(type) {
	case *ast.AssignStmt, *ast.DeclStmt:
		switch p := parent.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.LabeledStmt:
			return n.End(), true
		case *ast.CommClause:
			if p.Comm == n {
				return p.Colon + 1, false
			}
			return n.End(), true
		}
	case *ast.ForStmt:
		return n.Body.Lbrace + 1, false
	case *ast.RangeStmt:
		return n.Body.Lbrace + 1, false
	case *ast.IfStmt:
		return n.Body.Lbrace + 1, false
	case *ast.SwitchStmt:
		return first(n.Body), false
	case *ast.TypeSwitchStmt:
		return first(n.Body), false
	}
	return token.NoPos, false
}
