package rewrite

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// An assembly puts together the program of a cell once all of it is checked.
type assembly struct {
	mover
	g      *graph
	need   map[string]bool   // variables that the program has
	named  map[string]bool   // those of them that code names, and not only others that share memory with them
	funcs  map[string]string // functions that main mentions without calling them; see decl
	shared map[string]bool   // variables of packages that main uses; see decl
}

// compose writes the program.
func (w *work) compose() {
	g := w.graph(w.final)
	a := &assembly{mover: mover{work: w}, g: g, funcs: map[string]string{}, shared: map[string]bool{}}
	a.findNeeded()
	w.r.fields = w.fields
	w.r.Declares = a.declares()
	for i, p := range g.parts {
		if g.reached[i] && p.decl != nil && w.broken[p.decl] != nil && g.standIns[p.decl] == nil {
			w.r.Errors = append(w.r.Errors, w.broken[p.decl]...)
			return
		}
	}
	a.lookThrough()
	begin := ""
	switch {
	case w.s.alone:
		if a.echo(); len(w.r.Errors) > 0 {
			return
		}
		w.r.Earlier = w.old
	case !w.r.Wasm: // a page has neither a kernel nor kept values
		a.redirect()
		if a.echo(); len(w.r.Errors) > 0 {
			return
		}
		begin = a.begin()
		w.eachDecl(w.final, func(_ *decl, n ast.Node) { a.pollLoops(w.final, n) })
	}
	if w.r.Keeps {
		for _, st := range w.body {
			a.pollLoops(w.user, &ast.BlockStmt{List: []ast.Stmt{st}})
		}
	}
	if w.r.Steps = w.stepped(); w.r.Steps {
		plain := slices.Clone(w.edits)
		defer func() { // later cells have the declarations of this one without the calls that record steps
			w.edits = plain
			a.remember()
		}()
		begin += a.traceSteps()
	}
	makers := a.remember()
	if w.main != nil {
		w.main.edits = a.editsWithin(nil, w.main.lo, w.main.hi)
	}
	if a.runs() {
		a.write(begin, makers)
	}
}

// lookThrough notes the facts of the cell's statements and declarations, and moves their function literals.
func (a *assembly) lookThrough() {
	a.eachDecl(a.final, func(d *decl, n ast.Node) {
		before, reached := len(a.literals), a.g.reached[a.g.part(n.Pos())]
		a.moveLiterals(a.final, n)
		for _, l := range a.literals[before:] {
			l.idle = !reached
		}
		d.uses = append(d.uses, a.packageUses(a.final, n)...)
		d.funcs, d.shared, d.effects = a.mentioned(a.final, n), pointedInto(a.final, n), a.final.effects(n)
		if reached && !a.s.alone && !isSetup(d) {
			a.noteEnds(d.effects)
		}
	})
	for _, st := range a.body {
		a.moveLiterals(a.user, st)
		e := a.user.effects(st)
		if a.r.effects.add(e); !a.s.alone && !a.r.Wasm {
			a.noteEnds(e)
		}
		maps.Copy(a.funcs, a.mentioned(a.user, st))
		maps.Copy(a.shared, pointedInto(a.user, st))
	}
	for i, p := range a.g.parts {
		if a.g.reached[i] && p.decl != nil {
			a.r.effects.add(p.decl.effects)
		}
	}
}

// remember gives the cell's declarations their edits, and returns the makers of its literals that the program has.
func (a *assembly) remember() (makers []*decl) {
	for _, d := range a.decls {
		d.edits = a.editsWithin(nil, d.lo, d.hi)
	}
	for _, l := range a.literals {
		d := a.maker(l)
		a.n.decls[d.key] = d
		if !l.idle { // the types that it is made of would not be there
			makers = append(makers, d)
		}
	}
	return makers
}

