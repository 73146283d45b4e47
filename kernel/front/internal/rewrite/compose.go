package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// compose writes the cell for GoNB and checks it as the program that will be built.
func (w *work) compose() {
	w.renameOld()
	if strings.HasPrefix(strings.TrimSpace(w.src.Code), "//step") {
		w.r.Steps = true
		w.traceSteps()
	}
	w.pollLoops()
	if !w.noStdin {
		w.redirectInput()
	}
	w.echo()
	hideFromGoNB(w.code, &w.edits)
	w.indentPackage()
	for _, d := range w.decls {
		for _, e := range w.edits[len(w.base):] {
			if e.lo >= d.lo && e.hi <= d.hi {
				d.edits = append(d.edits, e)
			}
		}
	}
	need := w.needed(w.c)
	for name, typ := range w.types { // a name that has been something else
		if d := w.declaring(name); d != nil {
			if d.src == w.src {
				w.fail(d.lo, name+" is declared twice in this cell", "give the variable or the declaration another name")
				return
			}
			w.r.Removed = append(w.r.Removed, d.names...)
			delete(w.n.decls, d.key)
			w.n.pending = slices.DeleteFunc(w.n.pending, func(p *decl) bool { return p == d })
			if rest := without(d, name); rest != nil {
				w.n.decls[rest.key] = rest
				w.n.pending = append(w.n.pending, rest)
			}
		}
		w.n.vars[name] = variable{typ, mainTypes(w.objects[name].Type())}
		delete(w.n.gone, name)
		delete(w.n.literals, name)
		w.r.Defines = append(w.r.Defines, name)
	}
	slices.Sort(w.r.Defines)

	vars := map[string]string{}
	for name, v := range w.n.vars {
		vars[name] = v.typ
	}
	for name, old := range w.old {
		vars[old] = w.s.vars[name].typ
	}
	// The literals that this cell defines are known only when its variables are package-level, so the first program tells them.
	imports := func() map[string]string {
		m := map[string]string{}
		for k, v := range w.n.imports {
			m[k] = v
		}
		for k, v := range w.extra {
			m[k] = v
		}
		return m
	}
	c2 := w.build(vars, need, nil, imports())
	if c2 == nil {
		return
	}
	lits := w.learnLiterals(c2)
	if len(lits) > 0 {
		if c2 = w.build(vars, need, lits, imports()); c2 == nil {
			return
		}
	}
	w.assemble(c2, vars, need, lits)
}

// build checks the program; nil means that it has errors.
func (w *work) build(vars map[string]string, need, lits map[string]bool, imports map[string]string) *checked {
	t := w.program(vars)
	t.Inject("func main() {\n")
	start := t.Len()
	t.Append(w.mainBody(need, lits))
	end := t.Len()
	t.Inject("}\n")
	c := w.n.check(t, imports)
	ours := false
	if !w.accept(c, func(e Error) bool { return true }) {
		for _, e := range c.errs {
			off := c.offset(e.Pos)
			ours = ours || off >= start && off < end
		}
		w.r.Run = !w.noStdin && (ours || c.syn != nil) // perhaps it is our redirected input
		w.blame()
		return nil
	}
	return c
}

// blame names the change of this cell that broke an earlier one.
func (w *work) blame() {
	for i := range w.r.Errors {
		e := &w.r.Errors[i]
		if e.Pos.Cell == 0 || e.Pos.Cell == w.src.Cell {
			continue
		}
		var changed []string
		for name, typ := range w.types {
			if old, ok := w.s.vars[name]; ok && old.typ != typ {
				changed = append(changed, fmt.Sprintf("%s becomes %s here and was %s", name, typ, old.typ))
			}
		}
		for _, d := range w.decls {
			for _, name := range d.names {
				if w.s.declaring(name) != nil || w.s.vars[name].typ != "" {
					changed = append(changed, name+" is declared anew here")
				}
			}
		}
		slices.Sort(changed)
		if len(changed) > 0 {
			e.Hint = strings.Join(changed, "; ") + fmt.Sprintf("; cell [%d] still uses the earlier one: change it in the same cell as this, or choose another name", e.Pos.Cell)
		}
	}
}

// declaring returns the remembered declaration of a name.
func (s *Session) declaring(name string) *decl {
	for _, d := range s.decls {
		if slices.Contains(d.names, name) {
			return d
		}
	}
	return nil
}

func (w *work) declaring(name string) *decl { return w.n.declaring(name) }

// renameOld handles variables that the cell defines with another type than they had: uses before the definition mean the earlier variable.
func (w *work) renameOld() {
	for id, obj := range w.c.info.Uses {
		typ, again := w.types[id.Name]
		old, ok := w.s.vars[id.Name]
		if !again || !ok || old.typ == typ || obj.Pkg() != w.c.pkg || obj.Parent() != w.c.pkg.Scope() || id.Pos() < w.c.main.Body.Lbrace {
			continue
		}
		name := w.old[id.Name]
		if name == "" {
			for name = id.Name + "_old"; w.taken(name); {
				name += "_"
			}
			w.old[id.Name] = name
		}
		w.replace(id.Pos(), id.End(), name)
	}
}

func (w *work) taken(name string) bool {
	_, a := w.n.vars[name]
	_, b := w.types[name]
	return a || b || w.declaring(name) != nil || w.n.sent[name] != ""
}

