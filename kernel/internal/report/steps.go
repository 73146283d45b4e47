package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/ask"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// Steps collects what a cell did, statement by statement.
type Steps struct {
	src     *rewrite.Source
	record  Record
	out     strings.Builder // printed since the last step
	size    int
	printed int
	held    []string // since the last step
	sites   []rewrite.Site
}

// A Record, of type application/vnd.lectern.steps+json, is what the stepper of a page reads, in short names
// since there may be thousands of steps.
type Record struct {
	Steps  []Step         `json:"steps"`
	Loops  []rewrite.Loop `json:"loops,omitempty"`
	Scopes []int          `json:"scopes,omitempty"` // of each block the one around it, as an index plus one
	Cut    string         `json:"cut,omitempty"`    // what was recorded, if not all
	Note   string         `json:"note,omitempty"`   // what else there is to say about it
}

// A Step is a statement that has run, an operation of Backward within one, or the end of a function.
type Step struct {
	Line  int       `json:"l,omitempty"` // 0 for the end of a function, and for what was there before the cell
	Kind  string    `json:"k,omitempty"` // begin, enter, return, backward, panic, leave, or "" for a plain statement
	Func  string    `json:"f,omitempty"` // the function that begins here
	Loop  int       `json:"i,omitempty"` // the innermost loop around it, an index into Loops plus one
	Head  bool      `json:"h,omitempty"` // an iteration of it begins here
	Where int       `json:"g,omitempty"` // the goroutine, in the order in which they began
	Frame int       `json:"d,omitempty"` // the call that the line is in: 0 is the cell
	Scope int       `json:"s,omitempty"` // the innermost block around it, an index into Scopes plus one: what other blocks declare has ended
	Costs [4]int    `json:"c,omitzero"`  // FLOPs, bytes read and written, bytes of tensors that variables hold, nanoseconds
	Held  []string  `json:"m,omitempty"` // what the third of Costs consists of, if that has changed: bytes, a variable, why it holds them, of how many tensors; tabs between
	Ops   []string  `json:"p,omitempty"` // operations: name, shapes of the inputs, that of the result, FLOPs, bytes, what they consist of, nanoseconds; tabs between
	Vars  []StepVar `json:"v,omitempty"` // variables that were set, or have changed
	Out   string    `json:"o,omitempty"` // what was printed by it
}

// A StepVar is a variable with a new value.
type StepVar struct {
	Name  string `json:"n"`
	Frame int    `json:"d,omitempty"` // the call that it belongs to: 0 is the cell
	Scope int    `json:"c,omitempty"` // the block that declares it
	Text  string `json:"t"`
	Facts string `json:"x,omitempty"` // of a tensor: dtype, shape, strides, offset, number of its memory, its bytes, "grad"; semicolons between
	Grad  string `json:"r,omitempty"`
	Strip string `json:"s,omitempty"` // the elements of its memory, tabs between
}

const (
	maxStepOutput = 20_000    // bytes of printed text that a record keeps
	maxPanic      = 160       // and of why the cell failed
	maxRecord     = 3_000_000 // bytes of a whole record, about
	varFields     = 6         // of a message, for each variable
)

// NewSteps begins the record of a cell.
func NewSteps(r *rewrite.Result, src *rewrite.Source) *Steps {
	return &Steps{src: src, record: Record{Loops: r.Loops, Scopes: r.Scopes}, sites: r.Sites}
}

// Print notes what the cell has printed.
func (s *Steps) Print(text string) {
	if s.printed += len(text); s.printed < maxStepOutput {
		s.out.WriteString(text)
	}
}

// Message takes a message of the cell; those that are none of its steps are ignored. Package show documents them.
func (s *Steps) Message(kind string, f []string) {
	switch kind {
	case "step":
		if len(f) >= 9 && s.size < maxRecord {
			s.step(f)
		} else if s.record.Cut == "" {
			s.record.Cut = fmt.Sprintf("the first %d steps, since their values are long", s.record.count())
		}
	case "held":
		s.held = f
	case "leave":
		if len(f) == 1 && s.size < maxRecord {
			where, _ := strconv.Atoi(f[0])
			s.record.Steps = append(s.record.Steps, Step{Kind: "leave", Where: where, Out: s.take()})
		}
	case "steps-uncounted":
		if len(f) == 1 {
			if n, err := strconv.Atoi(f[0]); err == nil && n > 0 && n <= len(s.sites) {
				s.record.Note = fmt.Sprintf("From line %d on, operations are not counted: the line runs so many small ones that counting would take longer than they do.", s.sites[n-1].Line)
			}
		}
	case "steps-cut":
		if len(f) == 1 && s.record.Cut == "" {
			s.record.Cut = f[0]
		}
	}
}

