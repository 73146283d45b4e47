package main

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/lectern-go/lectern/kernel/internal/display"
	"github.com/lectern-go/lectern/kernel/internal/runner"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/render"
)

// A board is a place for outputs: below a cell, or below a widget of one.
type board struct {
	recorder notebook.Recorder
	stored   *notebook.Cell
	draw     *render.Outputs
	count    int                                 // of outputs, when they were drawn last
	shown    []drawing                           // what each output was when it was drawn last
	widgets  map[*notebook.Output]*runner.Widget // outputs that the page draws itself
}

func newBoard(prefix, code string) *board {
	b := &board{draw: render.NewOutputs(prefix), count: -1, stored: &notebook.Cell{Type: "code", Source: code}, widgets: map[*notebook.Output]*runner.Widget{}}
	b.recorder.Begin(b.stored)
	return b
}

// A drawing is what tells an output from what it was: a stream grows, a display gets other data, and what comes after
// clear_output is another output.
type drawing struct {
	of   *notebook.Output
	text int
	data unsafe.Pointer
}

// drawn are the outputs that have changed since the last call.
func (b *board) drawn() (list []change) {
	n := len(b.stored.Outputs)
	b.shown = append(b.shown, make([]drawing, max(0, n-len(b.shown)))...)[:n]
	for i, o := range b.stored.Outputs {
		now := drawing{o, len(o.Text), reflect.ValueOf(o.Data).UnsafePointer()}
		if b.shown[i] == now {
			continue
		}
		b.shown[i] = now
		if m := b.widgets[o]; m != nil {
			list = append(list, change{At: i, Widget: m.ID})
		} else {
			list = append(list, change{At: i, HTML: b.draw.Output(o)})
		}
	}
	return list
}

// A below is an output below widgets that has changed.
type below struct {
	ID    string   `json:"id"`
	Count int      `json:"count"`
	Drawn []change `json:"drawn,omitempty"`
}

// Into sends all displays from here on to an output, or where they went before. What an earlier execution has shown
// there is replaced.
func (x *execution) Into(id string) {
	if id == "" {
		x.into = x.into[:max(0, len(x.into)-1)]
		return
	}
	b := x.used[id]
	if b == nil {
		b = newBoard(fmt.Sprint("live-w", x.serial, "-", len(x.used)+1, "-"), "")
		x.used[id] = b
		if x.e.widgets.Get(id) != nil { // else it is of a cell that has run again
			x.e.boards[id] = b
		}
	}
	x.into = append(x.into, b)
}

// Opened has the page draw a widget.
func (x *execution) Opened(w *runner.Widget) { x.changed = append(x.changed, w) }

// Changed has the page draw it anew.
func (x *execution) Changed(w *runner.Widget, _ map[string]any) { x.changed = append(x.changed, w) }

// describe gives the outputs that the page draws as widgets the form in which they are stored:
// that has what is below them.
func (x *execution) describe() {
	for o, box := range x.board.widgets {
		below := x.e.boards[box.Below]
		if below == nil {
			continue
		}
		var f display.Fold
		for _, p := range below.stored.Outputs {
			if p.Type == "stream" {
				f.Print(p.Text)
			} else if p.Data != nil {
				f.Add(p.Data)
			}
		}
		display.Append(o.Data, &f)
	}
}

// forget ends the widgets of a cell, which is run again.
func (e *engine) forget(cell int) (found bool) {
	ids := e.widgets.Drop(func(w *runner.Widget) bool { return w.Cell == cell })
	for _, id := range ids {
		delete(e.boards, id)
	}
	if len(ids) > 0 {
		e.ForgetWidgets(cell)
	}
	return len(ids) > 0
}

// event begins what a change of a widget asks for. The program reads what has happened.
func (e *engine) event(id string) *answer {
	e.packages.absent, e.chain = nil, nil
	w := e.widgets.Get(id)
	if w == nil {
		w = &runner.Widget{}
	}
	r, fail := e.Event(w.Cell)
	if need := e.packages.missing(e.packages.absent); len(need) > 0 {
		return &answer{Need: need}
	}
	a := &answer{}
	if fail == nil {
		if !e.collect(a, r.Program, r.Imports) {
			return a
		}
	}
	e.now = newExecution(e, w.Cell, "", r)
	e.now.event = true
	e.now.Into(w.Below)
	e.now.fail = fail
	return a
}
