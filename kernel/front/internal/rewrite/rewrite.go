package rewrite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

const (
	keepPath  = "github.com/lectern-go/lectern/kernel/keep"
	showPath  = "github.com/lectern-go/lectern/kernel/show"
	stdioPath = "github.com/lectern-go/lectern/kernel/stdio" // imported for its effect by every cell
	// devicesPath makes devices known when it is imported. Tensors that are kept on one need it in every later cell, whether
	// or not that names it.
	devicesPath = "github.com/lectern-go/lectern/gpu"
	keepName    = "lecternkeep" // under which cells import package keep
	showName    = "lecternshow"
)

// A Result is what becomes of a cell.
type Result struct {
	Code     string    // for GoNB
	Lines    []Pos     // where each line of Code came from
	Text     *Text     // Code with its places
	Errors   []Error   // the user's mistakes; if there are any, nothing is to be run
	Run      bool      // GoNB has something to do; false for a cell of declarations, which wait for the next one that runs
	Pass     bool      // GoNB gets the cell as it is
	Restores []string  // variables that the cell restores
	Defines  []string  // variables that it defines
	Removed  []string  // names that GoNB is told to forget
	Forget   []string  // kept variables whose values are of no use any more
	Keeps    bool      // the cell saves its variables at the end
	Steps    bool      // it is a //step cell
	Notes    []string  // to be told to the user
	Commands []Command // for the front, in their order
	Next     *Session
}

// A Command is a magic that the front itself obeys.
type Command struct {
	Name string // "%vars" or "%get"
	Args []string
	Pos  Pos
}

// ours are the magics that GoNB never sees.
var ours = map[string]bool{"%vars": true, "%get": true}

// whole are the magics that make all of a cell something else than Go.
var whole = map[string]bool{"%%writefile": true, "%%script": true, "%%bash": true, "%%sh": true, "%%gx": true}

// work is one rewriting in progress.
type work struct {
	s, n     *Session // before and after
	r        *Result
	src      *Source
	code     string // the cell with magics blanked
	edits    edits  // on the cell
	base     edits  // those of them that only take magics out
	hoisted  []string
	mainArgs string
	call     string // the function that %exec names

	decls    []*decl
	stmts    []item
	imported map[string]bool // by this cell
	c        *checked        // the user's text
	body     []ast.Stmt
	extra    map[string]string // imports for the types that we write
	types    map[string]string // of the variables that become package-level
	objects  map[string]types.Object
	local    map[string]bool
	defs     []definition
	old      map[string]string // variables that change their type after a use: name to the name of the earlier one
	noStdin  bool
	usesShow bool
}

// Rewrite turns a cell into what GoNB is to run. cell is its number.
func (s *Session) Rewrite(cell int, code string) *Result {
	r := s.rewrite(cell, code, false)
	if len(r.Errors) > 0 && r.Run { // marks a rewriting that failed with redirected input: try it without
		r = s.rewrite(cell, code, true)
	}
	if len(r.Errors) > 0 {
		r.Run = false
		for i := range r.Errors {
			s.explain(&r.Errors[i], r.Next)
		}
	}
	return r
}

func (s *Session) rewrite(cell int, code string, noStdin bool) *Result {
	code = strings.ReplaceAll(code, "\r\n", "\n")
	w := &work{s: s, n: s.clone(), r: &Result{}, src: &Source{cell, code}, imported: map[string]bool{}, extra: map[string]string{},
		objects: map[string]types.Object{}, old: map[string]string{}, noStdin: noStdin}
	w.r.Next = w.n
	w.n.sources[cell], w.n.current = w.src, cell
	if w.passes() {
		return w.r
	}
	if e := brackets(w.src, w.code); e != nil {
		w.r.Errors = append(w.r.Errors, *e)
		return w.r
	}
	items := split(w.code)
	if w.takesMain(items) {
		return w.r
	}
	if !w.sort(items) || !w.learn() {
		return w.r
	}
	w.publish(w.definitions())
	w.compose()
	return w.r
}