func (s *Steps) step(f []string) {
	var n [7]int // site, goroutine, FLOPs, bytes, live, nanoseconds, call
	for i, at := range []int{0, 2, 3, 4, 5, 6, 7} {
		n[i], _ = strconv.Atoi(f[at])
	}
	ops, _ := strconv.Atoi(f[8])
	if rest := len(f) - 9 - ops; n[0] > len(s.sites) || ops < 0 || rest < 0 || rest%varFields != 0 {
		return
	}
	e := Step{Kind: f[1], Where: n[1], Costs: [4]int(n[2:6]), Frame: n[6], Out: s.take()}
	if n[0] > 0 {
		site := s.sites[n[0]-1]
		e.Line, e.Loop, e.Head, e.Func, e.Scope = site.Line, site.Loop, site.Head, site.Func, site.Scope
	}
	e.Held, s.held = s.held, nil
	f = f[9:]
	for _, text := range slices.Concat(f, e.Held) {
		s.size += len(text) + 8
	}
	e.Ops, f = f[:ops], f[ops:]
	for ; len(f) > 0; f = f[varFields:] {
		name, block, _ := strings.Cut(f[0], " ")
		scope, _ := strconv.Atoi(block)
		depth, _ := strconv.Atoi(f[1])
		e.Vars = append(e.Vars, StepVar{name, depth, scope, f[2], f[3], f[4], f[5]})
	}
	s.record.Steps = append(s.record.Steps, e)
}

// Fail notes where the cell panicked, if it did: after its last step, before the calls that the panic unwound.
func (s *Steps) Fail(f *Failure) {
	if f == nil || f.Line == 0 || s.record.Cut != "" {
		return
	}
	at := len(s.record.Steps)
	for at > 0 && s.record.Steps[at-1].Kind == "leave" {
		at--
	}
	if at == 0 {
		return
	}
	e := s.record.Steps[at-1]
	e = Step{Kind: "panic", Line: f.Line, Where: e.Where, Frame: e.Frame, Scope: e.Scope, Costs: [4]int{2: e.Costs[2]},
		Vars: []StepVar{{Name: "panic.", Frame: e.Frame, Text: humanize.Shorten(f.Value, maxPanic)}}}
	s.record.Steps = slices.Insert(s.record.Steps, at, e)
}

// Check reports what no stepper could follow in a record that came from elsewhere.
func (r *Record) Check() error {
	for i, l := range r.Loops { // a loop around another comes before it
		if l.Parent < 0 || l.Parent > i {
			return fmt.Errorf("loop %d stands in loop %d, which does not come before it", i+1, l.Parent)
		}
	}
	for i, around := range r.Scopes {
		if around < 0 || around > i {
			return fmt.Errorf("block %d stands in block %d, which does not come before it", i+1, around)
		}
	}
	for i, s := range r.Steps {
		scopes := []int{s.Scope}
		frame := s.Frame
		for _, v := range s.Vars {
			scopes, frame = append(scopes, v.Scope), min(frame, v.Frame)
		}
		switch {
		case s.Loop < 0 || s.Loop > len(r.Loops) || s.Head && s.Loop == 0:
			return fmt.Errorf("step %d is in loop %d of %d", i+1, s.Loop, len(r.Loops))
		case slices.Min(scopes) < 0 || slices.Max(scopes) > len(r.Scopes):
			return fmt.Errorf("step %d is in a block that is not there; there are %d", i+1, len(r.Scopes))
		case frame < 0 || s.Where < 0 || s.Line < 0:
			return fmt.Errorf("step %d is at a place that is not there", i+1)
		}
	}
	return nil
}

// count is how many steps there are to go through.
func (r *Record) count() (n int) {
	for _, e := range r.Steps {
		if e.Kind != "leave" {
			n++
		}
	}
	return n
}

func (s *Steps) take() string {
	t := s.out.String()
	s.out.Reset()
	return t
}

// Record is what was recorded; nil if that is nothing.
func (s *Steps) Record() *Record {
	if len(s.record.Steps) == 0 {
		return nil
	}
	s.record.Steps[len(s.record.Steps)-1].Out += s.take()
	return &s.record
}

//go:embed steps.js
var stepsScript string

//go:embed steps.css
var stepsStyle string

