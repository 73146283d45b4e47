package runner

import (
	"maps"
	"sync"

	"github.com/lectern-go/lectern/kernel/internal/display"
)

// A Widget is what a front knows about a widget of a cell.
type Widget struct {
	ID    string         `json:"id"`
	Kind  string         `json:"kind"`
	State map[string]any `json:"state"`

	Cell  int    `json:"-"` // that has made it
	Below string `json:"-"` // the ID of the output widget below it
}

// Widgets are those of all cells. A front locks them to look at them.
type Widgets struct {
	sync.Mutex
	byID map[string]*Widget
}

// Get returns the widget of an ID, or nil.
func (w *Widgets) Get(id string) *Widget { return w.byID[id] }

// All returns the widgets by their IDs.
func (w *Widgets) All() map[string]*Widget { return w.byID }

// Drop forgets widgets, and returns their IDs.
func (w *Widgets) Drop(which func(*Widget) bool) (ids []string) {
	for id, x := range w.byID {
		if which(x) {
			delete(w.byID, id)
			ids = append(ids, id)
		}
	}
	return ids
}

// widget obeys what a program says about widgets.
func (c *Cell) widget(fields []string) {
	if len(fields) < 2 {
		return
	}
	what, id, rest := fields[0], fields[1], fields[2:]
	if what == "into" {
		c.front.Into(id)
		return
	}
	w := c.Widgets
	w.Lock()
	defer w.Unlock()
	x := w.byID[id]
	switch {
	case what == "open" && len(rest) >= 2:
		x = &Widget{ID: id, Kind: rest[1], State: map[string]any{}, Cell: c.Number, Below: rest[0]}
		display.ReadState(x.State, rest[2:])
		c.made = true
		if w.byID == nil {
			w.byID = map[string]*Widget{}
		}
		w.byID[id] = x
		c.front.Opened(x)
	case what == "below" && x != nil && len(rest) > 0:
		x.Below = rest[0]
	case what == "set" && x != nil:
		changed := map[string]any{}
		display.ReadState(changed, rest)
		maps.Copy(x.State, changed)
		c.front.Changed(x, changed)
	}
}