// passes handles magics, and cells that are not Go at all.
func (w *work) passes() bool {
	code := w.src.Code
	first := strings.Fields(strings.TrimPrefix(code[:lineLen(code)], commentPrefix))
	if len(first) > 0 && whole[first[0]] {
		w.r.Pass, w.r.Run, w.r.Code = true, true, code
		return true
	}
	b := []byte(code)
	pass := false
	for _, m := range magics(code) {
		for i := m.lo; i < m.hi; i++ {
			if b[i] != '\n' {
				b[i] = ' '
			}
		}
		w.base.blank(code, m.lo, m.hi)
		switch name := m.name(); {
		case ours[name]:
			w.r.Commands = append(w.r.Commands, Command{name, m.fields[1:], w.src.Pos(m.lo)})
			continue
		case name == "%%" || name == "%main":
			w.mainArgs = strings.TrimSpace(strings.TrimPrefix(m.text, name))
			continue
		case name == "%test" || name == "%wasm":
			pass = true
		case name == "%exec" && len(m.fields) > 1:
			w.call = m.fields[1]
			w.mainArgs = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(m.text, name)), w.call))
			continue
		case name == "%rm" || name == "%remove":
			w.n.Remove(m.fields[1:]...)
			w.r.Forget = append(w.r.Forget, m.fields[1:]...)
		case name == "%reset" && len(m.fields) == 1:
			for v := range w.n.vars {
				w.r.Forget = append(w.r.Forget, v)
			}
			w.n.Reset()
		}
		w.hoisted = append(w.hoisted, m.text)
	}
	// GoNB drops a package clause, and so do we.
	for at := 0; at < len(b); at += lineLen(string(b[at:])) {
		line := strings.Fields(string(b[at : at+lineLen(string(b[at:]))]))
		if len(line) == 2 && line[0] == "package" && token.IsIdentifier(line[1]) && !within(longLiterals(string(b)), at) {
			end := at + lineLen(string(b[at:]))
			w.base.blank(code, at, end)
			for i := at; i < end; i++ {
				if b[i] != '\n' {
					b[i] = ' '
				}
			}
		}
	}
	w.code = string(b)
	w.edits = slices.Clone(w.base)
	if pass {
		w.passGo(split(w.code))
		return true
	}
	return false
}

// passGo lets GoNB have a %test or %wasm cell as it is, behind the declarations that it has not seen yet, and remembers what it declares.
func (w *work) passGo(items []item) {
	t := &Text{}
	for _, name := range sortedKeys(w.n.imports) { // goimports drops those that are not used
		t.Inject(fmt.Sprintf("import %s %q\n", name, w.n.imports[name]))
	}
	w.emitPending(t)
	t.User(w.src, 0, len(w.src.Code))
	for _, it := range items {
		switch it.kind {
		case token.IMPORT:
			w.imports(it)
		case token.FUNC, token.TYPE, token.CONST, token.VAR:
			if d := parseDecl(w.src, it); d != nil && !isMain(d) {
				w.n.remember(d)
			}
		}
	}
	w.n.pending = nil
	w.r.Pass, w.r.Run, w.r.Errors = true, true, nil
	w.finish(t)
}

func isMain(d *decl) bool { return d.tok == token.FUNC && d.key == "main" }

