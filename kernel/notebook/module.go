package notebook

import (
	"encoding/json"
	"slices"
)

// Keys under which a notebook that lies in no Go module records the modules that its cells have fetched: in the
// metadata of an output, where every client keeps what a kernel says, and in that of the notebook, below "lectern".
const (
	OutputModule = "lectern_module"
	moduleKey    = "module"
)

// Module reads what the notebook records about its module into v, and reports whether it records anything. Outputs take
// precedence over the notebook's metadata, and the output of the cell that ran last over other outputs.
func (n *Notebook) Module(v any) bool {
	var found any
	if about, ok := n.Metadata["lectern"].(Object); ok {
		found = about[moduleKey]
	}
	last := -1
	for _, c := range n.Cells {
		for _, o := range c.Outputs {
			if m, ok := o.Metadata[OutputModule]; ok && c.Count >= last {
				found, last = m, c.Count
			}
		}
	}
	b, err := json.Marshal(found)
	return err == nil && found != nil && json.Unmarshal(b, v) == nil
}

// KeepModule moves the record from the outputs to the notebook's metadata: fetching is not part of any result, and does
// not happen the next time.
func (n *Notebook) KeepModule() {
	var m Object
	if !n.Module(&m) {
		return
	}
	for _, c := range n.Cells {
		c.Outputs = slices.DeleteFunc(c.Outputs, func(o *Output) bool { return o.Metadata[OutputModule] != nil })
	}
	if n.Metadata == nil {
		n.Metadata = Object{}
	}
	about, ok := n.Metadata["lectern"].(Object)
	if !ok {
		about = Object{}
		n.Metadata["lectern"] = about
	}
	about[moduleKey] = m
}
