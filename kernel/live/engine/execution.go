//go:build js

package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/display"
	"github.com/lectern-go/lectern/kernel/internal/inband"
	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// pageToken is what a page's cells put before their messages. Nobody else prints there.
const pageToken = "page"

// mostText is how many bytes of printed text are shown: a loop without an end must not fill the page.
const mostText = 200_000

// An execution is one cell on its way, or what a change of a widget asks for.
type execution struct {
	*board
	e        *engine
	cell     int
	serial   int // among all executions
	event    bool
	r        *rewrite.Result
	saves    int
	out      inband.Splitter
	err      report.Traces
	steps    *report.Steps
	recorded bool            // the page itself wants the record
	own      *report.Failure // an error that the cell reported in a message
	fail     *report.Failure
	printed  int
	line     string // what has been printed since the last line break: a prompt, if input is asked for now
	prompt   *string
	into     []*model // outputs of widgets: what is shown goes to the last of them, or below the cell
	used     map[*model]bool
	made     bool     // it has made widgets
	mine     bool     // it may have put a function into the reader's package
	noted    bool     // there is a note, on what is lost perhaps
	changed  []*model // of which the page has to be told
}

func newExecution(e *engine, cell int, code string, r *rewrite.Result) *execution {
	e.executions++
	x := &execution{board: newBoard(fmt.Sprint("live-", cell, "-"), code), e: e, cell: cell, serial: e.executions, r: r, saves: e.manifest().Saves, used: map[*model]bool{}}
	x.stored.Count = cell
	x.out = inband.Splitter{Token: pageToken, Text: x.print, Say: x.message}
	x.err = report.Traces{Print: func(s string) {
		x.noted = x.noted || strings.HasPrefix(s, "note: ")
		x.stream("stderr", s)
	}}
	if r != nil && r.Steps {
		x.steps = report.NewSteps(r, r.Next.Source(cell))
	}
	return x
}

// allowed looks at what the rewriter says of the cell, and reports whether its program may be built.
func (x *execution) allowed() bool {
	for _, n := range x.r.Notes {
		x.note(n)
	}
	switch {
	case len(x.r.Errors) > 0:
		x.fail = report.Mistakes(x.r)
	case x.r.Whole != "":
		x.fail = report.Said("page", x.r.Whole+" needs a computer of its own: a page runs Go alone")
	case len(x.r.Commands) > 0:
		x.fail = report.Said("page", x.r.Commands[0].Name+" is the notebook's: a page runs Go alone")
	case x.r.GoNB != "" || x.r.Cgo || x.r.Wasm || x.r.Tests:
		x.fail = report.Said("page", "this cell needs the notebook: a page runs plain cells of Go")
	case len(x.r.Embeds) > 0:
		x.fail = report.Said("page", "//go:embed needs the notebook: a page has no files of yours")
	default:
		return true
	}
	x.fail.NotRun = true
	return false
}

func (x *execution) place() report.Place {
	return report.Place{Cell: x.cell, Source: x.r.Next.Source}
}

// said takes a piece of what the program writes.
func (x *execution) said(descriptor int, s string) {
	if descriptor == 2 {
		x.err.Write(s)
	} else {
		x.out.Write(s)
	}
}

// refused takes what the compiler or the linker says of the program.
func (x *execution) refused(s string) {
	x.fail = x.place().Compiler(s)
	x.fail.NotRun = true
}

// end takes the state in which the program ended: that of a process, or why the page has ended it.
func (x *execution) end(state string) {
	x.out.Close()
	x.prompt = nil
	if x.fail == nil {
		x.fail = x.outcome(state)
	}
	if x.steps != nil {
		x.steps.Fail(x.fail)
	}
	if x.steps != nil && !x.recorded {
		if data := x.steps.Display(x.cell); data != nil {
			x.publish("display_data", map[string]any{"data": data, "metadata": map[string]any{}})
		}
	}
	if x.printed > mostText {
		x.printed = 0
		x.note(fmt.Sprintf("the cell printed more than %d kB; the page shows no more of it", mostText/1000))
	}
}

