package notebook

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A Recorder collects what a kernel publishes into the outputs of cells, as a front end does: neighboring texts of
// one stream are merged, displays with an ID are updated wherever they are, clear_output clears. The zero value is
// ready; use one for a whole notebook.
type Recorder struct {
	cell     *Cell
	pending  bool // clear_output(wait=true): clear when the next output comes
	displays map[string][]*Output
}

// Begin clears the outputs of c and sends what follows there.
func (r *Recorder) Begin(c *Cell) {
	c.Outputs, c.Count = nil, 0
	r.cell, r.pending = c, false
	if r.displays == nil {
		r.displays = map[string][]*Output{}
	}
}

// Add takes one message of the iopub channel: its type and its content. Types that make no output are ignored.
func (r *Recorder) Add(msgType string, content []byte) error {
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	var c struct {
		Name      string      `json:"name"`
		Text      string      `json:"text"`
		Data      Object      `json:"data"`
		Metadata  Object      `json:"metadata"`
		Count     json.Number `json:"execution_count"`
		EName     string      `json:"ename"`
		EValue    string      `json:"evalue"`
		Traceback []string    `json:"traceback"`
		Wait      bool        `json:"wait"`
		Transient struct {
			ID string `json:"display_id"`
		} `json:"transient"`
	}
	switch msgType {
	case "stream", "display_data", "execute_result", "update_display_data", "error", "clear_output":
	default:
		return nil
	}
	if err := d.Decode(&c); err != nil {
		return fmt.Errorf("notebook: %s message: %w", msgType, err)
	}
	for mime, v := range c.Data {
		if s, ok := joined(v); ok && !isJSON(mime) {
			c.Data[mime] = s
		}
	}
	if len(c.Data) > 1 {
		delete(c.Data, WidgetType) // the other forms say what the widget has shown
	}
	out := &Output{Type: msgType}
	switch msgType {
	case "clear_output":
		r.pending = c.Wait
		if !c.Wait {
			r.cell.Outputs = nil
		}
		return nil
	case "update_display_data":
		for _, shown := range r.displays[c.Transient.ID] {
			shown.Data, shown.Metadata = c.Data, c.Metadata
		}
		return nil
	case "stream":
		if k := len(r.cell.Outputs); k > 0 && !r.pending {
			if last := r.cell.Outputs[k-1]; last.Type == "stream" && last.Name == c.Name {
				last.Text += c.Text
				return nil
			}
		}
		out.Name, out.Text = c.Name, c.Text
	case "error":
		out.EName, out.EValue, out.Traceback = c.EName, c.EValue, c.Traceback
	default:
		out.Data, out.Metadata = c.Data, c.Metadata
		if msgType == "execute_result" {
			n, _ := c.Count.Int64()
			out.Count = int(n)
		}
		if id := c.Transient.ID; id != "" {
			r.displays[id] = append(r.displays[id], out)
		}
	}
	if r.pending {
		r.cell.Outputs, r.pending = nil, false
	}
	r.cell.Outputs = append(r.cell.Outputs, out)
	return nil
}
