//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A widgetPage is a page as far as widgets go: it has the models that the kernel has made, with
// what the kernel has said of them.
type widgetPage struct {
	*lab
	mu      sync.Mutex
	changed *sync.Cond
	models  map[string]map[string]any
	order   []string // the models in the order in which they were made
	log     []string // what the kernel has said: echoes, closed models, states
	idle    map[string]bool
	outputs int // how often outputs have changed
}

func openWidgetPage(t *testing.T) *widgetPage {
	t.Helper()
	bin, err := tools()
	need(t, err)
	p := &widgetPage{models: map[string]map[string]any{}, idle: map[string]bool{}}
	p.changed = sync.NewCond(&p.mu)
	p.lab = startLabSeen(t, bin, t.TempDir(), []string{offlineVar + "=1"}, p.see)
	return p
}

// see takes what the kernel publishes.
func (p *widgetPage) see(m *jupyter.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.changed.Broadcast()
	var c struct {
		ID   string `json:"comm_id"`
		Data struct {
			Method string
			State  map[string]any
			States map[string]struct {
				Name  string `json:"model_name"`
				State map[string]any
			}
		}
		State string `json:"execution_state"`
	}
	if err := json.Unmarshal(m.Content, &c); err != nil && strings.HasPrefix(m.Header.Type, "comm") {
		p.t.Errorf("%s: %v", m.Header.Type, err)
		return
	}
	switch m.Header.Type {
	case "status":
		p.idle[m.Parent.ID] = c.State == "idle"
	case "comm_open":
		if !strings.Contains(string(m.Metadata), `"2.1.0"`) {
			p.t.Errorf("comm_open with metadata %s", m.Metadata)
		}
		p.models[c.ID] = c.Data.State
		p.order = append(p.order, c.ID)
	case "comm_close":
		delete(p.models, c.ID)
		p.log = append(p.log, "close "+c.ID)
	case "comm_msg":
		switch c.Data.Method {
		case "echo_update":
			for k, v := range c.Data.State {
				p.log = append(p.log, fmt.Sprintf("echo %s %s %v", c.ID, k, v))
			}
		case "update_states":
			for id, x := range c.Data.States {
				p.log = append(p.log, fmt.Sprintf("state %s %s %v", id, x.Name, x.State["value"]))
			}
		case "update":
			for k, v := range c.Data.State {
				if p.models[c.ID] != nil {
					p.models[c.ID][k] = v
				}
				if k == "outputs" {
					p.outputs++
				}
			}
		}
	}
}

// until waits for something to be so.
func (p *widgetPage) until(what string, so func() bool) {
	p.t.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		p.mu.Lock()
		late = true
		p.mu.Unlock()
		p.changed.Broadcast()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !so() {
		if late {
			p.t.Fatalf("%s: not so after %v; models %v, log %q", what, patience, p.models, p.log)
		}
		p.changed.Wait()
	}
}

// model is the id of the widget with a label.
func (p *widgetPage) model(label string) string {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range slices.Backward(p.order) {
		if m := p.models[id]; m != nil && m["description"] == label {
			return id
		}
	}
	p.t.Fatalf("there is no widget %q", label)
	return ""
}

// state is what the page knows of a model.
func (p *widgetPage) state(id, key string) any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.models[id][key]
}

// says is what stands below the widgets, all of it. The lock is held.
func (p *widgetPage) says() string {
	var b strings.Builder
	for _, id := range p.order {
		list, _ := p.models[id]["outputs"].([]any)
		for _, o := range list {
			o := o.(map[string]any)
			for _, k := range []string{"text", "ename", "evalue"} {
				if s, ok := o[k].(string); ok {
					b.WriteString(s)
				}
			}
			if d, ok := o["data"].(map[string]any); ok {
				fmt.Fprint(&b, d["text/plain"], "\n")
			}
		}
	}
	return b.String()
}

// change moves a widget on the page.
func (p *widgetPage) change(id, state string) {
	p.post("comm_msg", id, `{"method": "update", "state": `+state+`, "buffer_paths": []}`)
}

func (p *widgetPage) click(id string) {
	p.post("comm_msg", id, `{"method": "custom", "content": {"event": "click"}}`)
}

