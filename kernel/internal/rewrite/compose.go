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

// compose writes the program.
func (w *work) compose() {
	c := w.final
	g := w.graph(c)
	need, mentioned := w.needed(g)
	w.r.fields = w.fields
	w.r.Declares, w.r.Reads = w.declares(), w.reads(g, mentioned)
	for i, p := range g.parts {
		if g.reached[i] && p.decl != nil && w.broken[p.decl] != nil && g.hollow[p.decl] == nil {
			w.r.Errors = append(w.r.Errors, w.broken[p.decl]...)
			return
		}
	}
	w.eachDecl(c, func(d *decl, n ast.Node) {
		before := len(w.literals)
		w.moveLiterals(c, n)
		for _, l := range w.literals[before:] {
			l.idle = !g.reached[g.part(n.Pos())]
		}
		d.uses = append(d.uses, w.packageUses(c, n)...)
		d.funcs, d.shared, d.effects = w.mentioned(c, n), pointedInto(c, n), c.effects(n)
		if !w.s.alone && g.reached[g.part(n.Pos())] && !isSetup(d) {
			w.noteEnds(d.effects)
		}
	})
	for _, st := range w.body {
		w.moveLiterals(w.user, st)
		e := w.user.effects(st)
		if w.r.effects.add(e); !w.s.alone && !w.r.Wasm {
			w.noteEnds(e)
		}
		for id, f := range w.mentioned(w.user, st) {
			w.funcs[id] = f
		}
		maps.Copy(w.shared, pointedInto(w.user, st))
	}
	for i, p := range g.parts {
		if g.reached[i] && p.decl != nil {
			w.r.effects.add(p.decl.effects)
		}
	}
	begin := ""
	switch {
	case w.s.alone:
		if w.echo(); len(w.r.Errors) > 0 {
			return
		}
		w.r.Earlier = w.old
	case !w.r.Wasm: // a page has neither a kernel nor kept values
		w.redirect()
		if w.echo(); len(w.r.Errors) > 0 {
			return
		}
		begin = w.begin(g, need, mentioned)
		w.eachDecl(c, func(_ *decl, n ast.Node) { w.pollLoops(c, n) })
	}
	if w.r.Keeps {
		for _, st := range w.body {
			w.pollLoops(w.user, &ast.BlockStmt{List: []ast.Stmt{st}})
		}
	}
	if w.r.Steps = w.stepped(); w.r.Steps {
		defer w.rememberPlain()()
		w.traceSteps(g)
		begin += w.beginSteps()
	}
	for _, d := range w.decls {
		w.settleEdits(d)
	}
	var makers []*decl
	for _, l := range w.literals {
		d := w.maker(l)
		w.n.decls[d.key] = d
		if !l.idle { // the types that it is made of would not be there
			makers = append(makers, d)
		}
	}
	if w.main != nil {
		w.settleEdits(w.main)
	}
	w.rememberFlags()
	if !w.runs() {
		return
	}

	t := &Text{}
	if w.r.Wasm {
		t.Inject(wasmVars)
	}
	var tests []*decl
	for i, p := range g.parts {
		if d := p.decl; d != nil && g.reached[i] {
			if hollow := g.hollow[d]; hollow != nil {
				t.Append(hollow)
				continue
			}
			if now := w.n.decls[d.key]; now != nil && !isInit(d) {
				d = now // with its latest edits
			}
			if w.tests && isTest(d) {
				tests = append(tests, d)
			} else {
				d.emit(t)
			}
		}
	}
	slices.SortFunc(tests, func(a, b *decl) int { return strings.Compare(a.key, b.key) }) // GoNB's order
	for _, d := range tests {
		d.emit(t)
	}
	for _, d := range makers {
		d.emit(t)
	}
	w.variables(t, need)
	if w.tests {
		if w.testArgs == "" {
			w.r.Args = "-test.v"
			if slices.ContainsFunc(w.decls, func(d *decl) bool { return isTest(d) && strings.HasPrefix(d.key, "Benchmark") }) {
				w.r.Args += " -test.bench=."
			}
		}
		t.Inject("func init() {\n")
		w.mainBody(t, strings.Replace(begin, "defer "+persistName, persistName, 1), g)
		w.r.Keeps = false
	} else {
		t.Inject("func main() {\n")
		w.mainBody(t, begin, g)
	}
	t.Inject("}\n")
	w.finish(t, g)
}

