package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"sort"
	"strings"
)

// A part is where a remembered thing is in a program that is checked.
type part struct {
	lo, hi int
	decl   *decl
	name   string // of a variable
}

// program begins a program to be checked: all that is remembered, with the variables in vars.
func (w *work) program(vars map[string]variable) (t *Text, parts []part) {
	t = &Text{}
	t.Inject("package main\n")
	if w.r.Wasm {
		t.Inject(wasmVars)
	}
	own := map[*decl]bool{w.main: true}
	for _, d := range w.decls {
		own[d] = true
	}
	add := func(d *decl) {
		lo := t.Len()
		if own[d] { // it gets its edits when all are made
			w.edits.apply(t, w.src, d.lo, d.hi)
			t.Inject("\n")
		} else {
			d.emit(t)
		}
		parts = append(parts, part{lo: lo, hi: t.Len(), decl: d})
	}
	for _, d := range w.n.sortedDecls() {
		if !own[d] {
			add(d)
		}
	}
	for _, name := range sortedKeys(vars) {
		lo := t.Len()
		t.Inject("var ", vars[name].source(name), " ", vars[name].typ, "\n")
		parts = append(parts, part{lo: lo, hi: t.Len(), name: name})
	}
	for _, d := range w.decls {
		if w.n.decls[d.key] == d || isInit(d) {
			add(d)
		}
	}
	if w.main != nil {
		add(w.main)
	}
	return t, parts
}

func (d *decl) emit(t *Text) {
	if d.text != nil {
		t.Append(d.text)
		return
	}
	d.edits.apply(t, d.src, d.lo, d.hi)
	t.Inject("\n")
}

// checkText checks the user's text as it is.
func (w *work) checkText() bool {
	hidden := w.hiddenNames()
	ok := w.checkSeeing(hidden)
	if !ok && len(hidden) > 0 { // perhaps Go's own are meant
		first, errs := w.user, w.r.Errors
		w.r.Errors = nil
		if ok = w.checkSeeing(nil); !ok {
			w.user, w.final, w.r.Errors = first, first, errs
		}
	}
	return ok
}

// hiddenNames are the variables that hide names of Go's own and that the cell may mean.
func (w *work) hiddenNames() (names []string) {
	for _, t := range tokens(w.code) {
		if t.tok == token.IDENT && w.n.vars[t.lit].hidden && !slices.Contains(names, t.lit) {
			names = append(names, t.lit)
		}
	}
	return names
}