func (p *widgetPage) post(msgType, id, data string) {
	p.t.Helper()
	if err := p.k.Post(msgType, map[string]any{"comm_id": id, "data": json.RawMessage(data)}); err != nil {
		p.t.Fatal(err)
	}
}

// shows waits for a text below the widgets.
func (p *widgetPage) shows(text string) {
	p.t.Helper()
	p.until("shows "+text, func() bool { return strings.Contains(p.says(), text) })
}

func TestInteract(t *testing.T) {
	t.Parallel()
	p := openWidgetPage(t)
	outs, _ := p.run("calls := 0\nn := widget.IntSlider(\"n\", 0, 10, 3)\nwidget.Interact(func(n int, f float64, s string, on bool) {\n\tcalls++\n\tfmt.Println(n, f, s, on)\n" +
		"\tshow.HTML(\"<b>half</b>\")\n}, n, widget.FloatSlider(\"number of things\", 0, 1, 0.5), widget.Dropdown(\"s\", \"x\", \"y\"), widget.Checkbox(\"on\", true))")
	i := slices.IndexFunc(outs, func(o out) bool { return o.kind == "display" })
	if i < 0 {
		t.Fatalf("no display: %s", flat(outs))
	}
	for _, o := range outs {
		if o.kind == "stdout" || o.kind == "stderr" || o.kind == "error" {
			t.Errorf("beside the widget: [%s]%s", o.kind, o.text)
		}
	}
	d := outs[i]
	view, _ := d.data["application/vnd.jupyter.widget-view+json"].(map[string]any)
	box, _ := view["model_id"].(string)
	p.until("the box has four widgets and their output", func() bool { c, _ := p.models[box]["children"].([]any); return len(c) == 5 })
	for _, want := range []string{"n: 3 (from 0 to 10)", "s: x (of x, y)", "3 0.5 x true", "half"} {
		if html, _ := d.data["text/html"].(string); !strings.Contains(html, want) || !strings.Contains(d.text, want) {
			t.Errorf("without widgets one reads nothing of %q: %v\n%s", want, html, d.text)
		}
	}
	slider := p.model("n")
	if style, _ := p.state(p.model("number of things"), "style").(string); p.state(strings.TrimPrefix(style, "IPY_MODEL_"), "description_width") != "initial" {
		t.Error("a long label is cut")
	}
	for key, want := range map[string]any{"_model_name": "IntSliderModel", "_model_module": "@jupyter-widgets/controls", "_view_name": "IntSliderView", "value": 3., "min": 0., "max": 10.} {
		if got := p.state(slider, key); got != want {
			t.Errorf("%s of the slider is %v, want %v", key, got, want)
		}
	}

	p.change(slider, `{"value": 7}`)
	p.until("the kernel says what it has heard", func() bool { return slices.Contains(p.log, "echo "+slider+" value 7") })
	p.shows("7 0.5 x true\n")
	p.until("what the last call has shown is gone", func() bool { return !strings.Contains(p.says(), "3 0.5") })
	p.expect(t, "fmt.Println(n.Value(), calls)", "ok", "[stdout]7 2\n")
	p.change(p.model("number of things"), `{"value": 0.25}`)
	p.shows("7 0.25 x true\n")
	p.change(p.model("s"), `{"index": 1}`)
	p.shows("7 0.25 y true\n")
	p.change(p.model("on"), `{"value": false}`)
	p.shows("7 0.25 y false\n")

	// Faster than it runs: the last one counts.
	for v := range 30 {
		p.change(slider, fmt.Sprintf(`{"value": %d}`, v%9))
	}
	p.change(slider, `{"value": 9}`) // once, so that nothing comes after it is shown
	p.shows("9 0.25 y false\n")

	// A cell moves it, no further than it goes. Nothing is called.
	p.run("calls = 0; n.Set(99)")
	p.until("the page follows", func() bool { return p.models[slider]["value"] == 10. })
	p.expect(t, "fmt.Println(n, calls)", "ok", "n: 10 (from 0 to 10) 0\n")

	// Nor does the page.
	p.change(slider, `{"value": -5}`)
	p.shows("0 0.25 y false\n")
	p.until("the page is told", func() bool { return p.models[slider]["value"] == 0. })
	p.expect(t, "%who", "ok", "[stdout]calls  n\n")
	for _, code := range []string{"lec", "fmt.Println()\nl"} {
		m, err := p.k.Request(t.Context(), "complete_request", map[string]any{"code": code, "cursor_pos": len(code)})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(m.Content), "lecternWidgets") {
			t.Errorf("Tab offers a name of the kernel's own: %s", m.Content)
		}
	}
	p.expect(t, "lecternWidgets1 := 1", "error", "lecternWidgets1 is a name that the kernel itself uses")
}

