//go:build js

package main

import (
	"fmt"
	"reflect"

	"github.com/lectern-go/lectern/kernel/internal/display"
	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/persist"
	"github.com/lectern-go/lectern/kernel/render"
)

// A board is a place for outputs: below a cell, or below a widget of one.
type board struct {
	recorder notebook.Recorder
	stored   *notebook.Cell
	draw     *render.Outputs
	count    int                         // of outputs, when they were drawn last
	shown    []string                    // what each output was when it was drawn last
	widgets  map[*notebook.Output]*model // outputs that the page draws itself
}

func newBoard(prefix, code string) *board {
	b := &board{draw: render.NewOutputs(prefix), count: -1, stored: &notebook.Cell{Type: "code", Source: code}, widgets: map[*notebook.Output]*model{}}
	b.recorder.Begin(b.stored)
	return b
}

// drawn are the outputs that have changed since the last call.
func (b *board) drawn() (list []change) {
	n := len(b.stored.Outputs)
	b.shown = append(b.shown, make([]string, max(0, n-len(b.shown)))...)[:n]
	for i, o := range b.stored.Outputs {
		// A stream grows, and a display gets other data: neither changes in place.
		now := fmt.Sprint(o.Type, o.Name, len(o.Text), reflect.ValueOf(o.Data).Pointer())
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

// A model is a widget as the page has it.
type model struct {
	ID    string         `json:"id"`
	Kind  string         `json:"kind"`
	State map[string]any `json:"state"`

	cell  int    // that has made it
	out   string // the model of the output below it
	board *board // of an output
}

// A below is an output below widgets that has changed.
type below struct {
	ID    string   `json:"id"`
	Count int      `json:"count"`
	Drawn []change `json:"drawn,omitempty"`
}

// widget obeys what a cell says of its widgets.
func (x *execution) widget(fields []string) {
	if len(fields) < 2 {
		return
	}
	switch id, rest := fields[1], fields[2:]; {
	case fields[0] == "into" && id == "":
		if n := len(x.into); n > 0 {
			x.into = x.into[:n-1]
		}
	case fields[0] == "into":
		x.below(id)
	case fields[0] == "open" && len(rest) >= 2:
		m := &model{ID: id, Kind: rest[1], State: map[string]any{}, cell: x.cell, out: rest[0]}
		display.ReadState(m.State, rest[2:])
		x.e.models[id] = m
		x.made = true
		x.changed = append(x.changed, m)
	case fields[0] == "set" || fields[0] == "below":
		m := x.e.models[id]
		switch {
		case m == nil:
		case fields[0] == "below":
			m.out = rest[0]
		default:
			display.ReadState(m.State, rest)
			x.changed = append(x.changed, m)
		}
	}
}

// below sends what is shown from here on to an output. What an earlier execution has shown there is replaced.
func (x *execution) below(id string) {
	m := x.e.models[id]
	if m == nil {
		m = &model{} // of a cell that has run again: nobody sees it
	}
	if !x.used[m] {
		x.used[m] = true
		m.board = newBoard(fmt.Sprint("live-w", x.serial, "-", len(x.used), "-"), "")
	}
	x.into = append(x.into, m)
}

// describe gives the outputs that the page draws as widgets the form in which they are stored:
// that has what stands below them.
func (x *execution) describe() {
	for o, box := range x.board.widgets {
		m := x.e.models[box.out]
		if m == nil || m.board == nil {
			continue
		}
		var f display.Fold
		for _, p := range m.board.stored.Outputs {
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
	for id, m := range e.models {
		if m.cell == cell {
			delete(e.models, id)
			found = true
		}
	}
	if found {
		next := e.session.Keeping(e.manifest)
		persist.Forget(keepDir, next.ForgetWidgets(cell))
		e.session = next
	}
	return found
}

// event begins what somebody's change of a widget asks for. The program reads what has happened.
func (e *engine) event(id string) *answer {
	e.packages.absent, e.chain = nil, nil
	m := e.models[id]
	if m == nil {
		m = &model{}
	}
	r := e.session.Event(m.cell)
	if need := e.packages.missing(e.packages.absent); len(need) > 0 {
		return &answer{Need: need}
	}
	a := &answer{}
	const again = "run the cell again that has made it"
	var fail *report.Failure
	switch {
	case r == nil:
		fail = report.Said("widget", "what this widget calls is not known any more: "+again)
	case len(r.Errors) > 0:
		fail = report.Said("widget", "what this widget calls does not compile any more: "+r.Errors[0].Msg+"; "+again)
	default:
		if !e.collect(a, r.Program, r.Imports) {
			return a
		}
	}
	e.now = newExecution(e, m.cell, "", r)
	e.now.event = true
	e.now.below(m.out)
	e.now.fail = fail
	return a
}