// write writes the program, whose main begins with begin.
func (a *assembly) write(begin string, makers []*decl) {
	t := &Text{}
	if a.r.Wasm {
		t.Inject(wasmVars)
	}
	var tests []*decl
	for i, p := range a.g.parts {
		if d := p.decl; d != nil && a.g.reached[i] {
			if standIn := a.g.standIns[d]; standIn != nil {
				t.Append(standIn)
				continue
			}
			if now := a.n.decls[d.key]; now != nil && !isInit(d) {
				d = now // with its latest edits
			}
			if a.tests && isTest(d) {
				tests = append(tests, d)
			} else {
				d.emit(t)
			}
		}
	}
	slices.SortFunc(tests, func(x, y *decl) int { return strings.Compare(x.key, y.key) }) // GoNB's order
	for _, d := range slices.Concat(tests, makers) {
		d.emit(t)
	}
	a.variables(t)
	if a.tests {
		if a.testArgs == "" {
			a.r.Args = "-test.v"
			if slices.ContainsFunc(a.decls, func(d *decl) bool { return isTest(d) && strings.HasPrefix(d.key, "Benchmark") }) {
				a.r.Args += " -test.bench=."
			}
		}
		t.Inject("func init() {\n")
		a.mainBody(t, strings.Replace(begin, "defer "+persistName, persistName, 1))
		a.r.Keeps = false
	} else {
		t.Inject("func main() {\n")
		a.mainBody(t, begin)
	}
	t.Inject("}\n")
	a.finish(t)
}

// eachDecl calls f with the declarations of the cell, the user's main among them.
func (w *work) eachDecl(c *checked, f func(d *decl, n ast.Node)) {
	for _, n := range c.file.Decls {
		if d := w.declAt(c, c.offset(n.Pos())); d != nil && d.src == w.src && d.text == nil {
			f(d, n)
		}
	}
}

// eachPart calls f with the cell's declarations and statements, each as it is checked.
func (w *work) eachPart(f func(c *checked, n ast.Node)) {
	w.eachDecl(w.final, func(_ *decl, n ast.Node) { f(w.final, n) })
	for _, st := range w.body {
		f(w.user, st)
	}
}

// runs reports whether the cell does anything but declare.
func (a *assembly) runs() bool {
	if len(a.stmts) > 0 || a.call != "" || a.tests || a.s.alone {
		return true
	}
	return slices.ContainsFunc(a.decls, func(d *decl) bool { return isInit(d) || isSetup(d) })
}

// variables declares the variables that the program needs.
func (a *assembly) variables(t *Text) {
	for _, name := range sortedKeys(a.n.vars) {
		if v := a.n.vars[name]; a.need[name] || a.types[name].typ != "" {
			t.Inject("var ", v.source(name), " ", v.typ, "\n")
		}
	}
	for _, name := range sortedKeys(a.old) {
		t.Inject("var ", a.old[name], " ", a.s.vars[name].typ, "\n")
	}
	if a.manyDefs() {
		t.Inject(fmt.Sprintf("var %s [%d]bool\nvar %s = [...]any{\n", a.ownName(defsName), len(a.defs), a.ownName(varsName)))
		for k := range a.defs {
			t.Inject(a.definesAs(k), ",\n")
		}
		t.Inject("}\n")
	}
}

// A call to persist.Def for each of a thousand variables would take the compiler many times as long as the statements
// that define them. Programs with many say what they define by setting an element of an array.
const (
	mostDefs = 50
	defsName = ownPrefix + "Defs" // which are defined by now, and
	varsName = ownPrefix + "Vars" // what they are; the cell's number follows
)

func (a *assembly) manyDefs() bool { return len(a.defs) > mostDefs && !a.r.Wasm && !a.s.alone }

func (a *assembly) ownName(name string) string { return fmt.Sprint(name, a.src.Cell) }

// definesAs is a definition as package persist is told of it.
func (a *assembly) definesAs(k int) string {
	name := a.defs[k].name
	return fmt.Sprintf("%q, &%s", name, a.types[name].source(name))
}