func TestBadCommMessages(t *testing.T) {
	t.Parallel()
	p := openWidgetPage(t)
	p.run("calls := 0\nd := widget.Dropdown(\"d\", \"a\", \"b\").OnChange(func(s string) { calls++; fmt.Println(s, calls) })\nd")
	id := p.model("d")
	for _, data := range []string{`{}`, `[]`, `null`, `7`, `"x"`, `{"method": 7}`, `{"method": "update"}`, `{"method": "update", "state": 3}`,
		`{"method": "update", "state": {"index": "0"}}`, `{"method": "update", "state": {"index": null}}`, `{"method": "update", "state": {"index": [1]}}`,
		`{"method": "update", "state": {"value": "c", "_model_name": "TextModel"}}`, `{"method": "nothing of the kind"}`, `{"method": "custom", "content": {"event": "click"}}`,
		`{"method": "custom", "content": 9}`, `{"method": "update", "state": {"index": -1}}`, `{"method": "update", "state": {"index": 1e99}}`} {
		for _, to := range []string{id, "nobody", ""} {
			p.post("comm_msg", to, data)
		}
	}
	p.post("comm_close", "nobody", `{}`)
	p.k.Post("comm_msg", []int{1})
	p.k.Post("comm_open", map[string]any{"comm_id": 3})
	p.k.Post("comm_open", map[string]any{"comm_id": "stranger", "target_name": "nothing of the kind", "data": map[string]any{}})
	p.until("a target that nobody has is closed", func() bool { return slices.Contains(p.log, "close stranger") })
	p.change(id, `{"index": 1}`)
	p.shows("b 1\n")
	p.expect(t, "fmt.Println(calls, d.Value())", "ok", "[stdout]1 b\n")
	if name := p.state(id, "_model_name"); name != "DropdownModel" {
		t.Errorf("the model has become a %v", name)
	}

	// A page that is opened anew asks for all models, and closes the comm by which it has asked.
	p.k.Post("comm_open", map[string]any{"comm_id": "anew", "target_name": "jupyter.widget.control", "data": map[string]any{}})
	p.post("comm_msg", "anew", `{"method": "request_states"}`)
	p.until("all states", func() bool { return slices.Contains(p.log, "state "+id+" DropdownModel <nil>") })
	p.post("comm_close", "anew", `{}`)
	m, err := p.k.Request(t.Context(), "comm_info_request", map[string]any{"target_name": "jupyter.widget"})
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		Status string
		Comms  map[string]map[string]string
	}
	m.DecodeContent(&info)
	p.mu.Lock()
	models := len(p.models)
	p.mu.Unlock()
	if info.Status != "ok" || info.Comms[id]["target_name"] != "jupyter.widget" || len(info.Comms) != models {
		t.Errorf("comm_info_reply: %s, for %d models", m.Content, models)
	}
	p.post("comm_msg", id, `{"method": "request_state"}`)
	p.post("comm_close", id, `{}`) // the page is done with it
	p.change(id, `{"index": 0}`)
	p.expect(t, "fmt.Println(calls, d.Value())", "ok", "[stdout]1 b\n")
}