// takesMain handles a cell that brings its own func main, or cgo.
func (w *work) takesMain(items []item) bool {
	var main *decl
	var decls []*decl
	for _, it := range items {
		if it.kind == token.IMPORT && strings.Contains(w.code[it.lo:it.hi], `"C"`) {
			w.passGo(items)
			return true
		}
		if it.kind == token.ILLEGAL || it.kind == token.IMPORT {
			continue
		}
		if d := parseDecl(&Source{w.src.Cell, w.code}, it); d != nil {
			d.src = w.src
			d.edits = append(d.edits, w.base...)
			decls = append(decls, d)
			if isMain(d) {
				main = d
			}
		}
	}
	if main == nil {
		return false
	}
	for _, it := range items {
		switch it.kind {
		case token.IMPORT:
			if !w.imports(it) {
				return true
			}
		case token.ILLEGAL:
			w.fail(it.lo, "statement outside func main", "a cell that has a func main runs only that: put the statement into it, or leave func main out")
			return true
		}
	}
	for _, d := range decls {
		if d != main {
			w.r.Removed = append(w.r.Removed, w.n.remember(d)...)
			w.decls = append(w.decls, d)
		}
	}
	t := w.program(nil)
	main.emit(t)
	c := w.n.check(t, w.n.imports)
	if !w.accept(c, func(Error) bool { return true }) {
		return true
	}
	w.c = c
	need := w.needed(c)
	at := strings.Index(w.code[main.lo:main.hi], "{")
	begin := w.blankUses(c.plotFormats(w.n.packages))
	if b := w.begin(need); b != "" {
		begin = append(begin, b)
		c.used[keepName] = keepPath
	}
	if len(begin) > 0 {
		main.edits.insert(main.lo+at+1, " "+strings.Join(begin, "; ")+"; ")
	}
	g := &Text{}
	w.head(g, c)
	w.emitPending(g)
	for _, d := range w.decls {
		d.emit(g)
	}
	main.emit(g)
	w.n.pending = nil
	w.r.Run = true
	w.finish(g)
	return true
}

// fail notes a mistake at an offset of the cell.
func (w *work) fail(off int, msg, hint string) {
	w.r.Errors = append(w.r.Errors, Error{Pos: w.src.Pos(off), Msg: msg, Hint: hint, exact: true})
}

// imports reads an import declaration; false means that it is wrong.
func (w *work) imports(it item) bool {
	text := w.code[it.lo:it.hi]
	fs := token.NewFileSet()
	f, err := parser.ParseFile(fs, "", "package p\n"+text, parser.ImportsOnly)
	if err != nil {
		w.fail(it.lo, "this import can't be read", `write import "path", or import name "path"`)
		return false
	}
	for _, sp := range f.Imports {
		path, _ := strconv.Unquote(sp.Path.Value)
		at := it.lo + fs.Position(sp.Pos()).Offset - len("package p\n")
		p, err := w.n.packages.Import(path)
		switch {
		case err != nil:
			w.fail(at, err.Error(), "")
			return false
		case sp.Name == nil:
			w.n.imports[p.Name()] = path
			w.imported[p.Name()] = true
		case sp.Name.Name == ".":
			w.fail(at, "import . does not work in a notebook", "import "+path+" by its name, so that later cells know where a name comes from")
			return false
		case sp.Name.Name == "_":
			if !slices.Contains(w.n.blank, path) {
				w.n.blank = append(w.n.blank, path)
			}
		default:
			w.n.imports[sp.Name.Name] = path
			w.imported[sp.Name.Name] = true
		}
		if path == devicesPath && !slices.Contains(w.n.blank, path) {
			w.n.blank = append(w.n.blank, path)
		}
	}
	return true
}

// sort takes the cell's items apart; false means that something was wrong.
func (w *work) sort(items []item) bool {
	for _, it := range items {
		switch it.kind {
		case token.IMPORT:
			if !w.imports(it) {
				return false
			}
		case token.FUNC, token.TYPE, token.CONST:
			d := parseDecl(&Source{w.src.Cell, w.code}, it)
			if d == nil { // it does not parse: the check says what is wrong
				d = &decl{key: fmt.Sprint("unread ", it.lo), tok: it.kind, lo: it.lo, hi: it.hi, order: w.src.Cell<<20 + it.lo}
			}
			d.src = w.src
			d.edits = append(d.edits, w.base...)
			before := len(w.n.vars)
			w.r.Removed = append(w.r.Removed, w.n.remember(d)...)
			if len(w.n.vars) < before {
				for v := range w.s.vars {
					if _, ok := w.n.vars[v]; !ok {
						w.r.Forget = append(w.r.Forget, v)
					}
				}
			}
			w.decls = append(w.decls, d)
		default:
			w.stmts = append(w.stmts, it)
		}
	}
	return true
}