// mainBody is the inside of main: restore, statements, registrations.
func (a *assembly) mainBody(t *Text, begin string) {
	if begin != "" {
		t.Inject(begin, "\n")
	}
	if a.speaksGoNB() { // which may stop listening before it has heard the last display
		t.Inject("defer ", a.n.alias("github.com/janpfeifer/gonb/gonbui", "gonbui"), ".Sync()\n")
	}
	parse := a.parsesFlags(t)
	declared := false
	var measured []string      // variables that are defined while the statements are measured
	defined := map[int][]int{} // by the statement
	for i, d := range a.defs {
		defined[d.stmt] = append(defined[d.stmt], i)
	}
	for i, it := range a.stmts {
		if !declared && it.kind != token.VAR {
			declared = true
			a.setUp(t)
			if a.measures() {
				t.Inject(a.n.alias(measurePath, "measure"), ".", a.measure, "(func() {\n")
			}
		}
		a.editsWithin(nil, it.lo, it.hi).apply(t, a.src, it.lo, it.hi)
		var defs []string
		for _, k := range defined[i] {
			switch {
			case !a.manyDefs():
				defs = append(defs, a.definesAs(k))
			case a.measures():
				measured = append(measured, a.definesAs(k))
			case strings.Contains(a.code[it.lo:it.hi], "//"):
				t.Inject("\n", a.ownName(defsName), "[", strconv.Itoa(k), "] = true")
			default: // on the same line, so that the next one is where the compiler expects it
				t.Inject("; ", a.ownName(defsName), "[", strconv.Itoa(k), "] = true")
			}
		}
		t.Inject("\n")
		if a.measures() {
			measured = append(measured, defs...)
			defs = nil
		}
		if len(defs) > 0 && !a.r.Wasm && !a.s.alone {
			t.Inject(persistName, ".Def(", strings.Join(defs, ", "), ")\n")
		}
		if parse == i {
			t.Inject(a.n.alias("flag", "flag"), ".Parse()\n")
		}
	}
	if declared && a.measures() {
		t.Inject("})\n")
	}
	if len(measured) > 0 {
		t.Inject(persistName, ".Def(", strings.Join(measured, ", "), ")\n")
	}
	if !declared {
		a.setUp(t)
	}
	if a.call != "" {
		t.Inject(a.call, "()\n")
	}
}

// speaksGoNB reports whether what the program reaches displays by GoNB.
func (a *assembly) speaksGoNB() bool {
	if a.r.Wasm || a.tests || a.s.alone {
		return false
	}
	for _, path := range a.g.imports {
		if path == gonbPath || a.n.packages.Reaches(path, gonbPath) {
			return true
		}
	}
	return false
}

// setUp calls the functions that every program calls, once its package-level variables are there.
func (a *assembly) setUp(t *Text) {
	for _, kind := range []func(*decl) bool{isInit, isSetup} {
		for i, p := range a.g.parts {
			if p.decl != nil && a.g.reached[i] && kind(p.decl) {
				t.Inject(p.decl.key, "()\n")
			}
		}
	}
}

// finish puts the imports in front.
func (a *assembly) finish(body *Text) {
	imports := map[string]string{}
	for _, name := range qualifiers(body.String()) { // an edit may have taken the only use away, or brought in a name of ours
		if path := cmp.Or(a.g.imports[name], helpers[name], a.n.aliases[name]); path != "" {
			imports[name] = path
		}
	}
	paths := slices.Clone(a.n.blank)
	for _, path := range imports {
		paths = append(paths, path)
	}
	for _, path := range paths {
		if a.r.GoNB == "" && !a.r.Wasm && !a.tests && (path == gonbPath || a.n.packages.Reaches(path, gonbPath)) {
			a.r.GoNB = "gonbui"
		}
	}
	t := &Text{}
	t.Inject("package main\n")
	if imports[cgoPath] != "" {
		a.r.Cgo = true
		delete(imports, cgoPath)
		t.Inject(strings.Join(a.preambles(), ""), "import \"C\"\n")
	}
	t.imports(imports)
	a.r.Imports = slices.Collect(maps.Values(imports))
	for _, path := range slices.Concat(a.n.blank, a.plotFormats(), a.drawers(imports)) {
		if !slices.Contains(a.r.Imports, path) {
			t.Inject(fmt.Sprintf("import _ %q\n", path))
			a.r.Imports = append(a.r.Imports, path)
		}
	}
	slices.Sort(a.r.Imports)
	a.r.Imports = slices.Compact(a.r.Imports)
	t.Append(body)
	a.r.Program = t
	a.plain()
}

