//go:build js

package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/display"
	"github.com/lectern-go/lectern/kernel/internal/inband"
	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/render"
)

// pageToken is what a page's cells put before their messages. Nobody else prints there.
const pageToken = "page"

// mostText is how many bytes of printed text are shown: a loop without an end must not fill the page.
const mostText = 200_000

// An execution is one cell on its way.
type execution struct {
	cell     int
	r        *rewrite.Result
	saves    int
	recorder notebook.Recorder
	stored   *notebook.Cell
	draw     *render.Outputs
	out      inband.Splitter
	err      report.Traces
	steps    *report.Steps
	recorded bool            // the page itself wants the record
	own      *report.Failure // an error that the cell reported in a message
	fail     *report.Failure
	printed  int
	line     string // what has been printed since the last line break: a prompt, if input is asked for now
	prompt   *string
	shown    []string // what each output was when it was drawn last
}

func newExecution(cell int, code string, r *rewrite.Result, saves int) *execution {
	x := &execution{cell: cell, r: r, saves: saves, draw: render.NewOutputs(fmt.Sprint("live-", cell, "-"))}
	x.stored = &notebook.Cell{Type: "code", Source: code}
	x.recorder.Begin(x.stored)
	x.stored.Count = cell
	x.out = inband.Splitter{Token: pageToken, Text: x.print, Say: x.message}
	x.err = report.Traces{Print: func(s string) { x.stream("stderr", s) }}
	if r.Steps {
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
	case x.r.GoNB != "" || x.r.Wasm || x.r.Tests:
		x.fail = report.Said("page", "this cell needs the notebook: a page runs plain cells of Go")
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
	b, err := json.Marshal(content)
	if err == nil {
		err = x.recorder.Add(kind, b)
	}
	if err != nil {
		x.note(err.Error())
	}
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
}

type change struct {
	At   int    `json:"at"`
	HTML string `json:"html"`
}

func (x *execution) changes() changes {
	c := changes{Count: len(x.stored.Outputs), Prompt: x.prompt}
	x.prompt = nil
	x.shown = append(x.shown, make([]string, max(0, c.Count-len(x.shown)))...)[:c.Count]
	for i, o := range x.stored.Outputs {
		// A stream grows, and a display gets other data: neither changes in place.
		now := fmt.Sprint(o.Type, o.Name, len(o.Text), reflect.ValueOf(o.Data).Pointer())
		if x.shown[i] != now {
			x.shown[i] = now
			c.Drawn = append(c.Drawn, change{i, x.draw.Output(o)})
		}
	}
	return c
}

// notebook is the cell alone, as it would be stored.
func (x *execution) notebook() []byte {
	return (&notebook.Notebook{Cells: []*notebook.Cell{x.stored}}).Bytes()
}