// program begins a program to be checked: all that is remembered, with the variables in vars (or else the session's).
func (w *work) program(vars map[string]string) *Text {
	t := &Text{}
	t.Inject("package main\n")
	if vars == nil {
		vars = map[string]string{}
		for name, v := range w.n.vars {
			vars[name] = v.typ
		}
	}
	for _, d := range w.n.sortedDecls() {
		if d.src != w.src {
			d.emit(t)
		}
	}
	for _, name := range sortedKeys(vars) {
		t.Inject("var ", name, " ", vars[name], "\n")
	}
	for _, name := range sortedKeys(w.n.literals) {
		if _, ok := vars[name]; ok && w.n.literals[name].src != w.src {
			t.Inject("func ", literalFunc, name, "() { ", name, " = ")
			w.n.literals[name].emit(t)
			t.Inject(" }\n")
		}
	}
	for _, d := range w.decls {
		if w.n.decls[d.key] == d {
			d.emit(t)
		}
	}
	return t
}

func (d *decl) emit(t *Text) {
	d.edits.apply(t, d.src, d.lo, d.hi)
	t.Inject("\n")
}

func (l *literal) emit(t *Text) { t.User(l.src, l.lo, l.hi) }

// learn checks the user's text as it is.
func (w *work) learn() bool {
	t := w.program(nil)
	if w.call != "" {
		w.stmts = nil
	}
	t.Inject("func main() {\n")
	start := t.Len()
	for _, it := range w.stmts {
		w.base.apply(t, w.src, it.lo, it.hi)
		t.Inject("\n")
	}
	end := t.Len()
	t.Inject("}\n")
	w.c = w.n.check(t, w.n.imports)
	if w.c.syn != nil {
		w.r.Errors = w.c.syntaxErrors()
		return false
	}
	w.body = w.c.main.Body.List
	var last ast.Stmt
	if len(w.body) > 0 {
		last = w.body[len(w.body)-1]
	}
	top := map[token.Pos]bool{}
	for _, d := range w.definitions() {
		top[d.obj.Pos()] = true
	}
	for _, e := range w.c.errs {
		off := w.c.offset(e.Pos)
		if off < start || off >= end {
			continue // in a declaration: judged when it sees the new variables
		}
		if name, ok := unusedName(e.Msg); ok && e.Soft {
			if top[e.Pos] {
				continue
			}
			if at, s := unusedFix(w.c.main, e.Pos, name); at.IsValid() {
				w.insert(at, s)
				continue
			}
		}
		if last != nil && e.Pos >= last.Pos() && e.Pos < last.End() && strings.HasSuffix(e.Msg, "is not used") {
			if _, ok := last.(*ast.ExprStmt); ok {
				continue
			}
		}
		w.r.Errors = append(w.r.Errors, w.c.errorAt(off, e.Msg))
	}
	return len(w.r.Errors) == 0
}

// unusedName returns the variable of the type checker's message about one that is declared and not used.
func unusedName(msg string) (string, bool) {
	if name, ok := strings.CutPrefix(msg, "declared and not used: "); ok {
		return name, true
	}
	return strings.CutSuffix(msg, " declared and not used") // of a type switch
}

// accept takes over the errors of a check; true means that there are none.
func (w *work) accept(c *checked, mine func(Error) bool) bool {
	if c.syn != nil {
		w.r.Errors = append(w.r.Errors, c.syntaxErrors()...)
		return false
	}
	for _, e := range c.errs {
		if x := c.errorAt(c.offset(e.Pos), e.Msg); mine(x) {
			w.r.Errors = append(w.r.Errors, x)
		}
	}
	return len(w.r.Errors) == 0
}

// at turns a position in the checked text into an offset in the cell.
func (w *work) at(p token.Pos) int {
	_, off, _ := w.c.user(p)
	return off
}

func (w *work) insert(p token.Pos, s string) { w.edits.insert(w.at(p), s) }
func (w *work) replace(lo, hi token.Pos, s string) {
	w.edits.replace(w.at(lo), w.end(hi), s)
}
func (w *work) blank(lo, hi token.Pos) { w.edits.blank(w.src.Code, w.at(lo), w.end(hi)) }
func (w *work) end(p token.Pos) int    { return w.at(p-1) + 1 }

// after adds code behind a statement.
func (w *work) after(st ast.Stmt, s string) { w.edits.insert(w.end(st.End()), s) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
