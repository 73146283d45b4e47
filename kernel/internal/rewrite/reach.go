package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A graph is a checked program, seen as its package-level declarations and what each of them mentions.
type graph struct {
	w       *work
	c       *checked
	parts   []part
	nodes   map[int][]ast.Node // the declarations of a part
	methods map[int][]int      // of a part that declares types: the parts with their methods

	reached map[int]bool
	todo    []ast.Node
	imports map[string]string // that the reached declarations use: name to path

	mentions map[string]bool // variables that the reached declarations name
	outside  map[string]bool // those among them that more than the cell's own statements name
	before   map[string]bool // variables of earlier cells that the cell's own statements name

	standIns map[*decl]*Text // for makers of closures that don't compile any more
}

func (w *work) graph(c *checked) *graph {
	g := &graph{w: w, c: c, parts: w.parts[c], nodes: map[int][]ast.Node{}, methods: map[int][]int{}, reached: map[int]bool{}, imports: map[string]string{}, mentions: map[string]bool{}, outside: map[string]bool{}, before: w.usedBefore(), standIns: map[*decl]*Text{}}
	for _, d := range c.file.Decls {
		if gd, ok := d.(*ast.GenDecl); ok && gd.Tok == token.IMPORT {
			continue
		}
		i := g.part(d.Pos())
		if i < 0 {
			continue
		}
		g.nodes[i] = append(g.nodes[i], d)
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv != nil {
			if f, ok := c.info.Defs[fd.Name].(*types.Func); ok {
				if t := receiverNamed(f); t != nil {
					if at := g.part(t.Obj().Pos()); at >= 0 {
						g.methods[at] = append(g.methods[at], i)
					}
				}
			}
		}
	}
	for i := range g.parts {
		g.standIn(i)
	}
	return g
}

// standIn writes the maker of an earlier cell's closure whose body does not compile any more, since a name that it
// uses was removed, with a body that says so. Then whatever holds the closure can be used as before: only those who
// call it learn what it lacks.
func (g *graph) standIn(i int) {
	d := g.parts[i].decl
	if d == nil || d.text == nil || g.w.broken[d] == nil || len(g.nodes[i]) != 1 {
		return
	}
	maker, ok := g.nodes[i][0].(*ast.FuncDecl)
	if !ok || len(maker.Body.List) != 1 {
		return
	}
	ret, ok := maker.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return
	}
	lit, ok := ret.Results[0].(*ast.FuncLit)
	if !ok {
		return
	}
	start := g.parts[i].lo
	lo, hi := g.c.offset(lit.Body.Lbrace)+1, g.c.offset(lit.Body.Rbrace)
	for _, e := range g.c.errs {
		if off := g.c.offset(e.Pos); off >= start && off < g.parts[i].hi && (off < lo || off >= hi) {
			return // its type is gone, or that of a variable that it captures
		}
	}
	first := g.w.broken[d][0]
	why := fmt.Sprintf("cell [%d], line %d: %s", first.Pos.Cell, first.Pos.Line, first.Msg)
	if name, ok := strings.CutPrefix(first.Msg, "undefined: "); ok && g.w.n.gone[name] != "" {
		why += "; " + g.w.n.gone[name]
	}
	body, t := d.text.String(), &Text{}
	t.Inject(body[:lo-1-start])
	if src, off, exact := g.c.user(lit.Body.Lbrace); exact { // so that a trace names the place
		t.User(src, off, off+1)
	} else {
		t.Inject("{")
	}
	t.Inject(" panic(", strconv.Quote(why), ") ", body[hi-start:])
	g.standIns[d] = t
	g.nodes[i] = []ast.Node{maker.Type, lit.Type}
}

func receiverNamed(f *types.Func) *types.Named {
	r := f.Signature().Recv()
	if r == nil {
		return nil
	}
	t := types.Unalias(r.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, _ := t.(*types.Named)
	return n
}

// part is the index of the part in which a place of the program lies, or -1.
func (g *graph) part(p token.Pos) int {
	if !p.IsValid() || p < g.c.file.FileStart || p >= g.c.file.FileEnd {
		return -1
	}
	return partAt(g.parts, g.c.offset(p))
}

// reach adds a part.
func (g *graph) reach(i int) {
	if i < 0 || g.reached[i] {
		return
	}
	g.reached[i] = true
	g.todo = append(g.todo, g.nodes[i]...)
	for _, m := range g.methods[i] {
		g.reach(m)
	}
}

// reachName adds what declares a name at the package level. It reports whether there is such a thing.
func (g *graph) reachName(name string) bool {
	o := g.c.pkg.Scope().Lookup(name)
	if o == nil {
		return false
	}
	g.reach(g.part(o.Pos()))
	return true
}

// reachTypes adds the cells' own types in a text of package persist's.
func (g *graph) reachTypes(text string) {
	for _, q := range qualified.FindAllString(text, -1) {
		if name, ok := strings.CutPrefix(q, "main."); ok {
			g.reachName(name)
		}
	}
}

// walk adds all that the nodes reached so far mention.
func (g *graph) walk() {
	for len(g.todo) > 0 {
		n := g.todo[len(g.todo)-1]
		g.todo = g.todo[:len(g.todo)-1]
		mention := func(name string) {
			g.mentions[name] = true
			if n != g.c.main {
				g.outside[name] = true
			}
		}
		ast.Inspect(n, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || g.w.dropped[id] {
				return true
			}
			switch o := g.c.info.Uses[id].(type) {
			case nil:
			case *types.PkgName:
				g.imports[o.Name()] = o.Imported().Path()
			case *types.Func:
				switch {
				case o.Pkg() != g.c.pkg: // places of other packages are in files of their own
				case programName(o) != o.Name():
					g.reachName(programName(o))
				default:
					g.reach(g.part(o.Origin().Pos()))
				}
			case *types.Var:
				if name := g.w.global[o]; name != "" {
					mention(strings.TrimPrefix(name, HiddenPrefix))
					g.reachName(name)
				} else if o.Parent() == g.c.pkg.Scope() {
					mention(o.Name())
					g.reach(g.part(o.Pos()))
				}
			default:
				if o.Pkg() == g.c.pkg {
					g.reach(g.part(o.Pos()))
				}
			}
			return true
		})
	}
}