// echo shows the cell's last expression.
func (w *work) echo() {
	if len(w.body) == 0 || len(w.stmts) == 0 {
		return
	}
	x, ok := w.body[len(w.body)-1].(*ast.ExprStmt)
	if !ok {
		return
	}
	if call := w.c.echoCall(x.X); call != "" && !w.stmts[len(w.stmts)-1].ended {
		w.insert(x.Pos(), showName+"."+call+"(")
		w.edits.insert(w.end(x.End()), ")")
		w.usesShow = true
	} else if tv := w.c.info.Types[x.X]; tv.Type != nil && !tv.IsVoid() && !tv.IsType() {
		if _, several := tv.Type.(*types.Tuple); !several {
			w.insert(x.Pos(), "_ = ") // x; means: don't show
		}
	}
}

// indentPackage hides lines that begin with the word package, which GoNB drops.
func (w *work) indentPackage() {
	inside := longLiterals(w.code)
	for at := 0; at < len(w.code); at += lineLen(w.code[at:]) {
		if strings.HasPrefix(w.code[at:], "package") && !within(inside, at) {
			w.edits.insert(at, " ")
		}
	}
}

// mainBody is the inside of main: restore, statements, registrations.
func (w *work) mainBody(need, lits map[string]bool) *Text {
	t := &Text{}
	if b := w.begin(need); b != "" {
		t.Inject(b, "\n")
	}
	for _, name := range w.reachedLiterals(need) {
		t.Inject(name, " = ")
		w.n.literals[name].emit(t)
		t.Inject("\n")
	}
	for _, use := range w.blankUses(append(slices.Clone(w.n.blank), w.c.plotFormats(w.n.packages)...)) {
		t.Inject(use, "\n")
	}
	for i, it := range w.stmts {
		w.edits.apply(t, w.src, it.lo, it.hi)
		t.Inject("\n")
		var defs []string
		for _, d := range w.defs {
			if d.stmt == i && !lits[d.name] {
				defs = append(defs, fmt.Sprintf("%q, &%s", d.name, d.name))
			}
		}
		if len(defs) > 0 {
			t.Inject(keepName, ".Def(", strings.Join(defs, ", "), ")\n")
		}
	}
	if w.call != "" {
		t.Inject(w.call, "()\n")
	}
	return t
}

// blankUses are statements that use packages imported for their effect.
func (w *work) blankUses(paths []string) (uses []string) {
	for _, path := range paths {
		if use := w.blankUse(path); use != "" {
			uses = append(uses, use)
		}
	}
	return uses
}

// blankUse is a statement that uses a package imported for its effect: GoNB remembers only one blank import.
func (w *work) blankUse(path string) string {
	p, err := w.n.packages.Import(path)
	if err != nil {
		return ""
	}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Func:
			if o.Type().(*types.Signature).TypeParams().Len() > 0 {
				continue
			}
		case *types.Var:
		default:
			continue
		}
		n := w.n.nameOf(path, p.Name(), nil)
		w.extra[n] = path
		return "_ = " + n + "." + name
	}
	return ""
}

// head writes what comes before the declarations: magics, names to forget, imports.
func (w *work) head(t *Text, c *checked) {
	for _, m := range w.hoisted {
		t.Inject(m, "\n")
	}
	slices.Sort(w.r.Removed)
	w.r.Removed = slices.Compact(w.r.Removed)
	if len(w.r.Removed) > 0 {
		t.Inject("%rm ", strings.Join(w.r.Removed, " "), "\n")
	}
	imports := map[string]string{"flag": "flag"} // GoNB's main parses flags, and goimports is slow if it has to find the package
	for k, v := range c.used {
		imports[k] = v
	}
	for k, v := range w.extra {
		imports[k] = v
	}
	for _, name := range sortedKeys(imports) {
		t.Inject(fmt.Sprintf("import %s %q\n", name, imports[name]))
	}
	t.Inject(fmt.Sprintf("import _ %q\n", stdioPath))
}

// emitPending writes the declarations that GoNB has not seen.
func (w *work) emitPending(t *Text) {
	for _, d := range w.n.pending {
		if w.n.decls[d.key] == d {
			d.emit(t)
		}
	}
}

// assemble writes the cell for GoNB.
func (w *work) assemble(c *checked, vars map[string]string, need, lits map[string]bool) {
	effects := len(w.stmts) > 0 || w.call != "" || len(w.hoisted) > 0
	for _, d := range w.decls {
		effects = effects || d.tok.String() == "func" && (d.key == "init" || strings.HasPrefix(d.key, "init_"))
	}
	for _, d := range w.decls {
		if w.n.decls[d.key] == d {
			w.n.pending = append(w.n.pending, d)
		}
	}
	if !effects {
		return // GoNB gets the declarations with the next cell that runs
	}
	w.r.Run = true
	t := &Text{}
	if len(w.stmts) == 0 && len(w.decls) == 0 && w.call == "" { // commands only: nothing to compile
		for _, m := range w.hoisted {
			t.Inject(m, "\n")
		}
		w.finish(t)
		return
	}
	w.head(t, c)
	w.emitPending(t)
	for _, name := range sortedKeys(vars) {
		if w.n.sent[name] != vars[name] {
			t.Inject("var ", name, " ", vars[name], "\n")
			w.n.sent[name] = vars[name]
		}
	}
	if len(w.stmts) > 0 || w.call != "" {
		t.Inject(strings.TrimSpace("%% "+w.mainArgs), "\n")
		t.Append(w.mainBody(need, lits))
	}
	w.n.pending = nil
	w.finish(t)
}

// finish fills in the result.
func (w *work) finish(t *Text) {
	w.r.Text = t
	w.r.Code = strings.TrimSuffix(t.String(), "\n")
	w.r.Lines = t.Lines()
}
