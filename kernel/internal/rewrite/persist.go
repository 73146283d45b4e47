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

	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/kernel/persist"
)

// begin are the statements with which a program begins: they make the types and functions known that kept values are
// made of, and restore the variables that it needs. They are empty if the program has nothing to do with kept values.
func (a *assembly) begin() string {
	k := &knowledge{a, nil, maps.Clone(a.funcs), maps.Clone(a.shared)}
	pairs, settings := k.restore(), a.settings()
	if a.r.Keeps = len(pairs) > 0 || len(settings) > 0 || len(a.defs) > 0 || a.stateful(); !a.r.Keeps {
		if a.r.effects.goroutines {
			return "defer " + persistName + ".Goroutines()()"
		}
		return ""
	}
	k.declarations()
	known := k.calls
	for _, v := range sortedKeys(k.shared) {
		source := a.n.localize(v)
		if strings.HasSuffix(v, "()") { // it returns the pointer
			source = strings.TrimPrefix(source, "&")
		}
		known = append(known, fmt.Sprintf("%s.Same(%q, %s)", persistName, v, source))
	}
	for id, f := range k.funcs {
		if f != "" {
			known = append(known, fmt.Sprintf("%s.Fn(%q, %s)", persistName, id, f))
		}
		if strings.HasPrefix(id, "main.") {
			a.r.values = append(a.r.values, f)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, call := range known {
		if telling.MatchString(call) {
			a.r.tells = append(a.r.tells, call)
		}
	}
	if a.need[cellstate.FlagsName] {
		known = append(known, persistName+".FlagSets()")
	}
	args := append([]string{fmt.Sprint(a.src.Cell)}, pairs...)
	known = append(known, "defer "+persistName+".Begin("+strings.Join(args, ", ")+")()")
	known = append(known, settings...)
	if a.manyDefs() {
		known = append(known, fmt.Sprintf("%s.Defs(%s[:], %s[:]...)", persistName, a.ownName(defsName), a.ownName(varsName)))
	}
	return strings.Join(known, "; ")
}

// knowledge is what a program tells package persist before it restores values.
type knowledge struct {
	*assembly
	calls  []string          // of functions of package persist
	funcs  map[string]string // by identity, how the program writes them
	shared map[string]bool   // variables of packages into whose memory values may point
}

// restore notes what the values are made of that the program restores. It returns the arguments that name these.
func (k *knowledge) restore() (pairs []string) {
	m := k.account()
	groups := map[int]bool{}
	for _, name := range sortedKeys(k.need) {
		target := k.restored(name)
		if target == "" {
			continue
		}
		label := name
		if !k.named[name] || k.sharesWhatItAssigns(name) { // it only shares memory with one that is, or is to get another value
			label = "~" + name
		}
		pairs = append(pairs, fmt.Sprintf("%q, &%s", label, target))
		k.r.Restores = append(k.r.Restores, name)
		if v, _ := m.value(name); !groups[v.Group] {
			groups[v.Group] = true
			k.group(m.Groups[v.Group])
		}
	}
	return pairs
}

// group notes what the values of a group are made of.
func (k *knowledge) group(g persist.Group) {
	for _, t := range g.Regs {
		if k.declared(t) {
			k.calls = append(k.calls, fmt.Sprintf("%s.Reg[%s]()", persistName, k.n.localize(t)))
		}
	}
	for _, x := range g.Links {
		k.calls = append(k.calls, fmt.Sprintf("%s.Link(%s)", persistName, k.n.localize(x)))
	}
	for _, f := range g.Funcs {
		if id, args, ok := strings.Cut(f, "["); ok {
			if k.n.decls[literalName+id] != nil && k.declared(args) {
				k.instance(id, strings.TrimSuffix(args, "]"))
			}
		} else if i := strings.LastIndexByte(f, '.'); i >= 0 {
			k.funcs[f] = k.function(f[:i], f[i+1:])
		}
	}
	for _, v := range g.Shared {
		name := strings.TrimSuffix(strings.TrimPrefix(v, "&"), "()")
		if i := strings.LastIndexByte(name, '.'); i >= 0 && k.function(name[:i], name[i+1:]) != "" {
			k.shared[v] = true
		}
	}
}

// declarations notes what values may come to be made of that the program has.
func (k *knowledge) declarations() {
	for i := range k.g.reached {
		d := k.g.parts[i].decl
		if d == nil {
			continue
		}
		maps.Copy(k.funcs, d.funcs)
		maps.Copy(k.shared, d.shared)
		if d.text != nil && !d.generic {
			k.calls = append(k.calls, knownLiteral(d.key))
		}
		if d.tok == token.TYPE {
			k.declaredTypes(k.g.nodes[i])
		}
	}
	for _, l := range k.literals {
		if !l.idle && len(l.params) == 0 {
			k.calls = append(k.calls, knownLiteral(literalName+l.id))
		}
	}
	for _, path := range k.g.imports {
		k.sentinels(path)
		if path == plotPath {
			k.sentinels(fontPath)
		}
	}
}

// instance notes a literal of a generic function, for types as package persist writes them.
func (k *knowledge) instance(id, args string) {
	args = k.n.localize(args)
	k.calls = append(k.calls, fmt.Sprintf("%s.LitOf(%q, %s.Maker{%s%s[%s], (func(%s))(nil)})", persistName, id, persistName, literalName, id, args, args))
}

// declaredTypes notes the types that a declaration of the cells declares.
func (k *knowledge) declaredTypes(nodes []ast.Node) {
	for _, n := range nodes {
		gd, ok := n.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, sp := range gd.Specs {
			if sp, ok := sp.(*ast.TypeSpec); ok && sp.TypeParams == nil && !sp.Assign.IsValid() && sp.Name.Name != "_" {
				if o := k.g.c.pkg.Scope().Lookup(sp.Name.Name); o == nil || isConstraint(o.Type()) {
					continue
				}
				k.calls = append(k.calls, fmt.Sprintf("%s.Reg[%s]()", persistName, sp.Name.Name))
			}
		}
	}
}

// sentinels notes the exported variables of a package that programs compare with: errors and pointers.
func (k *knowledge) sentinels(path string) {
	p, err := k.n.packages.Import(path)
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
			k.shared[path+"."+name] = true
		}
	}
}

