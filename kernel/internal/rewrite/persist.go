package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// begin are the statements with which a program begins: they make the types and functions known that kept values are
// made of, and restore the variables in need, of which the program names those in mentioned. They are empty if the
// program has nothing to do with kept values.
func (w *work) begin(g *graph, need, mentioned map[string]bool) string {
	m := w.kept()
	var pairs, known []string
	groups := map[int]bool{}
	funcs, shared := map[string]string{}, maps.Clone(w.shared)
	for id, f := range w.funcs {
		funcs[id] = f
	}
	for _, name := range sortedKeys(need) {
		target := w.restored(g, m, name)
		if target == "" {
			continue
		}
		v, _ := m.kept(name)
		label := name
		if !mentioned[name] || w.sharesWhatItAssigns(g, m, name) { // it only shares memory with one that is, or is to get another value
			label = "~" + name
		}
		pairs = append(pairs, fmt.Sprintf("%q, &%s", label, target))
		w.r.Restores = append(w.r.Restores, name)
		if group := m.Groups[v.Group]; !groups[v.Group] {
			groups[v.Group] = true
			for _, t := range group.Regs {
				if w.declared(t) {
					known = append(known, fmt.Sprintf("%s.Reg[%s]()", persistName, w.n.localise(t)))
				}
			}
			for _, x := range group.Links {
				known = append(known, fmt.Sprintf("%s.Link(%s)", persistName, w.n.localise(x)))
			}
			for _, f := range group.Funcs {
				if id, args, ok := strings.Cut(f, "["); ok {
					if w.n.decls[literalName+id] != nil && w.declared(args) {
						known = append(known, w.knownInstance(id, strings.TrimSuffix(args, "]")))
					}
				} else if i := strings.LastIndexByte(f, '.'); i >= 0 {
					funcs[f] = w.function(f[:i], f[i+1:])
				}
			}
			for _, v := range group.Shared {
				name := strings.TrimSuffix(strings.TrimPrefix(v, "&"), "()")
				if i := strings.LastIndexByte(name, '.'); i >= 0 && w.function(name[:i], name[i+1:]) != "" {
					shared[v] = true
				}
			}
		}
	}
	w.r.Keeps = len(pairs) > 0 || len(w.defs) > 0 || w.stateful(g)
	if !w.r.Keeps {
		if w.r.effects.goroutines {
			return "defer " + persistName + ".Goroutines()()"
		}
		return ""
	}
	for i := range g.reached {
		d := g.parts[i].decl
		if d == nil {
			continue
		}
		for id, f := range d.funcs {
			funcs[id] = f
		}
		maps.Copy(shared, d.shared)
		if d.text != nil && !d.generic {
			known = append(known, w.knownLiteral(d.key))
		}
		if d.tok == token.TYPE {
			known = append(known, w.knownTypes(g, g.nodes[i])...)
		}
	}
	for _, l := range w.literals {
		if !l.idle && len(l.params) == 0 {
			known = append(known, w.knownLiteral(literalName+l.id))
		}
	}
	for _, path := range g.imports {
		w.sentinels(path, shared)
		if path == plotPath {
			w.sentinels(fontPath, shared)
		}
	}
	for _, v := range sortedKeys(shared) {
		source := w.n.localise(v)
		if strings.HasSuffix(v, "()") { // it returns the pointer
			source = strings.TrimPrefix(source, "&")
		}
		known = append(known, fmt.Sprintf("%s.Same(%q, %s)", persistName, v, source))
	}
	for id, f := range funcs {
		if f != "" {
			known = append(known, fmt.Sprintf("%s.Fn(%q, %s)", persistName, id, f))
		}
		if strings.HasPrefix(id, "main.") {
			w.r.values = append(w.r.values, f)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, call := range known {
		if telling.MatchString(call) {
			w.r.tells = append(w.r.tells, call)
		}
	}
	args := append([]string{fmt.Sprint(w.src.Cell)}, pairs...)
	known = append(known, "defer "+persistName+".Begin("+strings.Join(args, ", ")+")()")
	if w.manyDefs() {
		known = append(known, fmt.Sprintf("%s.Defs(%s[:], %s[:]...)", persistName, w.ownName(defsName), w.ownName(varsName)))
	}
	return strings.Join(known, "; ")
}

// telling are calls of package persist that are of no use in a process that has done them before.
var telling = regexp.MustCompile(`^` + persistName + `\.(Same\(|Reg\[|Lit\()`)

// restored is the variable of the program into which a kept value goes; "" if there is none, or if the cell defines it
// again before any use.
func (w *work) restored(g *graph, m account, name string) string {
	_, kept := m.kept(name)
	old, was := w.s.vars[name]
	if !kept || !was {
		return ""
	}
	if o := w.old[name]; o != "" {
		return o
	}
	if w.types[name].typ != "" && !g.before[name] && !g.outside[name] && !w.sharesWhatItAssigns(g, m, name) {
		return ""
	}
	if now, still := w.n.vars[name]; !still || now.typ != old.typ || now.hidden != old.hidden || slices.Contains(w.r.Forget, name) {
		return ""
	}
	return old.source(name)
}

// sharesWhatItAssigns reports whether the cell assigns to an earlier variable whose value it does not use, but whose
// memory others see. One that nobody else sees may as well be new.
func (w *work) sharesWhatItAssigns(g *graph, m account, name string) bool {
	v, _ := m.kept(name)
	return w.assigned[name] && !g.before[name] && !g.outside[name] && len(m.Groups[v.Group].Vars) != 1
}

func (w *work) knownLiteral(name string) string {
	return fmt.Sprintf("%s.Lit(%q, %s)", persistName, strings.TrimPrefix(name, literalName), name)
}

// knownInstance makes a literal of a generic function known, for types as package persist writes them.
func (w *work) knownInstance(id, args string) string {
	args = w.n.localise(args)
	return fmt.Sprintf("%s.LitOf(%q, %s.Maker{%s%s[%s], (func(%s))(nil)})", persistName, id, persistName, literalName, id, args, args)
}

// knownTypes are the registrations of the types that a declaration of the cells declares.
func (w *work) knownTypes(g *graph, nodes []ast.Node) (regs []string) {
	for _, n := range nodes {
		gd, ok := n.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, sp := range gd.Specs {
			if sp, ok := sp.(*ast.TypeSpec); ok && sp.TypeParams == nil && !sp.Assign.IsValid() && sp.Name.Name != "_" {
				if o := g.c.pkg.Scope().Lookup(sp.Name.Name); o == nil || isConstraint(o.Type()) {
					continue
				}
				regs = append(regs, fmt.Sprintf("%s.Reg[%s]()", persistName, sp.Name.Name))
			}
		}
	}
	return regs
}

// sentinels adds the exported variables of a package that programs compare with: errors and pointers.
func (w *work) sentinels(path string, names map[string]bool) {
	p, err := w.n.packages.Import(path)
	if err != nil {
		return
	}
	if path == "unicode" {
		return // hundreds of tables: those that the cell names will do
	}
	for _, name := range p.Scope().Names() {
		v, ok := p.Scope().Lookup(name).(*types.Var)
		if !ok || !v.Exported() {
			continue
		}
		_, pointer := types.Unalias(v.Type()).(*types.Pointer)
		if pointer || types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
			names[path+"."+name] = true
		}
	}
}

// pointedInto finds the variables of packages into whose memory a pointer or slice may lead by what code does with
// them, as persist.Same names them: what it takes the address of, structs and arrays, and pointers; and those that are
// not exported, but to which a function such as log.Default returns a pointer.
func pointedInto(c *checked, root ast.Node) map[string]bool {
	names := map[string]bool{}
	add := func(x ast.Expr, all bool) {
		id := named(x)
		v, ok := c.info.Uses[id].(*types.Var)
		if id == nil || !ok || v.Pkg() == nil || v.Pkg() == c.pkg || v.Parent() != v.Pkg().Scope() || !v.Exported() {
			return
		}
		name := v.Pkg().Path() + "." + v.Name()
		switch v.Type().Underlying().(type) {
		case *types.Pointer:
			names[name] = true
		case *types.Struct, *types.Array:
			all = true
		}
		if all {
			names["&"+name] = true
		}
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				add(ast.Unparen(n.X), true)
			}
		case *ast.SelectorExpr:
			add(n, false)
		case *ast.CallExpr:
			if f, ok := c.info.Uses[named(n.Fun)].(*types.Func); ok && f.Pkg() != nil && f.Pkg() != c.pkg && returnsDefault(f) {
				names["&"+f.Pkg().Path()+"."+f.Name()+"()"] = true
			}
		}
		return true
	})
	if len(names) == 0 {
		return nil
	}
	return names
}