// checkSeeing checks the user's text, in whose statements hidden variables are seen.
func (w *work) checkSeeing(hidden []string) bool {
	w.edits = slices.Clone(w.base)
	clear(w.global)
	t, parts := w.program(w.n.vars)
	t.Inject("func main() {\n")
	for _, name := range hidden {
		t.Inject("var ", name, " ", w.n.vars[name].typ, "; _ = ", name, "\n")
	}
	if hidden != nil {
		t.Inject("{\n")
	}
	start := t.Len()
	for _, it := range w.stmts {
		w.base.apply(t, w.src, it.lo, it.hi)
		t.Inject("\n")
	}
	end := t.Len()
	if hidden != nil {
		t.Inject("}\n")
	}
	t.Inject("}\n")
	c := w.n.check(t, w.n.imports)
	w.user, w.final = c, c
	w.parts[c] = parts
	if c.syn != nil {
		w.r.Errors = c.syntaxErrors()
		return false
	}
	if c.bodiless != nil {
		w.r.Errors = []Error{*c.bodiless}
		return false
	}
	w.body = c.main.Body.List
	if hidden != nil {
		n := len(w.body) - 1
		for _, st := range w.body[:n] {
			if d, ok := st.(*ast.DeclStmt); ok {
				id := d.Decl.(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Names[0]
				w.global[c.info.Defs[id]] = HiddenPrefix + id.Name
			}
		}
		w.body = w.body[n].(*ast.BlockStmt).List
	}
	var last ast.Stmt
	if len(w.body) > 0 {
		last = w.body[len(w.body)-1]
	}
	inside := func(e types.Error) bool { // and not in a declaration, which is judged when it sees the new variables
		off := c.offset(e.Pos)
		return off >= start && off < end
	}
	unused := map[token.Pos]bool{}
	for _, e := range c.errs {
		if _, ok := unusedName(e.Msg); ok && e.Soft && inside(e) {
			unused[e.Pos] = true
		}
	}
	fine := maps.Clone(unused)
	for _, d := range w.definitions() {
		delete(unused, d.obj.Pos())
	}
	w.useUnused(c, unused)
	for _, e := range c.errs {
		if !inside(e) || fine[e.Pos] && !unused[e.Pos] {
			continue
		}
		if last != nil && e.Pos >= last.Pos() && e.Pos < last.End() && unusedValue.MatchString(e.Msg) {
			if _, ok := last.(*ast.ExprStmt); ok {
				continue
			}
		}
		w.r.Errors = append(w.r.Errors, c.errorAt(c.offset(e.Pos), e.Msg))
	}
	return len(w.r.Errors) == 0
}

// unusedName returns the variable of the type checker's message about one that is declared and not used.
func unusedName(msg string) (string, bool) {
	if g := unusedMsg.FindStringSubmatch(msg); g != nil {
		return g[1] + g[2], true
	}
	return "", false
}

// checkOutcome checks the program that the cell leads to, unless what has been checked says it already: it does if the
// cell gives no name a new meaning and no declaration needs a variable that the cell defines. Mistakes are reported;
// false means that there are some.
func (w *work) checkOutcome() bool {
	wrong := slices.ContainsFunc(w.user.errs, func(e types.Error) bool { return e.Pos < w.user.main.Pos() })
	again := wrong && len(w.types) > 0
	for name, v := range w.types {
		old, was := w.s.vars[name]
		again = again || was && (old.typ != v.typ || old.hidden != v.hidden) || w.n.decls[name] != nil
	}
	for name := range w.types { // a name that has been something else
		if d := w.n.decls[name]; d != nil {
			if d.src == w.src {
				w.fail(d.lo, name+" is declared twice in this cell", "give the variable or the declaration another name")
				return false
			}
			w.n.take(name, "")
		}
	}
	for name, v := range w.types {
		w.n.vars[name] = v
		delete(w.n.gone, name)
		w.r.Defines = append(w.r.Defines, name)
	}
	slices.Sort(w.r.Defines)
	if again {
		w.checkAgain()
	} else if !wrong {
		return true
	}
	for tries := 0; tries < 20 && w.setAside(w.final); tries++ {
		w.checkAgain()
	}
	return w.accept(w.final)
}

// checkAgain checks the program that the cell leads to.
func (w *work) checkAgain() {
	vars := maps.Clone(w.n.vars)
	for name, old := range w.old {
		v := w.s.vars[name]
		v.hidden = false
		vars[old] = v
	}
	t, parts := w.program(vars)
	t.Inject("func main() {\n")
	for _, it := range w.stmts {
		w.edits.apply(t, w.src, it.lo, it.hi)
		t.Inject("\n")
	}
	t.Inject("}\n")
	w.final = w.n.check(t, w.n.imports)
	w.parts[w.final] = parts
}

// setAside removes a method of an earlier cell that does not fit its type as this cell declares it.
func (w *work) setAside(c *checked) bool {
	for _, e := range c.errs {
		d := w.declAt(c, c.offset(e.Pos))
		if d == nil || d.src == w.src || len(d.names) > 0 || d.text != nil {
			continue
		}
		typ, method, _ := strings.Cut(d.key, ".")
		if t := w.n.decls[typ]; t == nil || t.src != w.src {
			continue
		}
		delete(w.n.decls, d.key)
		w.note("", "the method %s of cell [%d] does not fit the new %s (%s) and was set aside: declare it again", method, d.src.Cell, typ, e.Msg)
		w.n.gone[d.key] = fmt.Sprintf("it was set aside when %s changed in cell [%d]", typ, w.src.Cell)
		return true
	}
	return false
}

// accept takes over the errors of a check; true means that there are none. A declaration of an earlier cell that is
// broken already, since something that it needs was removed, is a mistake only if the cell reaches it.
func (w *work) accept(c *checked) bool {
	if c.syn != nil {
		w.r.Errors = append(w.r.Errors, c.syntaxErrors()...)
		return false
	}
	changed := strings.Join(w.changed(), "; ")
	for _, e := range c.errs {
		if unusedValue.MatchString(e.Msg) && c.main != nil && e.Pos >= c.main.Pos() {
			continue // the value of the cell's last line is shown
		}
		if _, unused := unusedName(e.Msg); unused && e.Soft && c.main != nil && e.Pos >= c.main.Pos() {
			continue
		}
		off := c.offset(e.Pos)
		x := c.errorAt(off, e.Msg)
		if d := w.declAt(c, off); d != nil && d.src != w.src {
			if changed == "" || w.s.broken[d.key] || w.n.broken[d.key] || d.text != nil && !w.outlives(d) || d.key == mainName {
				w.broken[d] = append(w.broken[d], x)
				continue
			}
			x.Hint = fmt.Sprintf("%s; cell [%d] still uses the earlier one: change it in the same cell as this, or choose another name", changed, d.src.Cell)
		}
		w.r.Errors = append(w.r.Errors, x)
	}
	clear(w.n.broken)
	for d := range w.broken {
		w.n.broken[d.key] = true
	}
	return len(w.r.Errors) == 0
}

// outlives reports whether a function literal of an earlier cell may be needed after this cell has run: because a
// variable, or a declaration, that this cell does not declare again holds it.
func (w *work) outlives(literal *decl) bool {
	return w.n.liveLiterals(w.account(), func(name string) bool {
		_, here := w.types[name]
		return !here && w.n.vars[name].typ != ""
	})[literal.key]
}

// partAt is the index of the part in which an offset of the program lies, or -1.
func partAt(parts []part, off int) int {
	i := sort.Search(len(parts), func(i int) bool { return parts[i].hi > off })
	if i < len(parts) && parts[i].lo <= off {
		return i
	}
	return -1
}

// declAt returns the declaration that is at an offset of a checked program, or nil.
func (w *work) declAt(c *checked, off int) *decl {
	if i := partAt(w.parts[c], off); i >= 0 {
		return w.parts[c][i].decl
	}
	return nil
}

// changed names what this cell gives another meaning.
func (w *work) changed() (changed []string) {
	for name, v := range w.types {
		if old, ok := w.s.vars[name]; ok && old.typ != v.typ {
			changed = append(changed, fmt.Sprintf("%s becomes %s here and was %s", name, v.shown, old.shown))
		} else if w.s.decls[name] != nil {
			changed = append(changed, name+" becomes a variable here")
		}
	}
	for _, d := range w.decls {
		for _, name := range d.names {
			if _, ok := w.s.vars[name]; ok || w.s.decls[name] != nil {
				changed = append(changed, name+" is declared again here")
			}
		}
	}
	for name := range w.imported {
		if _, ok := w.s.vars[name]; ok || w.s.decls[name] != nil {
			changed = append(changed, name+" becomes a package here")
		}
	}
	slices.Sort(changed)
	return changed
}
