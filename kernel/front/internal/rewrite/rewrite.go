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
	keepPath = "github.com/lectern-go/lectern/kernel/keep"
	showPath = "github.com/lectern-go/lectern/kernel/show"
	// devicesPath makes devices known when it is imported. Tensors that are kept on one need it in every later cell, whether
	// or not that names it.
	devicesPath = "github.com/lectern-go/lectern/gpu"
	keepName    = "lecternkeep" // under which programs import package keep
	showName    = "lecternshow"
)

// A Result is what becomes of a cell.
type Result struct {
	Errors   []Error           // the user's mistakes; if there are any, nothing is to be run
	Commands []Command         // for the kernel, in their order, before the program
	Whole    string            // the magic that makes all of the cell something else than Go, such as %%bash; or ""
	Plain    string            // the same without the kernel's doings, as far as that can be
	Wasm     bool              // it is for a page: to be built for js/wasm
	Program  *Text             // package main, to be built and run; nil if there is nothing to run
	Imports  []string          // the paths that it imports
	Args     string            // its arguments, as the user has written them
	GoNB     string            // why GoNB has to build and run it, such as %test; or ""
	Magic    string            // the magic for GoNB that begins the cell then
	Restores []string          // variables that the program restores
	Defines  []string          // variables that it defines
	Removed  map[string]string // what %rm has removed, and the kind of thing that it was
	Forget   []string          // kept variables whose values are of no use any more
	Keeps    bool              // the program saves its variables at the end
	Steps    bool              // it is a //step cell
	Notes    []string          // to be told to the user
	Missing  string            // the path of a package that an import did not find
	Next     *Session
}

// A Command is a magic or a shell line.
type Command struct {
	Name string // such as "%vars"; "!" for a shell line
	Args []string
	Text string // all of it
	Pos  Pos
}

// Rest is what follows the name.
func (c Command) Rest() string { return strings.TrimSpace(strings.TrimPrefix(c.Text, c.Name)) }

// whole are the magics that make all of a cell something else than Go.
var whole = map[string]bool{"%%writefile": true, "%%script": true, "%%bash": true, "%%sh": true, "%%gx": true}

// work is one rewriting in progress.
type work struct {
	s, n  *Session // before and after
	r     *Result
	src   *Source
	code  string // the cell with magics blanked
	edits edits  // on the cell
	base  edits  // those of them that only take magics out
	call  string // the function that %exec names

	decls    []*decl
	stmts    []item
	imported map[string]bool // by this cell
	user     *checked        // the user's text
	final    *checked        // the program with the variables that the cell defines at the package level; mostly the same as user
	body     []ast.Stmt
	types    map[string]variable     // the variables that become package-level
	objects  map[string]types.Object // theirs, in user
	global   map[types.Object]string // objects in user that become package-level, by the names that the program gives them
	local    map[string]bool         // variables that stay in main
	defs     []definition            //
	old      map[string]string       // variables that change their type after a use: name to the name of the earlier one
	dropped  map[*ast.Ident]bool     // names of packages that the program does not mention after all
	literals []*literal              //
	funcs    map[string]string       // functions that main mentions without calling them; see decl
	main     *decl                   // the user's own func main
	tests    bool                    // a %test cell
	parts    map[*checked][]part
	broken   map[*decl][]Error // declarations of earlier cells that do not compile any more
}

// Rewrite turns a cell into a program. cell is its number.
func (s *Session) Rewrite(cell int, code string) *Result {
	r := s.rewrite(cell, code)
	for i := range r.Errors {
		s.explain(&r.Errors[i], r.Next)
	}
	r.Errors = distinct(r.Errors)
	if text := Remark(code); text != "" && len(r.Errors) == 0 && r.Whole == "" {
		r.Notes = append(r.Notes, text)
	}
	return r
}

// rewrite is Rewrite without explanations of the errors.
func (s *Session) rewrite(cell int, code string) *Result {
	code = strings.ReplaceAll(code, "\r\n", "\n")
	w := &work{s: s, n: s.clone(), r: &Result{}, src: &Source{cell, code}, imported: map[string]bool{},
		objects: map[string]types.Object{}, global: map[types.Object]string{}, old: map[string]string{}, dropped: map[*ast.Ident]bool{},
		funcs: map[string]string{}, parts: map[*checked][]part{}, broken: map[*decl][]Error{}}
	w.r.Next = w.n
	w.n.sources[cell], w.n.current = w.src, cell
	w.run()
	return w.r
}