// returnsDefault reports whether a function of the standard library returns the same pointer each time, by what it is
// called. Calling it again has no other effect; of other packages' functions we can't be sure of that.
func returnsDefault(f *types.Func) bool {
	s := f.Signature()
	first, _, _ := strings.Cut(f.Pkg().Path(), "/")
	if strings.Contains(first, ".") || s.Recv() != nil || s.TypeParams().Len() > 0 || s.Params().Len() > 0 || s.Results().Len() != 1 {
		return false
	}
	_, pointer := types.Unalias(s.Results().At(0).Type()).(*types.Pointer)
	return pointer && (strings.HasPrefix(f.Name(), "Default") || strings.HasPrefix(f.Name(), "Std") || strings.HasPrefix(f.Name(), "Standard"))
}

// isConstraint reports whether an interface is none that a variable can have.
func isConstraint(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && !i.IsMethodSet()
}

// function writes a function or variable of a package, or "" if it is not there any more.
func (w *work) function(path, name string) string {
	if !token.IsExported(name) && path != "main" {
		return ""
	}
	if path == "main" {
		if d := w.n.decls[name]; d == nil || d.tok != token.FUNC {
			return ""
		}
		return name
	}
	p, err := w.n.packages.Import(path)
	if err != nil || p.Scope().Lookup(name) == nil {
		return ""
	}
	return w.n.alias(path, p.Name()) + "." + name
}