// eachDecl calls f with the declarations of the cell, the user's main among them.
func (w *work) eachDecl(c *checked, f func(d *decl, n ast.Node)) {
	for _, n := range c.file.Decls {
		if d := w.declAt(c, c.offset(n.Pos())); d != nil && d.src == w.src && d.text == nil {
			f(d, n)
		}
	}
}

// settleEdits gives a declaration its edits.
func (w *work) settleEdits(d *decl) { d.edits = w.editsWithin(nil, d.lo, d.hi) }

// runs reports whether the cell does anything but declare.
func (w *work) runs() bool {
	if len(w.stmts) > 0 || w.call != "" || w.tests || w.s.alone {
		return true
	}
	return slices.ContainsFunc(w.decls, func(d *decl) bool { return isInit(d) || isSetup(d) })
}

// variables declares the variables that the program needs.
func (w *work) variables(t *Text, need map[string]bool) {
	for _, name := range sortedKeys(w.n.vars) {
		if v := w.n.vars[name]; need[name] || w.types[name].typ != "" {
			t.Inject("var ", v.source(name), " ", v.typ, "\n")
		}
	}
	for _, name := range sortedKeys(w.old) {
		t.Inject("var ", w.old[name], " ", w.s.vars[name].typ, "\n")
	}
	for _, e := range w.embeds {
		t.Inject("//go:embed ", e.patterns, "\nvar ", embedName, e.name, " ", w.types[e.name].typ, "\n")
	}
	if w.manyDefs() {
		t.Inject(fmt.Sprintf("var %s [%d]bool\nvar %s = [...]any{\n", w.ownName(defsName), len(w.defs), w.ownName(varsName)))
		for k := range w.defs {
			t.Inject(w.definesAs(k), ",\n")
		}
		t.Inject("}\n")
	}
}

// A call of persist.Def for each of a thousand variables would take the compiler many times as long as the statements
// that define them. Programs with many say what they define by setting an element of an array.
const (
	mostDefs = 50
	defsName = ownPrefix + "Defs" // which are defined by now, and
	varsName = ownPrefix + "Vars" // what they are; the cell's number follows
)

func (w *work) manyDefs() bool { return len(w.defs) > mostDefs && !w.r.Wasm && !w.s.alone }

func (w *work) ownName(name string) string { return fmt.Sprint(name, w.src.Cell) }

// definesAs is a definition as package persist is told of it.
func (w *work) definesAs(k int) string {
	name := w.defs[k].name
	return fmt.Sprintf("%q, &%s", name, w.types[name].source(name))
}