func (w *work) run() {
	if w.magics(); w.r.Whole != "" {
		return
	}
	if e := brackets(w.src, w.code); e != nil {
		w.r.Errors = append(w.r.Errors, *e)
		return
	}
	items := split(w.code)
	if w.cgo(items) {
		return
	}
	if !w.sort(items) || !w.learn() {
		return
	}
	w.publish(w.definitions())
	if len(w.r.Errors) == 0 && w.finally() {
		w.compose()
	}
}

// magics takes the lines for the kernel out of the cell.
func (w *work) magics() {
	code := w.src.Code
	first := strings.Fields(strings.TrimPrefix(code[:lineLen(code)], commentPrefix))
	if len(first) > 0 && whole[first[0]] {
		w.r.Whole = first[0]
		return
	}
	b := []byte(code)
	args := ""
	for _, m := range magics(code) {
		for i := m.lo; i < m.hi; i++ {
			if b[i] != '\n' {
				b[i] = ' '
			}
		}
		w.base.blank(code, m.lo, m.hi)
		c := Command{m.name(), m.fields[min(1, len(m.fields)):], m.text, w.src.Pos(m.lo)}
		switch c.Name {
		case "%%", "%main":
			args = c.Rest()
			continue
		case "%args":
			w.n.args = c.Rest()
			continue
		case "%test":
			w.r.GoNB, w.r.Magic = c.Name, strings.TrimSpace(m.text)
			w.tests = true
			continue
		case "%wasm":
			w.r.Wasm = true
		case "%exec":
			if len(c.Args) > 0 {
				w.call = c.Args[0]
				args = strings.TrimSpace(strings.TrimPrefix(c.Rest(), w.call))
				continue
			}
		case "%rm", "%remove":
			if w.r.Removed == nil {
				w.r.Removed = map[string]string{}
			}
			for _, n := range c.Args {
				w.r.Removed[n] = w.n.kind(n)
			}
			w.r.Forget = append(w.r.Forget, w.n.Forget(c.Args...)...)
		case "%reset":
			if len(c.Args) == 0 {
				for v := range w.n.vars {
					w.r.Forget = append(w.r.Forget, v)
				}
				w.n.Reset()
			}
		}
		w.r.Commands = append(w.r.Commands, c)
	}
	if w.r.Args = args; args == "" {
		w.r.Args = w.n.args
	}
	if w.tests { // theirs are those of go test, in its magic
		w.r.Args = ""
	}
	// A package clause says nothing here; a program that is pasted begins with one.
	for at := 0; at < len(b); at += lineLen(string(b[at:])) {
		end := at + lineLen(string(b[at:]))
		line := strings.Fields(string(b[at:end]))
		if len(line) == 2 && line[0] == "package" && token.IsIdentifier(line[1]) && !within(longLiterals(string(b)), at) {
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
}

// cgo lets GoNB have a cell with C in it as it is, behind all that is remembered. It reports whether this is one.
func (w *work) cgo(items []item) bool {
	is := false
	for _, it := range items {
		is = is || it.kind == token.IMPORT && strings.Contains(w.code[it.lo:it.hi], `"C"`)
	}
	if !is {
		return false
	}
	t := &Text{}
	for _, name := range sortedKeys(w.n.imports) { // GoNB drops those that are not used
		t.Inject(fmt.Sprintf("import %s %q\n", name, w.n.imports[name]))
	}
	for _, name := range sortedKeys(w.n.aliases) {
		t.Inject(fmt.Sprintf("import %s %q\n", name, w.n.aliases[name]))
	}
	for _, d := range w.n.sortedDecls() {
		d.emit(t)
	}
	for _, name := range sortedKeys(w.n.vars) {
		t.Inject("var ", w.n.vars[name].source(name), " ", w.n.vars[name].typ, "\n")
	}
	t.User(w.src, 0, len(w.src.Code))
	w.r.GoNB, w.r.Program = "cgo", t
	for _, it := range items {
		if it.kind == token.IMPORT && !strings.Contains(w.code[it.lo:it.hi], `"C"`) {
			w.imports(it)
		}
	}
	return true
}

// wasmVars are the variables that tell a program in a page where it is. The linker sets them.
const wasmVars = "var GonbWasmDir, GonbWasmUrl, GonbWasmDivId string\n"

func isMain(d *decl) bool { return d.tok == token.FUNC && d.key == "main" }

// isInit reports whether a declaration is a func init. It runs in its own cell, and there may be several.
func isInit(d *decl) bool { return strings.HasPrefix(d.key, initName) }

// isSetup reports whether a function is one that GoNB calls at the beginning of every program.
func isSetup(d *decl) bool { return d.tok == token.FUNC && strings.HasPrefix(d.key, "init_") }

// fail notes a mistake at an offset of the cell.
func (w *work) fail(off int, msg, hint string) {
	w.r.Errors = append(w.r.Errors, Error{Pos: w.src.Pos(off), Msg: msg, Hint: hint, exact: true})
}

// note tells the user something, once if key is not "".
func (w *work) note(key, format string, args ...any) {
	if key != "" {
		if w.n.told[key] {
			return
		}
		w.n.told[key] = true
	}
	w.r.Notes = append(w.r.Notes, fmt.Sprintf(format, args...))
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
			w.r.Missing = path
			w.fail(at, err.Error(), "")
			return false
		case sp.Name == nil:
			w.importAs(p.Name(), path)
		case sp.Name.Name == ".":
			w.fail(at, "import . does not work in a notebook", "import "+path+" by its name, so that later cells know where a name comes from")
			return false
		case sp.Name.Name == "_":
			if !slices.Contains(w.n.blank, path) {
				w.n.blank = append(w.n.blank, path)
			}
		default:
			w.importAs(sp.Name.Name, path)
		}
		if path == devicesPath && !slices.Contains(w.n.blank, path) {
			w.n.blank = append(w.n.blank, path)
		}
	}
	return true
}

