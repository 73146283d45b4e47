package render

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// Steps are the records of a notebook's cells by the cells' ids: what a reader of the page can go through step by step.
type Steps map[string]CellSteps

// CellSteps is what was recorded of a cell, and what there is to say about that, or why nothing was.
type CellSteps struct {
	Record *report.Record `json:"record,omitempty"`
	Why    string         `json:"why,omitempty"`
}

// stepsRoom is how many bytes of a page records may take at most, so that most of the page remains its text.
const stepsRoom = PageLimit / 2

// leastSteps is how many steps of a record are worth showing.
const leastSteps = 20

// A packedSteps is a record in a page, in the short names that assets/steps.js reads.
type packedSteps struct {
	Record string `json:"r,omitempty"` // JSON, deflated, in base64
	Offset int    `json:"o,omitempty"` // how many of the cell's lines come before the code
	Why    string `json:"w,omitempty"`
}

// steps is what the page of the i-th notebook knows about its cells' steps, as JSON that may be put into a page, of
// limited size. Long records are cut.
func (s *site) steps(i, room int) string {
	p := s.pages[i]
	all := s.options.Steps[p.file]
	if len(all) == 0 || p.language() != "go" {
		return ""
	}
	room = min(room, stepsRoom)
	cells := map[string]*packedSteps{}
	records := map[string]*report.Record{}
	size := 0
	for _, c := range p.nb.Cells {
		steps, ok := all[c.ID]
		if !ok || c.HasTag("check-only") {
			continue
		}
		_, above := shownSource(c)
		cells[c.ID] = &packedSteps{Offset: above, Why: s.say(steps.Why)}
		if steps.Record != nil {
			r := *steps.Record
			records[c.ID] = &r
			cells[c.ID].Record = packed(&r)
		}
		size += len(c.ID) + len(cells[c.ID].Record) + len(steps.Why) + 40
	}
	for size > room && len(records) > 0 {
		longest := ""
		for id := range records {
			if longest == "" || len(cells[id].Record) > len(cells[longest].Record) || len(cells[id].Record) == len(cells[longest].Record) && id < longest {
				longest = id
			}
		}
		r, c := records[longest], cells[longest]
		size -= len(c.Record)
		if n := len(r.Steps) * 2 / 3; n >= leastSteps {
			r.Steps = r.Steps[:n]
			r.Cut = s.say("the first %d steps: the page has no room for more", n)
			c.Record = packed(r)
		} else {
			c.Record, c.Why = "", s.say("The page has no room for its steps.")
			delete(records, longest)
		}
		size += len(c.Record) + len(c.Why)
	}
	if size > room {
		return ""
	}
	text, err := json.Marshal(cells)
	if err != nil {
		panic(err) // strings and numbers alone
	}
	return string(text)
}

// packed is a record as a page carries it.
func packed(r *report.Record) string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // as above
	}
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression)
	w.Write(text)
	w.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// shownSource is a code cell's text as the page shows it, and how many lines of it are left out above.
func shownSource(c *notebook.Cell) (source string, above int) {
	whole := lineEnds(c.Source)
	source = strings.TrimLeft(whole, "\n")
	first, rest, _ := strings.Cut(source, "\n")
	if strings.TrimSpace(first) == "%%" { // GoNB's mark of a bare cell says nothing to a reader
		source = strings.TrimLeft(rest, "\n")
	}
	return strings.TrimRight(source, "\n"), strings.Count(whole[:len(whole)-len(source)], "\n")
}

// isStepper reports whether an output is the stepper of a //step cell.
func isStepper(o *notebook.Output) bool {
	text, ok := o.Data["text/html"].(string)
	return ok && strings.HasPrefix(text, `<div class="lectern-steps"`)
}