// mainBody is the inside of main: restore, statements, registrations.
func (w *work) mainBody(t *Text, begin string, g *graph) {
	if begin != "" {
		t.Inject(begin, "\n")
	}
	if w.speaksGoNB(g) { // which may stop listening before it has heard the last display
		t.Inject("defer ", w.n.alias("github.com/janpfeifer/gonb/gonbui", "gonbui"), ".Sync()\n")
	}
	parse := w.parsesFlags(t)
	declared := false
	var measured []string      // what is defined while the statements are measured
	defined := map[int][]int{} // by the statement
	for i, d := range w.defs {
		defined[d.stmt] = append(defined[d.stmt], i)
	}
	for i, it := range w.stmts {
		if !declared && it.kind != token.VAR {
			declared = true
			w.setUp(t, g)
			if w.measures() {
				t.Inject(w.n.alias(measurePath, "measure"), ".", w.measure, "(func() {\n")
			}
		}
		w.editsWithin(nil, it.lo, it.hi).apply(t, w.src, it.lo, it.hi)
		var defs []string
		for _, k := range defined[i] {
			switch {
			case !w.manyDefs():
				defs = append(defs, w.definesAs(k))
			case w.measures():
				measured = append(measured, w.definesAs(k))
			case strings.Contains(w.code[it.lo:it.hi], "//"):
				t.Inject("\n", w.ownName(defsName), "[", strconv.Itoa(k), "] = true")
			default: // on the same line, so that the next one is where the compiler expects it
				t.Inject("; ", w.ownName(defsName), "[", strconv.Itoa(k), "] = true")
			}
		}
		t.Inject("\n")
		if w.measures() {
			measured = append(measured, defs...)
			defs = nil
		}
		if len(defs) > 0 && !w.r.Wasm && !w.s.alone {
			t.Inject(persistName, ".Def(", strings.Join(defs, ", "), ")\n")
		}
		if parse == i {
			t.Inject(w.n.alias("flag", "flag"), ".Parse()\n")
		}
	}
	if declared && w.measures() {
		t.Inject("})\n")
	}
	if len(measured) > 0 {
		t.Inject(persistName, ".Def(", strings.Join(measured, ", "), ")\n")
	}
	if !declared {
		w.setUp(t, g)
	}
	if w.call != "" {
		t.Inject(w.call, "()\n")
	}
}

// speaksGoNB reports whether what the program reaches displays by GoNB.
func (w *work) speaksGoNB(g *graph) bool {
	if w.r.Wasm || w.tests || w.s.alone {
		return false
	}
	for _, path := range g.imports {
		if path == gonbPath || w.n.packages.Reaches(path, gonbPath) {
			return true
		}
	}
	return false
}

// setUp calls the functions that every program calls, once its package-level variables are there.
func (w *work) setUp(t *Text, g *graph) {
	for _, kind := range []func(*decl) bool{isInit, isSetup} {
		for i, p := range g.parts {
			if p.decl != nil && g.reached[i] && kind(p.decl) {
				t.Inject(p.decl.key, "()\n")
			}
		}
	}
}

// finish puts the imports in front.
func (w *work) finish(body *Text, g *graph) {
	imports := map[string]string{}
	for _, name := range qualifiers(tokens(body.String())) { // an edit may have taken the only use away, or brought in a name of ours
		if path := cmp.Or(g.imports[name], helpers[name], w.n.aliases[name]); path != "" {
			imports[name] = path
		}
	}
	paths := slices.Clone(w.n.blank)
	for _, path := range imports {
		paths = append(paths, path)
	}
	for _, path := range paths {
		if w.r.GoNB == "" && !w.r.Wasm && !w.tests && (path == gonbPath || w.n.packages.Reaches(path, gonbPath)) {
			w.r.GoNB = "gonbui"
		}
	}
	t := &Text{}
	t.Inject("package main\n")
	if imports[cgoPath] != "" {
		w.r.Cgo = true
		delete(imports, cgoPath)
		t.Inject(strings.Join(w.preambles(g), ""), "import \"C\"\n")
	}
	t.imports(imports)
	w.r.Imports = slices.Collect(maps.Values(imports))
	blank := w.n.blank
	if len(w.embeds) > 0 {
		blank = append(slices.Clone(blank), "embed") // which Go wants to see imported
	}
	for _, path := range slices.Concat(blank, w.plotFormats(g), w.drawers(imports)) {
		if !slices.Contains(w.r.Imports, path) {
			t.Inject(fmt.Sprintf("import _ %q\n", path))
			w.r.Imports = append(w.r.Imports, path)
		}
	}
	slices.Sort(w.r.Imports)
	w.r.Imports = slices.Compact(w.r.Imports)
	t.Append(body)
	w.r.Program = t
	w.plain(g)
}

