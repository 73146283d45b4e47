package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// A cell whose steps are recorded calls package show after each statement, with the variables that it set. The calls
// have a number, their site:
//
//	s += i; lecternshow.Step(5, "gs", &s)
//
// stepstatements.go says what is called for which statement, stepvalues.go what a call says about variables, and
// stepcopies.go how a cell runs at full speed once enough is recorded.

// A Site is a place of a cell at which a step is recorded.
type Site struct {
	Line  int
	Loop  int    // the innermost loop around it, as an index into Loops plus one; 0 for none
	Head  bool   // an iteration of that loop begins here
	Func  string // the function that begins here
	In    int    // the function that it is in, by the order of their beginnings; 0 for the cell itself
	Scope int    // the innermost block around it, as an index into Scopes plus one; 0 for the cell itself
}

// A Loop is one of a cell's loops.
type Loop struct {
	Line   int
	Parent int // the loop around it in the same function, as in Site
}

// A tracing lets a cell record its steps.
type tracing struct {
	*assembly
	base      edits // those that are in both copies of a piece of code
	scopes    map[*types.Scope]int
	functions int
	ranges    int             // variables for what loops range over
	pointed   map[string]bool // the cell's own variables whose address is taken, or that closures set
	doors     map[string]bool // those of earlier cells that another one may point to
	closures  map[types.Object]*closure
	copied    map[string]bool // functions that have a plain version, by their functionKey
}

// A tracer edits the statements of one checked program.
type tracer struct {
	*tracing
	c         *checked
	function  ast.Node
	results   *types.Signature // of the function, if what it returns can be recorded
	number    int              // of the function, as in Site
	loop      int
	guarded   bool                  // the code may run when nothing is recorded
	addressed map[types.Object]bool // variables whose address is taken, or that a closure sets
	top       *types.Scope          // that of the cell's own statements
}

// stepped reports whether the steps of the cell are wanted.
func (w *work) stepped() bool {
	wanted := w.s.steps || strings.HasPrefix(strings.TrimSpace(w.src.Code), "//step")
	return wanted && !w.s.noSteps && !w.s.alone && !w.r.Wasm && !w.tests
}

// traceSteps lets a cell record its statements, those of the functions that it declares among them. All other edits
// have been made. It returns the call that begins to record.
func (a *assembly) traceSteps() string {
	s := &tracing{assembly: a, base: slices.Clone(a.edits), scopes: map[*types.Scope]int{}, pointed: map[string]bool{}, doors: a.findDoors(), closures: a.findClosures(), copied: a.copiedFunctions()}
	s.base = append(s.base, s.callPlain()...)
	cell := s.tracer(a.user, a.body)
	cell.guarded = slices.ContainsFunc(a.body, func(st ast.Stmt) bool { return !copyable(st) })
	var functions []*tracer // all are looked at before the first statement is edited
	a.eachDecl(a.final, func(_ *decl, n ast.Node) {
		if fd, ok := n.(*ast.FuncDecl); ok && fd.Body != nil {
			t := s.tracer(a.final, fd.Body.List)
			t.function = fd
			functions = append(functions, t)
		}
	})
	cell.block(a.body)
	for _, t := range functions {
		t.declaration(t.function.(*ast.FuncDecl))
	}
	return a.beginSteps()
}

// tracer begins to edit statements of a program.
func (s *tracing) tracer(c *checked, list []ast.Stmt) *tracer {
	t := &tracer{tracing: s, c: c, addressed: addressed(c, list)}
	if c.main != nil {
		t.top = c.pkg.Scope().Innermost(c.main.Body.Lbrace)
	}
	for o := range t.addressed {
		if o != nil && t.own(o) {
			s.pointed[o.Name()] = true
		}
	}
	return t
}

// beginSteps is the call that begins to record, with the variables of earlier cells.
func (a *assembly) beginSteps() string {
	var sites, scopes []string
	for _, s := range a.r.Sites {
		sites = append(sites, fmt.Sprintf("%d %d", s.In, s.Scope))
	}
	for _, around := range a.r.Scopes {
		scopes = append(scopes, strconv.Itoa(around))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s.BeginSteps(%d, %v, %q", showName, a.src.Cell, a.r.effects.goroutines, strings.Join(sites, ",")+";"+strings.Join(scopes, ","))
	for _, name := range a.r.Restores {
		if v := a.n.vars[name]; a.old[name] == "" {
			fmt.Fprintf(&b, ", %q, &%s", "g"+name, v.source(name))
		}
	}
	return b.String() + ")"
}

// scope numbers a block; those around the cell's own statements are 0.
func (t *tracer) scope(s *types.Scope) int {
	c := t.c
	if s == nil || s == types.Universe || s == c.pkg.Scope() || s.Parent() == c.pkg.Scope() || s == t.top {
		return 0
	}
	n := t.scopes[s]
	if n == 0 {
		around := t.scope(s.Parent())
		t.r.Scopes = append(t.r.Scopes, around)
		n = len(t.r.Scopes)
		t.scopes[s] = n
	}
	return n
}

// site numbers a place.
func (t *tracer) site(p token.Pos, s Site) int {
	s.Line, s.In = t.src.Pos(t.at(t.c, p)).Line, t.number
	s.Scope = t.scope(t.c.pkg.Scope().Innermost(p))
	if !s.Head {
		s.Loop = t.loop
	}
	t.r.Sites = append(t.r.Sites, s)
	return len(t.r.Sites) // 0 is what was there before the cell
}

// step records a statement; by are the parts of it that may change more than they name.
func (t *tracer) step(p token.Pos, es []ast.Expr, by ...ast.Node) string {
	return t.call(t.reaches(es, by), t.site(p, Site{}), t.values(es))
}

// call writes a recording call. values are arguments, as t.values writes them.
func (t *tracer) call(all bool, site int, values string) string {
	name := "Step"
	if all {
		name = "StepAll"
	}
	s := fmt.Sprintf("%s.%s(%d%s)", showName, name, site, values)
	if t.guarded {
		s = fmt.Sprintf("if %s { %s }", t.stepping(), s)
	}
	return s
}

// stepping asks whether steps are still recorded.
func (t *tracer) stepping() string { return fmt.Sprintf("%s.Stepping(%d)", showName, t.src.Cell) }