// declared reports whether the cells' own types in a type's source still exist.
func (w *work) declared(t string) bool {
	for _, m := range qualified.FindAllString(t, -1) {
		if name, ok := strings.CutPrefix(m, "main."); ok {
			if d := w.n.decls[name]; d == nil || d.tok != token.TYPE {
				return false
			}
		}
	}
	return true
}

// stateful reports whether the program uses a package whose own state is kept.
func (w *work) stateful(g *graph) bool {
	if w.kept().Process() {
		return true
	}
	for _, path := range g.imports {
		if settings[path] || w.n.packages.Stateful(path) {
			return true
		}
	}
	return false
}

// settings are the packages with which a cell changes what package persist keeps of a process.
var settings = map[string]bool{"os": true, "log": true, "time": true, "runtime": true, "runtime/debug": true, "syscall": true}

// pollLoops lets an interrupt end a loop with the values kept. Inner loops that call nothing are left alone: a
// measurement should measure the user's code.
func (w *work) pollLoops(c *checked, root ast.Node) {
	var visit func(n ast.Node, polled bool)
	visit = func(n ast.Node, polled bool) {
		ast.Inspect(n, func(m ast.Node) bool {
			var body *ast.BlockStmt
			switch m := m.(type) {
			case *ast.ForStmt:
				body = m.Body
			case *ast.RangeStmt:
				body = m.Body
			case *ast.GoStmt:
				return false
			}
			if body == nil || m == n {
				return true
			}
			if !polled || calls(body) {
				w.insert(c, body.Lbrace+1, persistName+".Poll(); ")
			}
			visit(m, true)
			return false
		})
	}
	visit(root, false)
}

// calls reports whether a block contains a call, or another loop.
func calls(b *ast.BlockStmt) (yes bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			yes = true
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); !ok || !pureBuiltin[id.Name] {
				yes = true
			}
		case *ast.UnaryExpr:
			yes = yes || n.Op == token.ARROW
		}
		return !yes
	})
	return yes
}

// pureBuiltin are calls that cost next to nothing.
var pureBuiltin = map[string]bool{"len": true, "cap": true, "min": true, "max": true, "float64": true, "float32": true, "int": true, "real": true, "imag": true,
	"uint8": true, "byte": true, "uint32": true, "uint64": true, "int64": true, "int32": true, "append": true}