// importAs gives a name to a package, which it may have had before a variable or declaration of that name.
func (w *work) importAs(name, path string) {
	if old := w.n.imports[name]; old != "" && old != path {
		w.n.shadow(name) // earlier declarations mean the other package
	}
	if _, ok := w.n.vars[name]; ok || w.n.declaring(name) != nil {
		w.n.take(name, fmt.Sprintf("%s is the package %s since cell [%d]", name, path, w.src.Cell))
		w.r.Forget = append(w.r.Forget, name)
	}
	delete(w.n.told, "package "+name)
	w.n.imports[name] = path
	w.imported[name] = true
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
			d.edits = slices.Clone(w.base)
			if !w.allowed(d) {
				return false
			}
			if (isMain(d) || d.key == "init" && d.tok == token.FUNC) && hasParameters(w.code[d.lo:d.hi]) {
				w.fail(d.lo, "func "+d.key+" takes no arguments and returns nothing", "Go calls it by itself: give a function that you call another name")
				return false
			}
			if isMain(d) { // the program's own main calls it
				w.main = d
				w.rename(d, mainName)
				if w.call == "" {
					w.call = mainName
				}
				continue
			}
			w.declare(d)
		default:
			w.stmts = append(w.stmts, it)
		}
	}
	for _, it := range w.stmts {
		switch {
		case it.kind == token.VAR:
		case w.main != nil:
			w.fail(it.lo, "statement outside func main", "a cell that has a func main runs only that: put the statement into it, or leave func main out")
			return false
		case w.tests:
			w.fail(it.lo, "statement outside a function", "a %test cell holds declarations only: put the statement into a function")
			return false
		}
	}
	w.stmts = inOrder(w.code, w.stmts, items, func(name string) bool {
		_, ok := w.n.vars[name]
		return ok
	})
	return true
}

// hasParameters reports whether a function that is declared takes or returns anything.
func hasParameters(code string) bool {
	var after []token.Token
	for _, t := range tokens(code) {
		if t.tok != token.COMMENT {
			after = append(after, t.tok)
		}
	}
	return len(after) < 5 || after[2] != token.LPAREN || after[3] != token.RPAREN || after[4] != token.LBRACE
}

// rename gives a function of the cell, which no other code names, a name of ours.
func (w *work) rename(d *decl, name string) {
	for _, t := range tokens(w.code[d.lo:d.hi]) {
		if t.tok == token.IDENT {
			w.base.replace(d.lo+t.lo, d.lo+t.hi, name)
			break
		}
	}
	d.key, d.names = name, nil
}

// allowed refuses declarations that no notebook could live with.
func (w *work) allowed(d *decl) bool {
	for _, name := range d.names {
		switch {
		case types.Universe.Lookup(name) != nil:
			w.fail(d.lo, name+" is one of Go's own names", "later cells would lose Go's "+name+": choose another name")
			return false
		case reserved(name):
			w.fail(d.lo, reservedMsg(name), "choose another name")
			return false
		}
	}
	return true
}