// plain writes the program as the user might have, without the kernel's additions: for tools that look at the last
// cell.
func (a *assembly) plain() {
	var said strings.Builder // what the cell itself and what it calls say; variables come along for other reasons, too
	said.WriteString(a.code + " " + a.call)
	for i, p := range a.g.parts {
		if d := p.decl; a.g.reached[i] && d != nil && d.text == nil {
			said.WriteString(d.src.Code[d.lo:d.hi])
		}
	}
	body := &Text{}
	for i, p := range a.g.parts {
		switch d := p.decl; {
		case !a.g.reached[i]:
		case d != nil && d.text == nil:
			code := d.src.Code[d.lo:d.hi]
			if d.key == mainName || isInit(d) {
				code = strings.TrimSpace(code)
			}
			body.Inject(code, "\n\n")
		case d == nil && a.s.vars[p.name].typ != "" && a.types[p.name].typ == "" && strings.Contains(said.String(), p.name):
			body.Inject("var ", p.name, " ", a.s.vars[p.name].typ, "\n\n")
		}
	}
	statements := &Text{}
	for _, it := range a.stmts {
		code := strings.TrimRight(a.code[it.lo:it.hi], "\n \t")
		if it.kind == token.VAR {
			body.Inject(code, "\n\n")
		} else {
			statements.Inject(code, "\n")
		}
	}
	if a.main == nil && !a.tests {
		body.Inject("func main() {\n\tflag.Parse()\n", statements.String())
		if a.call != "" {
			body.Inject("\t", a.call, "()\n")
		}
		body.Inject("}\n")
	}
	t := &Text{}
	t.Inject("package main\n\nimport (\n")
	imports := map[string]string{}
	for _, name := range qualifiers(body.String()) {
		if path := cmp.Or(a.g.imports[name], a.n.aliases[name]); path != "" {
			imports[name] = path
		} else if name == "flag" {
			imports[name] = name
		}
	}
	for _, name := range sortedKeys(imports) {
		if path := imports[name]; path == name || strings.HasSuffix(path, "/"+name) {
			t.Inject(fmt.Sprintf("\t%q\n", path))
		} else {
			t.Inject(fmt.Sprintf("\t%s %q\n", name, path))
		}
	}
	t.Inject(")\n\n", body.String())
	a.r.Plain = t.String()
}

// gonbPath is the package by which programs speak with GoNB, which has to run them then.
const gonbPath = "github.com/janpfeifer/gonb/gonbui/protocol"

// renameOld handles variables that the cell defines with another type than they had: uses before the definition mean
// the earlier variable.
func (p *hoister) renameOld() {
	for id, obj := range p.user.info.Uses {
		v, again := p.types[id.Name]
		old, ok := p.s.vars[id.Name]
		if !again || !ok || old.typ == v.typ && old.hidden == v.hidden || obj.Pkg() != p.user.pkg || p.global[obj] != "" && !old.hidden || id.Pos() < p.user.main.Body.Lbrace {
			continue
		}
		if !p.mine(p.user, id) { // where a hidden variable is declared for the check
			continue
		}
		if !old.hidden && obj.Parent() != p.user.pkg.Scope() {
			continue
		}
		if old.hidden && p.objects[id.Name] == obj {
			continue
		}
		name := p.old[id.Name]
		if name == "" {
			for name = id.Name + "_old"; p.taken(name); {
				name += "_"
			}
			p.old[id.Name] = name
		}
		p.replace(p.user, id.Pos(), id.End(), name)
		delete(p.global, obj)
	}
}

func (p *hoister) taken(name string) bool {
	_, a := p.n.vars[name]
	_, b := p.types[name]
	return a || b || p.n.decls[name] != nil
}

// echo shows the cell's last expression.
func (a *assembly) echo() {
	if len(a.body) == 0 || len(a.stmts) == 0 {
		return
	}
	c := a.user
	x, ok := a.body[len(a.body)-1].(*ast.ExprStmt)
	if !ok {
		return
	}
	if tv := c.info.Types[x.X]; tv.Value != nil && tooLarge(tv) {
		a.r.Errors = append(a.r.Errors, c.errorAt(c.offset(x.X.Pos()), fmt.Sprintf("cannot use %s (untyped int constant %s) as int value in argument to %s.Echo (overflows)", types.ExprString(x.X), tv.Value, showName)))
		return
	}
	call := c.echoCall(x.X)
	if _, called := x.X.(*ast.CallExpr); call == "" && !called && c.usesC(c.main) { // its type is one of C's, perhaps
		call = "Echo"
	}
	if call != "" && !a.stmts[len(a.stmts)-1].ended && !a.measures() {
		a.insert(c, x.Pos(), showName+"."+call+"(")
		a.edits.insert(a.end(c, x.End()), ")")
	} else if tv := c.info.Types[x.X]; tv.Type != nil && !tv.IsVoid() && !tv.IsType() {
		if _, several := tv.Type.(*types.Tuple); !several {
			a.insert(c, x.Pos(), "_ = ") // x; means: don't show
		}
	}
}

// tooLarge reports whether a constant without a type does not fit into the type that it gets when it is shown.
func tooLarge(tv types.TypeAndValue) bool {
	b, ok := tv.Type.(*types.Basic)
	if !ok || b.Info()&types.IsUntyped == 0 || b.Info()&types.IsInteger == 0 {
		return false
	}
	_, exact := constant.Int64Val(constant.ToInt(tv.Value))
	return !exact
}