// telling are calls to package persist that are useless in a process that has made them before.
var telling = regexp.MustCompile(`^` + persistName + `\.(Same\(|Reg\[|Lit\()`)

// restored is the variable of the program into which a kept value goes; "" if there is none, or if the cell defines it
// again before any use.
func (a *assembly) restored(name string) string {
	_, kept := a.account().value(name)
	old, was := a.s.vars[name]
	if !kept || !was {
		return ""
	}
	if o := a.old[name]; o != "" {
		return o
	}
	if a.types[name].typ != "" && !a.g.before[name] && !a.g.outside[name] && !a.sharesWhatItAssigns(name) {
		return ""
	}
	if now, still := a.n.vars[name]; !still || now.typ != old.typ || now.hidden != old.hidden || slices.Contains(a.r.Forget, name) {
		return ""
	}
	return old.source(name)
}

// sharesWhatItAssigns reports whether the cell assigns to an earlier variable whose value it does not use, but whose
// memory others see. A variable that is not shared may as well be new.
func (a *assembly) sharesWhatItAssigns(name string) bool {
	v, _ := a.account().value(name)
	return a.assigned[name] && !a.g.before[name] && !a.g.outside[name] && len(a.account().Groups[v.Group].Vars) != 1
}

func knownLiteral(name string) string {
	return fmt.Sprintf("%s.Lit(%q, %s)", persistName, strings.TrimPrefix(name, literalName), name)
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
		if name == "os.Stdin" { // see redirect
			names[showPath+".Stdin"] = true
		}
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

// isConstraint reports whether an interface can't be the type of a variable.
func isConstraint(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && !i.IsMethodSet()
}

// function writes a function or variable of a package, or "" if it is not there any more.
func (k *knowledge) function(path, name string) string {
	if !token.IsExported(name) && path != "main" {
		return ""
	}
	if path == "main" {
		if d := k.n.decls[name]; d == nil || d.tok != token.FUNC {
			return ""
		}
		return name
	}
	p, err := k.n.packages.Import(path)
	if err != nil || p.Scope().Lookup(name) == nil {
		return ""
	}
	return k.n.alias(path, p.Name()) + "." + name
}

// declared reports whether the cells' own types in a type's source still exist.
func (k *knowledge) declared(t string) bool {
	for _, m := range qualified.FindAllString(t, -1) {
		if name, ok := strings.CutPrefix(m, "main."); ok {
			if d := k.n.decls[name]; d == nil || d.tok != token.TYPE {
				return false
			}
		}
	}
	return true
}

// stateful reports whether the program uses a package whose own state is kept.
func (a *assembly) stateful() bool {
	if a.account().Process() {
		return true
	}
	for _, path := range a.g.imports {
		if changing[path] || a.n.packages.Stateful(path) {
			return true
		}
	}
	return false
}

// changing are the packages through which a cell changes what package persist keeps of a process.
var changing = map[string]bool{"os": true, "log": true, "time": true, "runtime": true, "runtime/debug": true, "syscall": true}

// pollLoops lets an interrupt end a loop with the values kept. Inner loops that call nothing are left alone: a
// measurement should measure the user's code.
func (a *assembly) pollLoops(c *checked, root ast.Node) {
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
				a.insert(c, body.Lbrace+1, persistName+".Poll(); ")
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
