//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/display"
	"github.com/lectern-go/lectern/kernel/internal/runner"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// Widgets. The page and the kernel speak the protocol of ipywidgets (version 2.1.0 of its messages): each widget is a
// model, a record that both have, with a comm between them. The cell that makes a widget has ended when the user moves
// it, so the kernel holds the models. For each change it runs a program that has the widgets of that cell, as package
// widget has kept them, and the cells' variables, and calls what waits for the change. Such a program is composed as a
// cell is and is the same for all changes, so it is built once.

const (
	widgetTarget  = "jupyter.widget"
	controlTarget = "jupyter.widget.control" // by which a page that is opened anew asks for all models
	viewType      = notebook.WidgetType
)

// widgets are those of a kernel.
type widgets struct {
	runner.Widgets
	controls map[string]bool // the comms by which pages ask
	waiting  []*event
	now      *event
	cells    map[string]int // the last run of each of the notebook's cells, by the page's name for the cell
}

// An event is what a user has done with a widget.
type event struct {
	m     *jupyter.Message
	id    string
	cell  int
	out   string
	click bool
	value string
}

// onComm handles what pages say about widgets. It reports whether the message was for us: GoNB has comms, too.
func (k *kernel) onComm(m *jupyter.Message) bool {
	var c struct {
		ID     string `json:"comm_id"`
		Target string `json:"target_name"`
		Data   struct {
			Method  string                     `json:"method"`
			State   map[string]json.RawMessage `json:"state"`
			Content struct {
				Event string `json:"event"`
			} `json:"content"`
		} `json:"data"`
	}
	err := m.DecodeContent(&c)
	w := &k.widgets
	w.Lock()
	defer w.Unlock()
	if m.Header.Type == "comm_info_request" {
		comms := map[string]any{}
		for id := range w.All() {
			if c.Target == "" || c.Target == widgetTarget {
				comms[id] = map[string]string{"target_name": widgetTarget}
			}
		}
		k.answer(m, "comm_info_reply", map[string]any{"status": "ok", "comms": comms})
		return true
	}
	model := w.Get(c.ID)
	ours := model != nil || w.controls[c.ID] || m.Header.Type == "comm_open" && (c.Target == widgetTarget || c.Target == controlTarget)
	if !ours && k.running() != nil {
		return false
	}
	k.publishStatus(m, "busy")
	if !ours || err != nil || !w.obey(k, m, model, c.ID, c.Target, c.Data.Method, c.Data.State, c.Data.Content.Event) {
		if m.Header.Type == "comm_open" && !w.controls[c.ID] { // so the protocol says that there is no such target
			k.publish(m, "comm_close", map[string]any{"comm_id": c.ID, "data": map[string]any{}})
		}
		k.publishStatus(m, "idle")
	}
	return true
}

// obey does what a message asks for. It reports whether that is going on when it returns.
func (w *widgets) obey(k *kernel, m *jupyter.Message, model *runner.Widget, id, target, method string, state map[string]json.RawMessage, action string) bool {
	switch {
	case m.Header.Type == "comm_open":
		if target == controlTarget && model == nil {
			if w.controls == nil {
				w.controls = map[string]bool{}
			}
			w.controls[id] = true
		}
	case m.Header.Type == "comm_close":
		delete(w.controls, id)
		w.Drop(func(x *runner.Widget) bool { return x.ID == id })
	case w.controls[id]:
		if method != "request_states" {
			return false
		}
		states := map[string]any{}
		for id, x := range w.All() {
			states[id] = map[string]any{"model_name": x.State["_model_name"], "model_module": x.State["_model_module"],
				"model_module_version": x.State["_model_module_version"], "state": x.State}
		}
		k.publish(m, "comm_msg", map[string]any{"comm_id": id, "data": map[string]any{"method": "update_states", "states": states, "buffer_paths": []string{}}})
	case method == "request_state":
		k.update(m, "update", id, model.State)
	case method == "update":
		value, accepted := take(model, state)
		if len(accepted) == 0 {
			return false
		}
		k.update(m, "echo_update", id, accepted) // to all pages that show it
		w.wait(k, &event{m: m, id: id, cell: model.Cell, out: model.Below, value: value})
		return true
	case method == "custom" && action == "click" && model.Kind == "Button":
		w.wait(k, &event{m: m, id: id, cell: model.Cell, out: model.Below, click: true})
		return true
	}
	return false
}