func TestWidgetCallbacks(t *testing.T) {
	t.Parallel()
	p := openWidgetPage(t)
	// A function that is declared again; another widget; types and variables of the cells; a
	// panic; and prints on the way.
	p.run("type Point struct{ X, Y int }\nvar at Point\nfunc say(v string) { fmt.Println(\"first\", v, at) }")
	p.run("field := widget.Text(\"field\", \"a\").OnChange(say)\nlevel := widget.FloatSlider(\"level\", 0, 1, 0)\n" +
		"field.OnChange(func(v string) { at.X += len(v); level.Set(float64(at.X) / 10) })\nfield")
	p.run("go1 := widget.Button(\"go\", func() {\n\tif at.X > 3 {\n\t\tpanic(\"too far\")\n\t}\n\tat.X++\n\tfmt.Println(\"at\", at)\n})\ngo1")
	field, button := p.model("field"), p.model("go")
	p.change(field, `{"value": "é\u0000\"<"}`)
	p.shows("first é\x00\"< {0 0}\n")
	p.until("another widget moves", func() bool {
		return p.models[p.order[slices.IndexFunc(p.order, func(id string) bool { return p.models[id]["description"] == "level" })]]["value"] == 0.5
	})
	p.run("func say(v string) { fmt.Println(\"second\", v) }; at.X = 1")
	p.change(field, `{"value": "b"}`)
	p.shows("second b\n")
	p.click(button)
	p.click(button)
	p.shows("at {4 0}\n")
	p.click(button)
	p.shows("too far")
	p.expect(t, "at.X = 2", "ok")
	p.click(button)
	p.shows("at {3 0}\n")

	// An earlier cell's widget gets a function in a later one, and the two stay one.
	p.run("level.OnChange(func(v float64) { at.Y = int(100 * v); fmt.Println(\"level\", v) })\nlevel")
	p.change(p.model("level"), `{"value": 0.75}`)
	p.shows("level 0.75\n")
	p.expect(t, "fmt.Println(at, level.Value())", "ok", "[stdout]{3 75} 0.75\n")

	// A function that lacks a name, and one that is gone.
	p.run("%rm at")
	p.click(button)
	p.shows("undefined: at; %rm removed it in cell [8]")

	p.expect(t, "c := make(chan int)\nfunc() {\n\td := c\n\twidget.Button(\"lost\", func() { d <- 1 })\n}()", "ok", "the widgets of this cell will not react: what they call can't be kept")
	p.click(p.model("lost"))
	p.shows("what this widget calls is no longer known: run the cell that made it once more")
	p.expect(t, "widget.Interact(func(n string) {}, widget.IntSlider(\"n\", 0, 1, 0))", "error", "needs a func(int), not func(string)")
}

func TestWidgetsEnd(t *testing.T) {
	t.Parallel()
	needLong(t)
	p := openWidgetPage(t)
	again := func(code string) {
		t.Helper()
		if outs, r, err := p.try(code, jupyter.ExecuteOptions{Timeout: patience, Cell: "cell-1"}); err != nil || r.Status != "ok" {
			t.Fatalf("%v %s %s", err, r.Status, flat(outs))
		}
	}
	code := "s := widget.ToggleButton(\"s\", false)\nwidget.Interact(func(on bool) { fmt.Println(on) }, s)"
	again(code)
	first := p.model("s")
	p.expect(t, "fmt.Println(\"s is\", s.Value())", "ok", "[stdout]s is false")
	p.change(first, `{"value": true}`)
	p.shows("true\n")
	again(code) // what the last run has made ends
	second := p.model("s")
	p.until("the first is gone", func() bool { return slices.Contains(p.log, "close "+first) })
	p.change(first, `{"value": true}`)
	p.expect(t, "s.Value()", "ok", "[result]false")
	p.change(second, `{"value": true}`)
	p.shows("true\n")
	p.expect(t, "s.Value()", "ok", "[result]true")
	again("s")
	p.run("old := s")
	again("s = widget.ToggleButton(\"t\", false)")
	outs, _ := p.run("old") // its models are gone
	if i := slices.IndexFunc(outs, func(o out) bool { return o.kind == "result" }); i < 0 || outs[i].data["application/vnd.jupyter.widget-view+json"] != nil || outs[i].text != "s: true" {
		t.Errorf("a widget whose models are gone: %v", outs)
	}
	p.run("%reset")
	p.until("all are gone", func() bool { return len(p.models) == 0 })
	p.change(second, `{"value": false}`)
	p.expect(t, "1 + 1", "ok", "[result]2")

	// Interrupting what a widget calls ends that, and nothing else.
	again("rounds := 0\nwidget.Button(\"long\", func() {\n\tfor {\n\t\trounds++\n\t\tif rounds == 3 {\n\t\t\tfmt.Println(\"begun\")\n\t\t}\n\t\ttime.Sleep(time.Millisecond)\n\t}\n})")
	p.click(p.model("long"))
	p.shows("begun\n")
	if err := p.k.Interrupt(); err != nil {
		t.Fatal(err)
	}
	p.shows("interrupted")
	p.expect(t, "rounds > 0", "ok", "[result]true")
}