// plain writes the program as the user might have, without the kernel's doings: for tools that are to look at the last
// cell.
func (w *work) plain(g *graph) {
	body := &Text{}
	for i, p := range g.parts {
		switch d := p.decl; {
		case !g.reached[i]:
		case d != nil && d.text == nil:
			code := d.src.Code[d.lo:d.hi]
			if d.key == mainName || isInit(d) {
				code = strings.TrimSpace(code)
			}
			body.Inject(code, "\n\n")
		case d == nil && w.s.vars[p.name].typ != "" && w.types[p.name].typ == "":
			body.Inject("var ", p.name, " ", w.s.vars[p.name].typ, "\n\n")
		}
	}
	statements := &Text{}
	for _, it := range w.stmts {
		code := strings.TrimRight(w.code[it.lo:it.hi], "\n \t")
		if it.kind == token.VAR {
			body.Inject(code, "\n\n")
		} else {
			statements.Inject(code, "\n")
		}
	}
	if w.main == nil && !w.tests {
		body.Inject("func main() {\n\tflag.Parse()\n", statements.String())
		if w.call != "" {
			body.Inject("\t", w.call, "()\n")
		}
		body.Inject("}\n")
	}
	t := &Text{}
	t.Inject("package main\n\nimport (\n")
	imports := map[string]string{}
	for _, name := range qualifiers(tokens(body.String())) {
		if path := cmp.Or(g.imports[name], w.n.aliases[name]); path != "" {
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
	w.r.Plain = t.String()
}

// gonbPath is the package by which programs speak with GoNB, which has to run them then.
const gonbPath = "github.com/janpfeifer/gonb/gonbui/protocol"

// renameOld handles variables that the cell defines with another type than they had: uses before the definition mean
// the earlier variable.
func (w *work) renameOld() {
	for id, obj := range w.user.info.Uses {
		v, again := w.types[id.Name]
		old, ok := w.s.vars[id.Name]
		if !again || !ok || old.typ == v.typ && old.hidden == v.hidden || obj.Pkg() != w.user.pkg || w.global[obj] != "" && !old.hidden || id.Pos() < w.user.main.Body.Lbrace {
			continue
		}
		if !w.mine(w.user, id) { // where a hidden variable is declared for the check
			continue
		}
		if !old.hidden && obj.Parent() != w.user.pkg.Scope() {
			continue
		}
		if old.hidden && w.objects[id.Name] == obj {
			continue
		}
		name := w.old[id.Name]
		if name == "" {
			for name = id.Name + "_old"; w.taken(name); {
				name += "_"
			}
			w.old[id.Name] = name
		}
		w.replace(w.user, id.Pos(), id.End(), name)
		delete(w.global, obj)
	}
}

func (w *work) taken(name string) bool {
	_, a := w.n.vars[name]
	_, b := w.types[name]
	return a || b || w.n.decls[name] != nil
}

// echo shows the cell's last expression.
func (w *work) echo() {
	if len(w.body) == 0 || len(w.stmts) == 0 {
		return
	}
	c := w.user
	x, ok := w.body[len(w.body)-1].(*ast.ExprStmt)
	if !ok {
		return
	}
	if tv := c.info.Types[x.X]; tv.Value != nil && tooLarge(tv) {
		w.r.Errors = append(w.r.Errors, c.errorAt(c.offset(x.X.Pos()), fmt.Sprintf("cannot use %s (untyped int constant %s) as int value in argument to %s.Echo (overflows)", types.ExprString(x.X), tv.Value, showName)))
		return
	}
	call := c.echoCall(x.X)
	if _, called := x.X.(*ast.CallExpr); call == "" && !called && c.usesC(c.main) { // its type is one of C's, perhaps
		call = "Echo"
	}
	if call != "" && !w.stmts[len(w.stmts)-1].ended && !w.measures() {
		w.insert(c, x.Pos(), showName+"."+call+"(")
		w.edits.insert(w.end(c, x.End()), ")")
	} else if tv := c.info.Types[x.X]; tv.Type != nil && !tv.IsVoid() && !tv.IsType() {
		if _, several := tv.Type.(*types.Tuple); !several {
			w.insert(c, x.Pos(), "_ = ") // x; means: don't show
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