// take changes the widget as a page wants it, and returns what it has changed: its value, which must be of the kind
// that it was. A page has no say in anything else about a widget.
func take(x *runner.Widget, state map[string]json.RawMessage) (value string, accepted map[string]any) {
	accepted = map[string]any{}
	for _, key := range []string{"value", "index"} {
		raw, said := state[key]
		old, has := x.State[key]
		var v any
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.UseNumber()
		if !said || !has || d.Decode(&v) != nil || fmt.Sprintf("%T", v) != fmt.Sprintf("%T", old) {
			continue
		}
		x.State[key], accepted[key] = v, v
		value = fmt.Sprint(v)
	}
	return value, accepted
}

// mostClicks is how many clicks on one button may wait.
const mostClicks = 100

// wait queues an event. One that supersedes an earlier one takes its place.
func (w *widgets) wait(k *kernel, ev *event) {
	clicks := 0
	for i, old := range w.waiting {
		if old.id != ev.id {
			continue
		}
		if !ev.click {
			k.publishStatus(old.m, "idle")
			w.waiting[i] = ev
			return
		}
		if clicks++; clicks == mostClicks {
			k.publishStatus(ev.m, "idle")
			return
		}
	}
	w.waiting = append(w.waiting, ev)
	k.queue.nudge()
}

// next is the message of the next event, or nil.
func (w *widgets) next() *jupyter.Message {
	w.Lock()
	defer w.Unlock()
	if len(w.waiting) == 0 {
		return nil
	}
	w.now, w.waiting = w.waiting[0], w.waiting[1:]
	return w.now.m
}

// react runs what an event asks for, in the queue.
func (k *kernel) react(m *jupyter.Message) {
	ev := k.widgets.now
	defer k.publishStatus(m, "idle")
	noInput := false
	e := newExecution(k, m, executeRequest{AllowStdin: &noInput}, ev.cell)
	e.intoOutput(ev.out)
	k.mu.Lock()
	k.run = e
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		k.run = nil
		k.mu.Unlock()
	}()
	fail := k.c.translated(e.guard(func() *failure { return e.runEvent(ev) }))
	e.text.flush()
	if fail != nil {
		content := fail.Content()
		content["output_type"] = "error"
		e.into.add("", content)
	}
	for _, c := range e.outputs {
		c.send()
	}
}

// runEvent builds the program of a cell's widgets, and tells it on its standard input what has happened.
func (e *execution) runEvent(ev *event) *failure {
	defer e.stop()
	k := e.k
	k.packages.Refresh()
	var f *failure
	if e.Result, f = k.session.Event(ev.cell); f != nil {
		return f
	}
	exe, f := e.build()
	if f != nil {
		return f
	}
	text := ev.id
	if !ev.click {
		text += "\x00" + ev.value
	}
	cmd := exec.Command(exe)
	cmd.Dir, cmd.Env, cmd.Stdin = k.dir, k.cellEnv(), strings.NewReader(text)
	p, f := e.run(cmd)
	if f != nil {
		return f
	}
	f = e.Outcome(p.cmd.ProcessState.String(), e.wasInterrupted())
	e.Close(e.endOutput)
	k.session.EndEvent()
	return f
}

// open tells pages about a model.
func (k *kernel) open(parent *jupyter.Message, x *runner.Widget) {
	m := parent.Reply("comm_open", map[string]any{"comm_id": x.ID, "target_name": widgetTarget,
		"data": map[string]any{"state": x.State, "buffer_paths": []string{}}})
	m.Metadata = []byte(`{"version": "2.1.0"}`)
	m.Identities = [][]byte{[]byte("kernel.comm_open")}
	k.jupyter.IOPub.Send(m)
}