// reserved reports whether a name is one that programs use for something of the kernel's.
func reserved(name string) bool {
	for _, p := range []string{literalName, aliasPrefix, hiddenPrefix, initName, mainName, captured, keepName, showName} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func reservedMsg(name string) string { return name + " is a name that the kernel itself uses" }

// declare adds a declaration of the cell to the book.
func (w *work) declare(d *decl) {
	for _, name := range d.names {
		if w.n.shadow(name) {
			w.noteShadow(name)
		}
		if _, ok := w.n.vars[name]; ok {
			w.r.Forget = append(w.r.Forget, name)
		}
	}
	before := sortedKeys(w.n.vars)
	if d.tok == token.FUNC && d.key == "init" {
		w.rename(d, fmt.Sprint(initName, d.lo))
	} else {
		w.n.remember(d)
	}
	for _, v := range before {
		if _, ok := w.n.vars[v]; !ok && !slices.Contains(w.r.Forget, v) {
			w.r.Forget = append(w.r.Forget, v)
		}
	}
	w.decls = append(w.decls, d)
}

// noteShadow says once that a package has lost its name.
func (w *work) noteShadow(name string) {
	path := w.s.imports[name]
	if path == "" {
		path = w.n.packages.ByName(name)
	}
	w.note("package "+name, "%s is no longer the package here; import %q gives it back", name, path)
}

// A part is where a remembered thing stands in a program that is checked.
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
			w.edits.within(d.lo, d.hi).apply(t, w.src, d.lo, d.hi)
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

// learn checks the user's text as it is.
func (w *work) learn() bool {
	hidden := w.hiddenNames()
	ok := w.check(hidden)
	if !ok && len(hidden) > 0 { // perhaps Go's own are meant
		first, errs := w.user, w.r.Errors
		w.r.Errors = nil
		if ok = w.check(nil); !ok {
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

// check checks the user's text, in whose statements hidden variables are seen.
func (w *work) check(hidden []string) bool {
	w.edits = slices.Clone(w.base)
	clear(w.global)
	t, parts := w.program(w.n.vars)
	start, end := t.Len(), t.Len()
	t.Inject("func main() {\n")
	for _, name := range hidden {
		t.Inject("var ", name, " ", w.n.vars[name].typ, "; _ = ", name, "\n")
	}
	if hidden != nil {
		t.Inject("{\n")
	}
	start = t.Len()
	for _, it := range w.stmts {
		w.base.apply(t, w.src, it.lo, it.hi)
		t.Inject("\n")
	}
	end = t.Len()
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
				w.global[c.info.Defs[id]] = hiddenPrefix + id.Name
			}
		}
		w.body = w.body[n].(*ast.BlockStmt).List
	}
	var last ast.Stmt
	if len(w.body) > 0 {
		last = w.body[len(w.body)-1]
	}
	top := map[token.Pos]bool{}
	for _, d := range w.definitions() {
		top[d.obj.Pos()] = true
	}
	for _, e := range c.errs {
		off := c.offset(e.Pos)
		if off < start || off >= end {
			continue // in a declaration: judged when it sees the new variables
		}
		if name, ok := unusedName(e.Msg); ok && e.Soft {
			if top[e.Pos] {
				continue
			}
			if at, s := unusedFix(c.main, e.Pos, name); at.IsValid() {
				w.insert(c, at, s)
				continue
			}
		}
		if last != nil && e.Pos >= last.Pos() && e.Pos < last.End() && strings.HasSuffix(e.Msg, "is not used") {
			if _, ok := last.(*ast.ExprStmt); ok {
				continue
			}
		}
		w.r.Errors = append(w.r.Errors, c.errorAt(off, e.Msg))
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

// finally checks the program that the cell leads to, unless what has been checked says it already: it does if the cell gives no name a new
// meaning and no declaration needs a variable that the cell defines. Mistakes are reported; false means that there are some.
func (w *work) finally() bool {
	again := false
	start := w.user.offset(w.user.main.Pos())
	for _, e := range w.user.errs {
		again = again || w.user.offset(e.Pos) < start
	}
	for name, v := range w.types {
		old, was := w.s.vars[name]
		again = again || was && (old.typ != v.typ || old.hidden != v.hidden) || w.n.declaring(name) != nil
	}
	for name := range w.types { // a name that has been something else
		if d := w.n.declaring(name); d != nil {
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
	if !again {
		return true
	}
	for tries := 0; ; tries++ {
		vars := map[string]variable{}
		for name, v := range w.n.vars {
			vars[name] = v
		}
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
		c := w.n.check(t, w.n.imports)
		w.final, w.parts[c] = c, parts
		if tries < 20 && w.setAside(c) {
			continue
		}
		return w.accept(c)
	}
}

// setAside takes a method of an earlier cell out of the book that does not fit its type as this cell declares it.
func (w *work) setAside(c *checked) bool {
	for _, e := range c.errs {
		off := c.offset(e.Pos)
		for _, p := range w.parts[c] {
			if p.decl == nil || off < p.lo || off >= p.hi || p.decl.src == w.src || len(p.decl.names) > 0 || p.decl.text != nil {
				continue
			}
			typ, method, _ := strings.Cut(p.decl.key, ".")
			if d := w.n.declaring(typ); d == nil || d.src != w.src {
				continue
			}
			delete(w.n.decls, p.decl.key)
			w.note("", "the method %s of cell [%d] does not fit the new %s (%s) and was set aside: declare it again", method, p.decl.src.Cell, typ, e.Msg)
			w.n.gone[p.decl.key] = fmt.Sprintf("it was set aside when %s changed in cell [%d]", typ, w.src.Cell)
			return true
		}
	}
	return false
}

// accept takes over the errors of a check; true means that there are none. A declaration of an earlier cell that is broken already, since
// something that it needs was removed, is a mistake only if the cell reaches it.
func (w *work) accept(c *checked) bool {
	if c.syn != nil {
		w.r.Errors = append(w.r.Errors, c.syntaxErrors()...)
		return false
	}
	changed := strings.Join(w.changed(), "; ")
	for _, e := range c.errs {
		if strings.HasSuffix(e.Msg, "is not used") && c.main != nil && e.Pos >= c.main.Pos() {
			continue // the value of the cell's last line is shown
		}
		if _, unused := unusedName(e.Msg); unused && e.Soft && c.main != nil && e.Pos >= c.main.Pos() {
			continue
		}
		off := c.offset(e.Pos)
		x := c.errorAt(off, e.Msg)
		if d := w.declAt(c, off); d != nil && d.src != w.src {
			if changed == "" || w.s.broken[d.key] || w.n.broken[d.key] {
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

// declAt returns the declaration that stands at an offset of a checked program, or nil.
func (w *work) declAt(c *checked, off int) *decl {
	for _, p := range w.parts[c] {
		if off >= p.lo && off < p.hi {
			return p.decl
		}
	}
	return nil
}

// changed names what this cell gives another meaning.
func (w *work) changed() (changed []string) {
	for name, v := range w.types {
		if old, ok := w.s.vars[name]; ok && old.typ != v.typ {
			changed = append(changed, fmt.Sprintf("%s becomes %s here and was %s", name, v.shown, old.shown))
		} else if w.s.declaring(name) != nil {
			changed = append(changed, name+" becomes a variable here")
		}
	}
	for _, d := range w.decls {
		for _, name := range d.names {
			if _, ok := w.s.vars[name]; ok || w.s.declaring(name) != nil {
				changed = append(changed, name+" is declared anew here")
			}
		}
	}
	for name := range w.imported {
		if _, ok := w.s.vars[name]; ok || w.s.declaring(name) != nil {
			changed = append(changed, name+" becomes a package here")
		}
	}
	slices.Sort(changed)
	return changed
}

// The following turn positions in a checked program into edits of the cell.

func (w *work) at(c *checked, p token.Pos) int {
	_, off, _ := c.user(p)
	return off
}

func (w *work) end(c *checked, p token.Pos) int { return w.at(c, p-1) + 1 }

func (w *work) insert(c *checked, p token.Pos, s string) { w.edits.insert(w.at(c, p), s) }

func (w *work) replace(c *checked, lo, hi token.Pos, s string) {
	w.edits.replace(w.at(c, lo), w.end(c, hi), s)
}

func (w *work) blank(c *checked, lo, hi token.Pos) {
	w.edits.blank(w.src.Code, w.at(c, lo), w.end(c, hi))
}

// after adds code behind a statement.
func (w *work) after(c *checked, st ast.Stmt, s string) { w.edits.insert(w.end(c, st.End()), s) }

// mine reports whether a node was written by the user in this cell.
func (w *work) mine(c *checked, n ast.Node) bool {
	src, _, exact := c.user(n.Pos())
	return exact && src == w.src
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
