//go:build unix

package main

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/display"
	"github.com/lectern-go/lectern/kernel/internal/runner"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

// An output is where a cell's outputs go: to Jupyter, below a widget, behind a line that the student opens, or into a
// file besides.
type output struct {
	k      *kernel
	m      *jupyter.Message // the request
	silent bool             // Jupyter wants none

	text     joiner
	limits   map[string]*outputLimit // of each stream
	displays int                     // that were shown, or would have been
	copy     *os.File                // of %capture
	fold     *fold                   // what the cell shows goes there, unless nil
	into     *collected              // what it shows goes below this widget, unless nil
	nested   []*collected            // where it went before
	outputs  []*collected            // all of them
}

func newOutput(k *kernel, m *jupyter.Message, silent bool) *output {
	o := &output{k: k, m: m, silent: silent, limits: map[string]*outputLimit{}}
	o.text.send = func(stream, text string) {
		k.publish(m, "stream", map[string]string{"name": stream, "text": text})
	}
	for _, name := range []string{"stdout", "stderr"} {
		o.limits[name] = &outputLimit{lines: k.lines, show: func(text string) { o.emit(name, text) }}
	}
	return o
}

// captureData copies the text of a display, by kind.
func (o *output) captureData(data map[string]any) {
	for _, kind := range slices.Sorted(maps.Keys(data)) {
		if s, ok := data[kind].(string); ok && (kind != "text/plain" || len(data) == 1) && !display.Binary(kind) {
			o.copy.WriteString(s)
		}
	}
}

// Publish sends an output of the cell, unless the request was silent.
func (o *output) Publish(msgType string, content any) {
	if c, ok := content.(map[string]any); ok && o.copy != nil && strings.HasSuffix(msgType, "display_data") {
		if data, ok := c["data"].(map[string]any); ok {
			o.captureData(data)
		}
	}
	if o.limited(msgType, content) || o.intoWidget(msgType, content) {
		return
	}
	if c, ok := content.(map[string]any); ok && o.fold != nil && (msgType == "display_data" || msgType == "execute_result") {
		if data, ok := c["data"].(map[string]any); ok && data[viewType] == nil && o.fold.Add(data) {
			return
		}
	}
	if c, ok := content.(map[string]any); ok && msgType == "execute_result" {
		c["execution_count"] = o.k.count // see unrecorded
	}
	if !o.silent {
		o.text.flush()
		o.k.publish(o.m, msgType, content)
	}
}

// Stream takes text that the cell prints.
func (o *output) Stream(name, text string) {
	if text == "" {
		return
	}
	if o.copy != nil {
		o.copy.WriteString(text)
	}
	o.limits[name].write(text)
}

// emit shows text where the cell's output goes.
func (o *output) emit(name, text string) {
	if o.into != nil {
		o.into.print(name, text)
	} else if o.fold != nil && name == "stdout" {
		o.fold.Print(text)
	} else if !o.silent {
		o.text.write(name, text)
	}
}

func (o *output) note(text string) {
	stream := "stderr"
	if os.Getenv(nbgraderVar) != "" { // which takes everything on standard error for an error
		stream = "stdout"
	}
	text = "note: " + text + "\n"
	if o.copy != nil {
		o.copy.WriteString(text)
	}
	o.emit(stream, text)
}

// show publishes a display of the kernel's own, by MIME type.
func (o *output) show(data map[string]any) {
	o.Publish("display_data", map[string]any{"data": data, "metadata": map[string]any{}, "transient": map[string]any{}})
}

// displayHTML shows a piece of a page.
func (o *output) displayHTML(text string) {
	o.show(map[string]any{"text/html": text})
}

// captureDisplay copies the text of a display.
func (o *output) captureDisplay(m *jupyter.Message) {
	var c struct{ Data map[string]any }
	if m.DecodeContent(&c) == nil {
		o.captureData(c.Data)
	}
}

// limited reports whether a display is one too many; if it isn't, everything printed before it is shown first.
func (o *output) limited(msgType string, content any) bool {
	switch msgType {
	case "display_data":
		c, _ := content.(map[string]any)
		if data, ok := c["data"].(map[string]any); ok && data[lesson.AnswerType] != nil {
			return false // the grader waits for each
		}
		if o.displays++; o.lostDisplays() > 0 {
			return true
		}
		fallthrough
	case "execute_result":
		o.endOutput()
	case "clear_output":
		o.displays = 0
		for _, l := range o.limits {
			l.cleared()
		}
	}
	return false
}

// lostDisplays is how many displays are not shown.
func (o *output) lostDisplays() int {
	if o.k.lines == 0 {
		return 0
	}
	return max(0, o.displays-max(1, o.k.lines/displayRows))
}

// endOutput shows what the limits still hold.
func (o *output) endOutput() {
	for _, name := range []string{"stdout", "stderr"} {
		o.limits[name].end()
	}
}

// Into sends all displays from here on to a widget's output, or where they went before. They replace its content.
func (o *output) Into(id string) {
	if id != "" {
		o.nested = append(o.nested, o.into)
		o.intoOutput(id)
	} else if n := len(o.nested); n > 0 {
		o.into.send()
		o.into, o.nested = o.nested[n-1], o.nested[:n-1]
	}
}

// Opened tells pages about a widget. They need to know where the code for it is.
func (o *output) Opened(w *runner.Widget) {
	state := display.ModelState(w.Kind)
	maps.Copy(state, w.State)
	w.State = state
	o.k.open(o.m, w)
}

// Changed tells pages what has changed in a widget.
func (o *output) Changed(w *runner.Widget, state map[string]any) {
	o.k.update(o.m, "update", w.ID, state)
}

// intoOutput sends all displays from here on to an output, and replaces its content.
func (o *output) intoOutput(id string) {
	if i := slices.IndexFunc(o.outputs, func(c *collected) bool { return c.id == id }); i >= 0 {
		o.into = o.outputs[i]
		return
	}
	o.into = &collected{o: o, id: id}
	o.outputs = append(o.outputs, o.into)
}

// intoWidget takes an output that goes below a widget, and reports whether it is one. To a widget that the page should
// show it adds what is below the widget, for programs that can't draw widgets.
func (o *output) intoWidget(msgType string, content any) bool {
	c, _ := content.(map[string]any)
	data, _ := c["data"].(map[string]any)
	if view, ok := data[viewType].(map[string]any); ok {
		id, _ := view["model_id"].(string)
		o.k.widgets.describe(id, data)
	}
	if o.into == nil {
		return false
	}
	transient, _ := c["transient"].(map[string]string)
	id := transient["display_id"]
	output := map[string]any{"output_type": "display_data", "data": data, "metadata": map[string]any{}}
	switch msgType {
	case "display_data", "execute_result":
		o.into.add(id, output)
	case "update_display_data":
		return o.into.replace(id, output)
	case "clear_output":
		o.into.clear()
	default:
		return false
	}
	return true
}