// StepperScript and StepperStyle are what a page needs to show records: see steps.js.
func StepperScript() string { return ask.Say + stepsScript }

// StepperStyle is the style sheet of what the script makes.
func StepperStyle() string { return stepsStyle }

// Display is the record as a page with a player, and as text; nil if nothing was recorded. It contains no times, so
// that running a notebook again leaves it as it was.
func (s *Steps) Display(cell int) map[string]any {
	record := s.Record()
	if record == nil {
		return nil
	}
	timeless := *record
	timeless.Steps = make([]Step, len(record.Steps))
	for i, e := range record.Steps {
		e.Costs[3] = 0
		e.Ops = make([]string, len(e.Ops))
		for j, op := range record.Steps[i].Ops {
			e.Ops[j] = op
			if at := strings.LastIndexByte(op, '\t'); at >= 0 {
				e.Ops[j] = op[:at]
			}
		}
		timeless.Steps[i] = e
	}
	data, err := json.Marshal(timeless) // escapes <, so that nothing ends the script
	if err != nil {
		return nil
	}
	id := fnv.New64a()
	fmt.Fprintf(id, "%d\n%s\n%s", cell, s.src.Code, data)
	name := fmt.Sprintf("lst%x", id.Sum64())
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="lectern-steps" id="%s"><style>%s</style><pre class="steps-code"><code>%s</code></pre><noscript><pre>%s</pre></noscript>`,
		name, stepsStyle, html.EscapeString(strings.TrimRight(s.src.Code, "\n")), html.EscapeString(record.Text(60)))
	fmt.Fprintf(&b, `<script>%s;(function(){var b=document.getElementById("%s");if(b&&!b.dataset.on){b.dataset.on="1";lecternSteps(%s,b.querySelector("code"),b,{editor:true}).open()}})();</script></div>`, StepperScript(), name, data)
	return map[string]any{"text/html": b.String(), "text/plain": record.Text(200)}
}

// Text lists the first n steps.
func (r *Record) Text(n int) string {
	var b strings.Builder
	depth := map[int]int{}
	shown, total, held := 0, r.count(), 0
	for _, e := range r.Steps {
		if e.Kind == "leave" {
			depth[e.Where] = max(0, depth[e.Where]-1)
			continue
		}
		if shown == n {
			fmt.Fprintf(&b, "… %d more steps\n", total-n)
			break
		}
		shown++
		indent := strings.Repeat("  ", depth[e.Where])
		if e.Where > 0 {
			indent = fmt.Sprintf("goroutine %d: ", e.Where) + indent
		}
		switch e.Kind {
		case "enter":
			fmt.Fprintf(&b, "%scall of %s\n", indent, e.Func)
			depth[e.Where]++
			indent += "  "
			fmt.Fprintf(&b, "%sline %d", indent, e.Line)
		case "begin":
			b.WriteString("before")
		default:
			fmt.Fprintf(&b, "%sline %d", indent, e.Line)
		}
		for j, v := range e.Vars {
			sep := ", "
			if j == 0 {
				sep = ": "
			}
			name := v.Name
			if what, n, ok := strings.Cut(name, "."); ok && n != "" {
				name = "result " + n
			} else if ok {
				name = what
			}
			b.WriteString(sep + name + " = " + v.Text)
			if facts := strings.Split(v.Facts, ";"); len(facts) == 7 {
				fmt.Fprintf(&b, " (%s, shape [%s], strides [%s], offset %s, memory %s of %s bytes", facts[0], facts[1], facts[2], facts[3], facts[4], facts[5])
				if facts[6] != "" {
					b.WriteString(", requires grad")
				}
				b.WriteByte(')')
			}
			if v.Grad != "" {
				b.WriteString(" gradient " + v.Grad)
			}
		}
		if e.Kind == "backward" && len(e.Ops) == 1 {
			op := strings.Split(e.Ops[0], "\t")
			fmt.Fprintf(&b, ": backward: %s", strings.Join(op[:min(3, len(op))], " "))
		}
		if e.Costs[0] > 0 || e.Costs[1] > 0 {
			fmt.Fprintf(&b, " [%s FLOPs, %s]", humanize.Thousands(e.Costs[0]), humanize.Bytes(e.Costs[1]))
		}
		if held != e.Costs[2] && e.Kind != "backward" {
			held = e.Costs[2]
			fmt.Fprintf(&b, " {%s held}", humanize.Bytes(held))
		}
		b.WriteByte('\n')
	}
	if r.Cut != "" {
		fmt.Fprintf(&b, "recorded: %s\n", r.Cut)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
