package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/internal/runner"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// pageToken is what a page's cells put before their messages. Nothing else prints there.
const pageToken = "page"

// mostText is how many bytes of printed text are shown: an endless loop must not fill the page.
const mostText = 200_000

// An execution is one cell on its way, or what a change of a widget asks for.
type execution struct {
	*runner.Cell
	*board
	e        *engine
	serial   int // among all executions
	event    bool
	recorded bool // the page itself wants the record of the steps
	fail     *report.Failure
	printed  int
	prompt   *string
	into     []*board          // outputs of widgets: displays go to the last of them, or below the cell
	used     map[string]*board // the outputs that this execution shows something in, by widget
	noted    bool              // there is a note, perhaps on lost values
	changed  []*runner.Widget  // of which the page has to be told
	mine     bool              // it may have put a function into the reader's package
}

func newExecution(e *engine, cell int, code string, r *rewrite.Result) *execution {
	e.executions++
	x := &execution{board: newBoard(fmt.Sprint("live-", cell, "-"), code), e: e, serial: e.executions, used: map[string]*board{}}
	x.Cell = runner.New(x, cell, pageToken, &e.widgets)
	x.stored.Count = cell
	if x.Result = r; r != nil {
		x.Begin(&e.Session)
	}
	return x
}

// allowed looks at what the rewriter says about the cell, and reports whether its program may be built.
func (x *execution) allowed() bool {
	for _, n := range x.Result.Notes {
		x.note(n)
	}
	switch {
	case len(x.Result.Errors) > 0:
		x.fail = report.Mistakes(x.Result)
	case x.Result.Whole != "":
		x.fail = report.Said("page", x.Result.Whole+" needs a real computer: a page runs nothing but Go")
	case len(x.Result.Commands) > 0:
		x.fail = report.Said("page", x.Result.Commands[0].Name+" works only in the notebook: a page runs nothing but Go")
	case x.Result.GoNB != "" || x.Result.Cgo || x.Result.Wasm || x.Result.Tests:
		x.fail = report.Said("page", "this cell needs the notebook: a page runs plain Go cells")
	default:
		return true
	}
	x.fail.NotRun = true
	return false
}

// said takes a piece of what the program writes.
func (x *execution) said(descriptor int, s string) {
	if descriptor == 2 {
		x.Stderr(s)
	} else {
		x.Stdout(s)
	}
}

// refused takes what the compiler or the linker says about the program.
func (x *execution) refused(s string) {
	x.fail = x.Place().Compiler(s)
	x.fail.NotRun = true
}

// end takes the state in which the program ended: that of a process, or why the page has ended it. It returns the
// record of the steps if the page wants that.
func (x *execution) end(state string) *report.Record {
	x.Close(func() { x.prompt = nil })
	if x.fail == nil {
		x.fail = x.Outcome(state, stopped(state))
	}
	record := x.EndSteps(x.fail, x.recorded)
	if x.printed > mostText {
		x.printed = 0
		x.note(fmt.Sprintf("the cell printed more than %d kB; the page shows no more of it", mostText/1000))
	}
	return record
}

// report adds what went wrong, below everything else.
func (x *execution) report() {
	if x.fail != nil {
		x.Publish("error", x.fail.In(x.e.language).Content())
	}
}

// stopped is the failure of a program that the page has ended, by its state, or nil.
func stopped(state string) (f *report.Failure) {
	if seconds, ok := strings.CutPrefix(state, "limit "); ok {
		f = report.Said("time limit", "the cell ran for "+seconds+" s and was stopped: this page gives a cell no more time")
	} else if state == "stopped" {
		f = report.Said("interrupted", "the cell was interrupted")
	} else {
		return nil
	}
	f.Lines = append(f.Lines, "Variables have the values that the cells before this one gave them.")
	return f
}

// unsaved names the values that are lost when a cell ends without saving.
func (x *execution) unsaved(lost []string) {
	switch {
	case len(lost) > 0:
		x.note(report.NotKept + "; " + strings.Join(lost, ", ") + " must be defined again")
	case x.fail == nil:
		x.note(report.EndedEarly)
	}
}

// Publish adds a message of the kernel's to the outputs.
func (x *execution) Publish(kind string, content any) {
	at := x.board
	if n := len(x.into); n > 0 {
		at = x.into[n-1]
	}
	b, err := json.Marshal(content)
	if err == nil {
		err = at.recorder.Add(kind, b)
	}
	if m := x.viewed(content); m != nil && len(at.stored.Outputs) > 0 {
		at.widgets[at.stored.Outputs[len(at.stored.Outputs)-1]] = m
	}
	if err != nil {
		x.note(err.Error())
	}
}

// viewed is the widget that a message shows, or nil.
func (x *execution) viewed(content any) *runner.Widget {
	c, _ := content.(map[string]any)
	data, _ := c["data"].(map[string]any)
	view, _ := data[notebook.WidgetType].(map[string]any)
	id, _ := view["model_id"].(string)
	return x.e.widgets.Get(id)
}

// Stream shows printed text, as far as there is room.
func (x *execution) Stream(name, s string) {
	x.noted = x.noted || name == "stderr" && strings.HasPrefix(s, "note: ")
	x.show(name, s)
}

func (x *execution) show(name, s string) {
	room := mostText - x.printed
	x.printed += len(s)
	if len(s) > room {
		s = strings.ToValidUTF8(s[:max(0, room)], "")
	}
	if s != "" {
		x.Publish("stream", map[string]string{"name": name, "text": s})
	}
}

func (x *execution) note(s string) { x.show("stderr", "note: "+s+"\n") }

// Ask has the page ask for a line.
func (x *execution) Ask(prompt string) { x.prompt = &prompt }

// Obey obeys the messages that a page treats differently.
func (x *execution) Obey(kind string, fields []string) bool {
	if kind != "mine" {
		return false
	}
	if len(fields) == 2 {
		x.mine = true
		if said := x.e.student.keep(fields[0], fields[1], x.Result.Plain); said != "" {
			x.Print(said + "\n")
		}
	}
	return true
}

// changes are what a page has to redraw.
type changes struct {
	Count  int              `json:"count"` // of outputs
	Drawn  []change         `json:"drawn,omitempty"`
	Prompt *string          `json:"prompt,omitempty"` // a line of input is asked for, after this text
	Models []*runner.Widget `json:"models,omitempty"` // widgets that are new, or have other values
	Below  []below          `json:"below,omitempty"`  // what is below widgets
}

// A change is an output: HTML, or a widget that the page draws.
type change struct {
	At     int    `json:"at"`
	HTML   string `json:"html,omitempty"`
	Widget string `json:"widget,omitempty"`
}

func (x *execution) changes() changes {
	c := changes{Count: len(x.stored.Outputs), Drawn: x.drawn(), Prompt: x.prompt, Models: x.changed}
	x.prompt, x.changed = nil, nil
	for id, at := range x.used {
		if x.e.boards[id] != at {
			continue // no widget of the page has it
		}
		b := below{ID: id, Count: len(at.stored.Outputs), Drawn: at.drawn()}
		if len(b.Drawn) > 0 || b.Count != at.count {
			c.Below = append(c.Below, b)
		}
		at.count = b.Count
	}
	return c
}

// notebook is the cell alone, as it would be stored.
func (x *execution) notebook() []byte {
	return (&notebook.Notebook{Cells: []*notebook.Cell{x.stored}}).Bytes()
}
