package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"sync"
)

const (
	persistPath = "github.com/lectern-go/lectern/kernel/persist"
	showPath    = "github.com/lectern-go/lectern/kernel/show"
	// picturesPath draws values of package image, for programs that import that.
	picturesPath = showPath + "/pictures"
	// progressPath is how libraries say how far they are, which package show draws.
	progressPath = "github.com/lectern-go/lectern/internal/progress"
	// devicesPath makes devices known when it is imported. Tensors that are kept on one need it in every later cell,
	// whether or not that names it.
	devicesPath = "github.com/lectern-go/lectern/gpu"
	persistName = "lecternpersist" // under which programs import package persist
	showName    = "lecternshow"
)

// A Result is what Rewrite makes of a cell.
type Result struct {
	Errors   []Error           // the user's mistakes; if there are any, nothing must run
	Commands []Command         // for the kernel, in their order, before the program
	Whole    string            // the magic that makes all of the cell something other than Go, such as %%bash; or ""
	Plain    string            // the same without the kernel's doings, as far as that can be
	Wasm     bool              // it is for a page: to be built for js/wasm
	Program  *Text             // package main, to be built and run; nil if there is nothing to run
	Imports  []string          // the paths that it imports
	Args     string            // its arguments, as the user has written them
	GoNB     string            // why GoNB has to run it: gonbui; or ""
	Cgo      bool              // it has C in it: the go command has to build it
	Tests    bool              // it is a test program
	Restores []string          // variables that the program restores
	Defines  []string          // variables that it defines
	Declares []string          // functions, types and constants that it declares; methods are called Type.Method
	Removed  map[string]string // what %rm has removed, and the kind of thing that it was
	Forget   []string          // kept variables whose values are of no use any more
	Keeps    bool              // the program saves its variables at the end
	Steps    bool              // the program records its steps, at these places:
	Sites    []Site            // by their number less one
	Loops    []Loop            //
	Scopes   []int             // and in these blocks: of each the block around it, as in Site
	Race     bool              // it must be built with the race detector
	Timed    bool              // the user wants to know how long it takes
	Notes    []string          // to be told to the user
	Earlier  map[string]string // names in the program of variables that have another type from this cell on, by the name that both have
	Missing  string            // the path of a package that an import did not find
	Next     *Session

	effects effects
	tells   []string               // calls by which the program tells package persist what there is, in their order at its beginning
	values  []string               // functions of the program that are values in it
	fields  func() map[origin]bool // see work.fields
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

// whole are the magics that make all of a cell something other than Go.
var whole = map[string]bool{"%%writefile": true, "%%script": true, "%%bash": true, "%%sh": true, "%%gx": true}

// around are the magics that come before Go code and say how to run it.
var around = map[string]func(w *work){
	"%time":   func(w *work) { w.r.Timed = true },
	"%timeit": func(w *work) { w.measure = "Time" },
	"%bench":  func(w *work) { w.measure = "Bench" },
	"%race":   func(w *work) { w.r.Race = true },
}

// measurePath is the package that runs a cell's statements and says how long they take.
const measurePath = showPath + "/measure"

// measures reports whether the cell's statements are measured. A program for a reader does without.
func (w *work) measures() bool { return w.measure != "" && !w.s.alone }

// work is one rewriting in progress.
type work struct {
	s, n    *Session // before and after
	account func() account
	r       *Result
	src     *Source
	code    string // the cell with magics blanked
	edits   edits  // on the cell
	base    edits  // those of them that only take magics out
	call    string // the function that %exec names

	decls    []*decl
	stmts    []item
	imported map[string]bool // by this cell
	user     *checked        // the user's text
	final    *checked        // the program with the variables that the cell defines at the package level; mostly the same as user
	body     []ast.Stmt
	types    map[string]variable     // the variables that become package-level
	global   map[types.Object]string // objects in user that become package-level, by the names that the program gives them
	local    map[string]string       // variables that stay in main, and the note about that
	defs     []definition            //
	assigned map[string]bool         // those of them that := assigns to: it defines another one
	old      map[string]string       // variables that change their type after a use: name to the name of the earlier one
	dropped  map[*ast.Ident]bool     // names of packages that the program does not mention after all
	main     *decl                   // the user's own func main
	tests    bool                    // a %test cell
	measure  string                  // the function of package measure that runs the statements, or ""
	testArgs string                  // what follows that
	parts    map[*checked][]part
	broken   map[*decl][]Error // declarations of earlier cells that do not compile any more
}

// Rewrite turns a cell into a program. cell is its number.
func (s *Session) Rewrite(cell int, code string) *Result {
	w := s.rewrite(cell, code)
	if len(w.r.Errors) == 0 {
		w.remarks()
	}
	w.r.Errors = s.explained(w.r.Errors, w.r.Next)
	return w.r
}

// rewrite is Rewrite without explanations of the errors, and without remarks.
func (s *Session) rewrite(cell int, code string) *work {
	code = strings.ReplaceAll(code, "\r\n", "\n")
	w := &work{s: s, n: s.clone(), account: sync.OnceValue(s.account), r: &Result{}, src: &Source{Cell: cell, Code: code}, imported: map[string]bool{},
		global: map[types.Object]string{}, old: map[string]string{}, dropped: map[*ast.Ident]bool{},
		parts: map[*checked][]part{}, broken: map[*decl][]Error{}}
	w.r.Next = w.n
	w.n.unkept, w.n.unkeptLiterals, w.n.steps, w.n.noSteps = nil, false, false, false
	w.n.sources[cell], w.n.current = w.src, cell
	w.run()
	return w
}

func (w *work) run() {
	if w.magics(); w.r.Whole != "" {
		return
	}
	if w.measures() {
		if _, err := w.n.packages.Import(measurePath); err != nil {
			w.fail(0, "there is nothing here to measure with", "run the cell in a notebook")
			return
		}
	}
	if e := brackets(w.src, w.code); e != nil {
		w.r.Errors = append(w.r.Errors, *e)
		return
	}
	if w.refuseEmbed() {
		return
	}
	items := split(w.code)
	goes := w.sort(items)
	for name := range w.s.vars {
		if _, still := w.n.vars[name]; !still {
			w.r.Forget = append(w.r.Forget, name)
		}
	}
	if !goes || !w.checkText() || !w.callsMain() {
		return
	}
	w.hoist(w.definitions())
	if len(w.r.Errors) == 0 && w.checkOutcome() {
		w.compose()
	}
	for name, why := range w.local { // nor is an earlier variable of that name what it means
		w.n.take(name, "")
		w.n.gone[name] = why
	}
}

// refuseEmbed refuses //go:embed, which gives files to the program that a cell is for a moment.
func (w *work) refuseEmbed() bool {
	const directive = "//go:embed "
	if strings.Contains(w.code, directive) {
		for t := range scan([]byte(w.code), nil) {
			if files := strings.Fields(strings.TrimPrefix(t.lit, directive)); strings.HasPrefix(t.lit, directive) && len(files) > 0 {
				w.fail(t.lo, "go:embed doesn't work in cells", "use os.ReadFile(\""+strings.Trim(files[0], "\"`")+"\")")
				return true
			}
		}
	}
	return false
}

// programName is the name that a function of the cells has in the program: its own main calls the user's.
func programName(f *types.Func) string {
	if f.Name() == "main" && f.Signature().Recv() == nil {
		return mainName
	}
	return f.Name()
}

// callsMain lets what the cell says of main mean the user's own; false means that there is none.
func (w *work) callsMain() bool {
	own := w.user.info.Defs[w.user.main.Name]
	for id, o := range w.user.info.Uses {
		if o != own || !w.mine(w.user, id) {
			continue
		}
		if w.n.decls[mainName] == nil {
			w.fail(w.at(w.user, id.Pos()), "undefined: main", "no cell has a func main: a cell runs without one")
			return false
		}
		w.replace(w.user, id.Pos(), id.End(), mainName)
	}
	return true
}

// magics takes the lines for the kernel out of the cell.
func (w *work) magics() {
	code := w.src.Code
	if w.r.Whole = wholeMagic(code); w.r.Whole != "" {
		return
	}
	lines, rest := magics(code)
	args := ""
	for _, m := range lines {
		w.base.blank(code, m.lo, m.hi)
		if f := around[m.name()]; f != nil {
			f(w)
			continue
		}
		c := Command{m.name(), m.fields[min(1, len(m.fields)):], m.text, w.src.Pos(m.lo)}
		switch c.Name {
		case "%%", "%main":
			args = c.Rest()
			continue
		case "%args":
			w.n.args = c.Rest()
			continue
		case "%test":
			w.tests, w.r.Tests, w.testArgs = true, true, c.Rest()
			continue
		case "%wasm":
			w.r.Wasm = true
		case "%exec":
			if len(c.Args) > 0 {
				w.call = c.Args[0]
				if w.call == "main" {
					w.call = mainName
				}
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
			w.n.forget(c.Args)
		case "%reset":
			if len(c.Args) == 0 {
				w.n.Reset()
			}
		}
		w.r.Commands = append(w.r.Commands, c)
	}
	if w.r.Args = args; args == "" {
		w.r.Args = w.n.args
	}
	if w.tests { // theirs are those of go test
		w.r.Args = w.testArgs
	}
	// A package clause says nothing here; a program that is pasted begins with one.
	b := []byte(rest)
	name := false // comes next
	for t := range scan([]byte(rest), nil) {
		if t.tok == token.PACKAGE || name && t.tok == token.IDENT {
			w.base.blank(code, t.lo, t.hi)
			blank(b[t.lo:t.hi])
		}
		name = t.tok == token.PACKAGE
	}
	w.code = string(b)
	w.edits = slices.Clone(w.base)
}

// wasmVars are the variables that tell a program in a page where it is. The linker sets them.
const wasmVars = "var GonbWasmDir, GonbWasmUrl, GonbWasmDivId string\n"

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
