// Command engine is the notebook's kernel for a web page: it rewrites cells, and turns what their programs print into
// outputs. It reads the archives of packages from the page's memory, and answers calls from JavaScript.
//
// When it is ready it has set lecternEngine to an object with these functions; what they take and return is text in
// JSON unless said otherwise:
//
//	rewrite(cell, code, steps, last, more)  begins a cell, whose steps may be recorded, and which has run as last before,
//	                      or 0; the result is an [answer]. more are cells to run after it, as [next]:
//	                      the program runs some of them, too
//	turn(cell, code, last)  begins the cell that the program goes on with: true if it has something to run, else false,
//	                      or null if the program does not go on with it
//	mine(files)           the reader's package mine: files by name, in place of those of ours
//	errors(catalogue)     what errors mean in the page's language: see [translate.ReadErrors]
//	compiled(text)        the library of an answer has been compiled, or the compiler has refused it with this text
//	event(widget)         begins what somebody's change of a widget asks for: an [answer]; its program reads what has
//	                      happened
//	said(descriptor, bytes)  the program has printed (1) or complained (2)
//	refused(text)         the compiler or the linker has refused the program
//	ended(state)          the cell has ended: a [verdict]. What later cells know follows from that
//	outputs()             what has changed since the last call: [changes]
//	cell()                the cell as a notebook of its own, as it would be stored
//	export(name, notebook)  the notebook as one program: an [exported]
//	complete(code, at)    what can come there, before a character of a cell: a [completion]
//	help(code, at)        what the name there is: a [meaning]
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/export"
	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/internal/runner"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/translate"
)

// An answer is a rewritten cell.
type answer struct {
	Errors  []mistake         `json:"errors,omitempty"`
	Need    []string          `json:"need,omitempty"`    // archives that have to be there first; then the cell must be rewritten
	Library *library          `json:"library,omitempty"` // has to be compiled first; then the cell must be rewritten
	Program string            `json:"program,omitempty"` // Go source; none if there is nothing to run
	Files   map[string]string `json:"files,omitempty"`   // the archives that the program is built from, by path
	Alone   *answer           `json:"alone,omitempty"`   // the cell's own program, if Program runs others, too
}

// A mistake is an error at a place of the user's text. Lines and columns count from 1, columns in characters.
type mistake struct {
	Cell int    `json:"cell"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
	End  int    `json:"end"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

// An engine is the session of a page.
type engine struct {
	runner.Session
	packages *packages
	student  *student
	now      *execution
	language *translate.Errors
	chain    []*link // cells that the program that runs goes on with

	executions int
	widgets    runner.Widgets
	boards     map[string]*board // outputs below widgets, by widget
}

// newEngine returns an engine for the packages of an index, which keeps values in a folder.
func newEngine(index, keep string) (*engine, error) {
	p, err := readPackages(index)
	if err != nil {
		return nil, err
	}
	e := &engine{packages: p, student: newStudent(p, filepath.Dir(keep)), boards: map[string]*board{}}
	e.Dir = keep
	e.Set(rewrite.NewSession(p, e.Manifest))
	return e, nil
}

// text is an answer as JavaScript gets it.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers alone
	}
	return string(b)
}

// rewrite begins a cell, with whose program others may run.
func (e *engine) rewrite(cell int, code string, steps bool, more string) *answer {
	e.packages.absent, e.chain = nil, nil
	session := e.Current()
	if steps {
		session = session.Stepped(true)
	}
	r := session.Rewrite(cell, code)
	wanted := e.packages.absent
	if strings.Contains(code+more, "Grade(") { // an accepted function is compiled with the package mine
		wanted = append(wanted, minePath)
	}
	if need := e.packages.missing(wanted); len(need) > 0 {
		return &answer{Need: need}
	}
	a := &answer{}
	for _, m := range r.Errors {
		a.Errors = append(a.Errors, mistake{m.Pos.Cell, m.Pos.Line, m.Pos.Col, m.End, m.Msg, m.Hint})
	}
	if r.Program != nil && len(r.Errors) == 0 {
		if !e.collect(a, r.Program, r.Imports) {
			return a
		}
		if b := e.join(cell, r, more, steps); b != nil && b.Program == "" {
			return b
		} else if b != nil {
			b.Alone = a
			a = b
		}
	}
	e.now = newExecution(e, cell, code, r)
	e.now.recorded = steps
	if e.student.trouble != "" {
		e.now.note(e.student.trouble)
		e.student.trouble = ""
	}
	if !e.now.allowed() {
		a.Program, a.Files, a.Alone = "", nil, nil
	}
	return a
}

// collect puts a program and its archives into an answer, or what must be loaded first; then it reports false.
func (e *engine) collect(a *answer, program *rewrite.Text, imports []string) bool {
	if a.Library, a.Need = e.student.library(imports); a.Library != nil || len(a.Need) > 0 {
		return false
	}
	paths := append(slices.Clone(imports), "runtime") // which the linker adds
	if a.Need = e.packages.missing(paths); len(a.Need) > 0 {
		return false
	}
	a.Program, a.Files = program.Source(), map[string]string{}
	for _, path := range paths {
		e.packages.collect(path, a.Files)
	}
	return true
}

// An exported notebook is a program, or says why there is none.
type exported struct {
	Need    []string `json:"need,omitempty"` // as in an answer
	Program string   `json:"program,omitempty"`
	Tests   string   `json:"tests,omitempty"` // a file of its own
	Problem string   `json:"problem,omitempty"`
	Cell    string   `json:"cell,omitempty"` // whose problem it is
}

// export makes one program of a notebook, whatever has run before.
func (e *engine) export(name, stored string) exported {
	e.packages.absent = nil
	var cells []export.Cell
	var made *export.Made
	n, err := notebook.Parse(name, []byte(stored))
	if err == nil {
		cells, err = export.Cells(n, e.packages, func(*rewrite.Result) bool { return false })
	}
	if err == nil {
		made, err = export.Program(cells, e.packages, nil)
	}
	if need := e.packages.missing(e.packages.absent); len(need) > 0 {
		return exported{Need: need}
	}
	var m *export.Mistake
	switch {
	case errors.As(err, &m):
		return exported{Problem: m.Text, Cell: m.Cell.ID}
	case err != nil:
		return exported{Problem: err.Error()}
	}
	return exported{Program: fmt.Sprintf(export.Header, name) + string(made.Main), Tests: string(made.Tests)}
}

// A verdict says how a cell has ended.
type verdict struct {
	Failed bool              `json:"failed"`
	Fresh  bool              `json:"fresh,omitempty"` // the next cell must have a process of its own
	Steps  *report.Record    `json:"steps,omitempty"` // if they were asked for
	Mine   map[string]string `json:"mine,omitempty"`  // new files of the reader's package, by name
}

// ended settles what the cells after this one know.
func (e *engine) ended(state string) verdict {
	x := e.now
	record := x.end(state)
	switch {
	case x.event:
		x.into = x.into[:min(1, len(x.into))] // what has failed is reported below the widget
		e.EndEvent()
	case x.fail == nil || !x.fail.NotRun:
		x.into = nil
		lost, saved := e.End(x.Cell)
		x.noted = x.noted || len(lost) > 0
		if x.Result.Keeps && !saved {
			x.unsaved(lost)
		}
	}
	x.report()
	x.describe()
	v := verdict{Failed: x.fail != nil, Fresh: x.noted || x.HasWidgets(), Steps: record}
	if x.mine {
		v.Mine = e.student.written()
		e.student.changed = e.student.changed || len(v.Mine) > 0
	}
	return v
}