// report adds what went wrong, below everything else.
func (x *execution) report() {
	if x.fail != nil {
		x.publish("error", x.fail.Content())
	}
}

func (x *execution) outcome(state string) *report.Failure {
	const finished = "Variables have the values that the cells before this one gave them."
	if seconds, ok := strings.CutPrefix(state, "limit "); ok {
		f := report.Said("time limit", "the cell ran for "+seconds+" s and was ended: that is the most that this page gives a cell")
		f.Lines = append(f.Lines, finished)
		return f
	}
	switch {
	case state == "exit status 0":
		x.err.Flush()
		return nil
	case state == "stopped":
		f := report.Said("interrupted", "the cell was interrupted")
		f.Lines = append(f.Lines, finished)
		return f
	case x.own != nil:
		return x.own
	case x.err.Held():
		return x.err.Failure(x.place())
	}
	x.err.Flush()
	return report.Ended(state)
}

// unsaved says what is lost when a cell ends without saving.
func (x *execution) unsaved(lost []string) {
	if len(lost) > 0 {
		x.note("the cell ended before its values were kept; " + strings.Join(lost, ", ") + " must be defined again")
	}
}

// publish adds a message of the kernel's to the outputs.
func (x *execution) publish(kind string, content any) {
	at := x.board
	if n := len(x.into); n > 0 {
		at = x.into[n-1].board
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
func (x *execution) viewed(content any) *model {
	c, _ := content.(map[string]any)
	data, _ := c["data"].(map[string]any)
	view, _ := data[notebook.WidgetType].(map[string]any)
	id, _ := view["model_id"].(string)
	return x.e.models[id]
}

func (x *execution) stream(name, s string) {
	room := mostText - x.printed
	x.printed += len(s)
	if len(s) > room {
		s = strings.ToValidUTF8(s[:max(0, room)], "")
	}
	if s != "" {
		x.publish("stream", map[string]string{"name": name, "text": s})
	}
}

func (x *execution) note(s string) { x.stream("stderr", "note: "+s+"\n") }

// print takes printed text.
func (x *execution) print(s string) {
	x.stream("stdout", s)
	if x.steps != nil {
		x.steps.Print(s)
	}
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		x.line = ""
		s = s[i+1:]
	}
	x.line += s
}

// message obeys a message of the cell.
func (x *execution) message(kind string, fields []string) {
	if t, content := display.Message(kind, fields, x.cell); t != "" {
		x.publish(t, content)
		return
	}
	switch kind {
	case "input":
		prompt := x.line
		x.line, x.prompt = "", &prompt
	case "mine":
		if len(fields) == 2 {
			x.mine = true
			if said := x.e.student.keep(fields[0], fields[1], x.r.Plain); said != "" {
				x.print(said + "\n")
			}
		}
	case "widget":
		x.widget(fields)
	case "error":
		if len(fields) == 2 {
			x.own = report.Said(fields[0], fields[1])
		}
	default:
		if x.steps != nil {
			x.steps.Message(kind, fields)
		}
	}
}

// changes are what a page has to redraw.
type changes struct {
	Count  int      `json:"count"` // of outputs
	Drawn  []change `json:"drawn,omitempty"`
	Prompt *string  `json:"prompt,omitempty"` // a line of input is asked for, after this text
	Models []*model `json:"models,omitempty"` // widgets that are new, or have other values
	Below  []below  `json:"below,omitempty"`  // what stands below widgets
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
	for m := range x.used {
		b := below{ID: m.ID, Count: len(m.board.stored.Outputs), Drawn: m.board.drawn()}
		if len(b.Drawn) > 0 || b.Count != m.board.count {
			c.Below = append(c.Below, b)
		}
		m.board.count = b.Count
	}
	return c
}

// notebook is the cell alone, as it would be stored.
func (x *execution) notebook() []byte {
	return (&notebook.Notebook{Cells: []*notebook.Cell{x.stored}}).Bytes()
}