// inspect looks at all that the program has: its main, and the declarations that are reached.
func (g *graph) inspect(f func(ast.Node) bool) {
	ast.Inspect(g.c.main, f)
	for i := range g.reached {
		for _, n := range g.nodes[i] {
			ast.Inspect(n, f)
		}
	}
}

// vars returns the names of the variables that are reached.
func (g *graph) vars() map[string]bool {
	names := map[string]bool{}
	for i := range g.reached {
		if p := g.parts[i]; p.decl == nil {
			names[p.name] = true
		}
	}
	return names
}

// isTest reports whether a declaration is one that go test runs.
func isTest(d *decl) bool {
	for _, kind := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
		if rest, ok := strings.CutPrefix(d.key, kind); ok && d.tok == token.FUNC && (rest == "" || !unicode.IsLower(rune(rest[0]))) && !strings.Contains(rest, ".") {
			return true
		}
	}
	return false
}

// findNeeded finds everything that the cell can reach: what it mentions, the variables that share memory with those it
// mentions, and all that is needed to make these values.
func (a *assembly) findNeeded() {
	m := a.account()
	own := slices.ContainsFunc(a.decls, isTest) && a.testArgs == "" // as with GoNB, which runs the cell's own tests if it is told nothing else
	for i, p := range a.g.parts {
		if d := p.decl; d != nil && (d == a.main || isSetup(d) || d.src == a.src && (isInit(d) || a.tests || a.s.alone) || a.tests && !own && isTest(d) || a.s.whole && a.broken[d] == nil && !(a.tests && isTest(d))) {
			a.g.reach(i)
		}
	}
	a.g.todo = append(a.g.todo, a.g.c.main)
	if a.call != "" {
		a.g.reachName(a.call)
	}
	for _, v := range a.types {
		for _, t := range v.types {
			a.g.reachName(t)
		}
	}
	done := map[string]bool{}
	a.named = map[string]bool{}
	company := map[string]bool{} // of a mentioned variable
	whole := map[int]bool{}      // groups of which all is reached
	a.reachSettings(company)
	for name := range a.assigned {
		company[name] = true
		a.g.reachName(a.types[name].source(name))
	}
	for {
		a.g.walk()
		a.need = a.g.vars()
		for name, old := range a.old {
			if a.need[old] {
				a.need[name] = true
			}
		}
		for name := range a.need {
			if !company[name] || a.g.mentions[name] {
				a.named[name] = true
			}
		}
		more := false
		for name := range a.need {
			if done[name] || a.restored(name) == "" {
				continue
			}
			v, _ := m.value(name)
			done[name], more = true, true
			if whole[v.Group] {
				continue
			}
			whole[v.Group] = true
			group := m.Groups[v.Group]
			for _, other := range group.Vars {
				if old, known := a.s.vars[other]; known {
					company[other] = true
					a.g.reachName(old.source(other))
				}
			}
			for _, t := range group.Regs {
				a.g.reachTypes(t)
			}
			for _, f := range group.Funcs {
				f, args, _ := strings.Cut(f, "[")
				a.g.reachTypes(args)
				if name, ok := strings.CutPrefix(f, "main."); ok {
					a.g.reachName(name)
				} else {
					a.g.reachName(literalName + f)
				}
			}
		}
		if !more {
			a.addSettings()
			return
		}
	}
}

// mainTypes returns the names of the cells' own types that t is made of, in any depth.
func mainTypes(t types.Type) []string {
	var names []string
	seen := map[types.Type]bool{}
	var walk func(types.Type)
	walk = func(t types.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		parts := components(t)
		if named, ok := t.(interface{ Obj() *types.TypeName }); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "main" {
			names = append(names, named.Obj().Name())
			parts = append(parts, t.Underlying())
		}
		if a, ok := t.(*types.Alias); ok {
			parts = append(parts, types.Unalias(a))
		}
		for _, part := range parts {
			walk(part)
		}
	}
	walk(t)
	slices.Sort(names)
	return slices.Compact(names)
}