// update tells pages what has changed in a model.
func (k *kernel) update(parent *jupyter.Message, method, id string, state map[string]any) {
	k.publish(parent, "comm_msg", map[string]any{"comm_id": id, "data": map[string]any{"method": method, "state": state, "buffer_paths": []string{}}})
}

// close ends models: they are gone from all pages.
func (w *widgets) close(k *kernel, parent *jupyter.Message, which func(*runner.Widget) bool) (closed bool) {
	w.Lock()
	defer w.Unlock()
	for _, id := range w.Drop(which) {
		k.publish(parent, "comm_close", map[string]any{"comm_id": id, "data": map[string]any{}})
		closed = true
	}
	return closed
}

// runAgain ends the widgets that the last run of a cell has made, if the page says which cell it runs.
func (k *kernel) runAgain(m *jupyter.Message, cell int) {
	var about struct {
		CellID string `json:"cellId"` // as clients for notebooks say beside the code
	}
	if json.Unmarshal(m.Metadata, &about) != nil || about.CellID == "" {
		return
	}
	id := about.CellID
	w := &k.widgets
	if w.cells == nil {
		w.cells = map[string]int{}
	}
	last, ran := w.cells[id]
	w.cells[id] = cell
	if !ran || !w.close(k, m, func(x *runner.Widget) bool { return x.Cell == last }) {
		return
	}
	k.session.ForgetWidgets(last)
}

// collected are the outputs that go below a widget.
type collected struct {
	o  *output
	id string

	mu      sync.Mutex
	outputs []map[string]any // as a notebook has them
	ids     []string         // of displays that can be updated; "" for other outputs
	timer   *time.Timer      // to show what there is of a long run
}

// sendEvery is how often the output of a long run is shown while it grows.
const sendEvery = 200 * time.Millisecond

// send shows what there is.
func (c *collected) send() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	outputs := append([]map[string]any{}, c.outputs...) // [] and not null if there are none
	w := &c.o.k.widgets
	w.Lock()
	defer w.Unlock()
	if x := w.Get(c.id); x != nil {
		x.State["outputs"] = outputs
		c.o.k.update(c.o.m, "update", c.id, map[string]any{"outputs": x.State["outputs"]})
	}
}

func (c *collected) add(id string, output map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outputs, c.ids = append(c.outputs, output), append(c.ids, id)
	c.grown()
}

func (c *collected) grown() {
	if c.timer == nil {
		c.timer = time.AfterFunc(sendEvery, c.send)
	}
}

// replace takes a new state of a display, and reports whether the display is here.
func (c *collected) replace(id string, output map[string]any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.ids, id)
	if id == "" || i < 0 {
		return false
	}
	c.outputs[i] = output
	c.grown()
	return true
}

func (c *collected) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outputs, c.ids = nil, nil
}

// print takes printed text.
func (c *collected) print(stream, text string) {
	c.mu.Lock()
	n := len(c.outputs)
	if n > 0 && c.outputs[n-1]["name"] == stream { // a new record, since this one may have been sent
		c.outputs[n-1] = map[string]any{"output_type": "stream", "name": stream, "text": c.outputs[n-1]["text"].(string) + text}
		c.grown()
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	c.add("", map[string]any{"output_type": "stream", "name": stream, "text": text})
}

// describe adds the output below a widget to those of its forms that have no widgets.
func (w *widgets) describe(id string, data map[string]any) {
	w.Lock()
	defer w.Unlock()
	box := w.Get(id)
	if box == nil { // of a run that has been repeated, or of another kernel: it is text from now on
		delete(data, viewType)
		return
	}
	out := w.Get(box.Below)
	if out == nil {
		return
	}
	outputs, _ := out.State["outputs"].([]map[string]any)
	var below display.Fold
	for _, o := range outputs {
		if text, ok := o["text"].(string); ok {
			below.Print(text)
		} else if data, ok := o["data"].(map[string]any); ok && data[viewType] == nil {
			below.Add(data)
		}
	}
	display.Append(data, &below)
}
