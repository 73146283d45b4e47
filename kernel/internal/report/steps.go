package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// Steps is the record of what a //step cell did, statement by statement.
type Steps struct {
	src    *rewrite.Source
	events []stepEvent
	out    strings.Builder // printed since the last event
	call   string          // a function that has just been entered
	cut    int             // where the record was cut, or 0
}

// stepEvent is one statement, in short names since there may be thousands.
type stepEvent struct {
	Line  int      `json:"l,omitempty"` // 0 for the end of a function
	Vars  []string `json:"v,omitempty"` // names and values
	Enter string   `json:"f,omitempty"` // the function that begins here
	Leave bool     `json:"r,omitempty"`
	Out   string   `json:"o,omitempty"` // what was printed by it
}

// maxStepOutput is how much printed text the record keeps.
const maxStepOutput = 20_000

// NewSteps begins the record of a cell.
func NewSteps(src *rewrite.Source) *Steps { return &Steps{src: src} }

// Print notes what the cell has printed.
func (s *Steps) Print(text string) {
	if s.out.Len() < maxStepOutput {
		s.out.WriteString(text)
	}
}

// Message takes a message of the cell; those that are none of its steps are ignored.
func (s *Steps) Message(kind string, f []string) {
	switch kind {
	case "step":
		if len(f) == 0 {
			return
		}
		line, _ := strconv.Atoi(f[0])
		s.events = append(s.events, stepEvent{Line: line, Vars: f[1:], Enter: s.call, Out: s.take()})
		s.call = ""
	case "enter":
		if len(f) > 0 {
			s.call = f[0]
		}
	case "leave":
		s.events = append(s.events, stepEvent{Leave: true, Out: s.take()})
	case "steps-cut":
		s.cut = len(s.events)
	}
}

func (s *Steps) take() string {
	t := s.out.String()
	s.out.Reset()
	return t
}

//go:embed steps.html
var stepsPage string

// Display is the record as a page with a player, and as text; nil if nothing was recorded.
func (s *Steps) Display(cell int) map[string]any {
	if len(s.events) == 0 {
		return nil
	}
	if rest := s.take(); rest != "" {
		s.events[len(s.events)-1].Out += rest
	}
	data, err := json.Marshal(s.events) // escapes <, so that nothing ends the script
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimRight(s.src.Code, "\n"), "\n")
	var code strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&code, `<span class="lst-line" data-n="%d"><span class="lst-no">%d</span>%s</span>`, i+1, i+1, html.EscapeString(strings.ReplaceAll(l, "\t", "    ")))
	}
	note := ""
	if s.cut > 0 {
		note = fmt.Sprintf("only the first %d steps were recorded", s.cut)
	}
	// The same record gives the same page, so that running a notebook again leaves it as it was.
	id := fnv.New64a()
	fmt.Fprintf(id, "%d\n%s\n%s", cell, s.src.Code, data)
	page := strings.NewReplacer("{{id}}", fmt.Sprintf("lst%x", id.Sum64()), "{{code}}", code.String(), "{{data}}", string(data),
		"{{note}}", note, "{{list}}", html.EscapeString(s.text(60))).Replace(stepsPage)
	return map[string]any{"text/html": page, "text/plain": s.text(200)}
}

// text lists the first n steps.
func (s *Steps) text(n int) string {
	var b strings.Builder
	depth := 0
	for i, ev := range s.events {
		if i == n {
			fmt.Fprintf(&b, "… %d more steps\n", len(s.events)-n)
			break
		}
		if ev.Leave {
			depth = max(0, depth-1)
			continue
		}
		if ev.Enter != "" {
			fmt.Fprintf(&b, "%scall of %s\n", strings.Repeat("  ", depth), ev.Enter)
			depth++
		}
		fmt.Fprintf(&b, "%sline %d", strings.Repeat("  ", depth), ev.Line)
		for j := 0; j+1 < len(ev.Vars); j += 2 {
			sep := ", "
			if j == 0 {
				sep = ": "
			}
			b.WriteString(sep + ev.Vars[j] + " = " + ev.Vars[j+1])
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}
