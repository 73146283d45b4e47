// Package runner takes the program of a cell from its first output to its end, and says what later cells know then. A
// kernel, whose programs are processes, and a page, which runs them in a worker, differ in how they build, start and
// stop them, and in where outputs go: that is a [Front].
package runner

import (
	"strings"
	"sync"

	"github.com/lectern-go/lectern/kernel/internal/display"
	"github.com/lectern-go/lectern/kernel/internal/inband"
	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// A Front is where the outputs of a cell go. Its methods are called one at a time.
type Front interface {
	// Publish shows a display, or changes one: a message of Jupyter's.
	Publish(kind string, content any)
	// Stream shows text that the cell prints to stdout or stderr.
	Stream(name, text string)
	// Ask asks the user for a line of input; the program has printed the prompt already.
	Ask(prompt string)
	// Obey obeys a message that only this front knows, and reports whether it did.
	Obey(kind string, fields []string) bool

	// Into sends all displays from here on to the output widget of that ID, or for "" where they went before.
	Into(id string)
	// Opened tells about a new widget, and Changed that a widget's values have changed. Widgets are locked.
	Opened(w *Widget)
	Changed(w *Widget, state map[string]any)
}

// A Cell is one cell on its way, or what a change of a widget asks for.
type Cell struct {
	Number  int
	Result  *rewrite.Result // nil if the cell has not been rewritten
	Root    string          // the folder that paths in traces are shortened by; "" for none
	Widgets *Widgets

	front Front
	saves int // how often values had been saved before it

	mu    sync.Mutex      // output comes from the cell itself and from GoNB
	out   inband.Splitter // standard output, with its messages
	err   report.Traces   // standard error, with panics
	steps *report.Steps
	own   *report.Failure // an error that the cell has reported in a message
	line  string          // printed since the last line break: the prompt, if the program then reads input
	made  bool            // it has made widgets
}

// mostPrompt is how many bytes of a line may be a prompt.
const mostPrompt = 500

// New returns a cell that has not begun. Its program puts the token before its messages.
func New(front Front, number int, token string, widgets *Widgets) *Cell {
	c := &Cell{Number: number, Widgets: widgets, front: front}
	c.out = inband.Splitter{Token: token, Text: c.Print, Say: c.message}
	c.err = report.Traces{Print: func(s string) { front.Stream("stderr", s) }}
	return c
}

// Begin prepares for the cell's program to run in a session.
func (c *Cell) Begin(s *Session) {
	c.saves = s.Manifest().Saves
	if c.Result.Steps {
		c.steps = report.NewSteps(c.Result, c.Result.Next.Source(c.Number))
	}
}

// Stdout takes a piece of the program's standard output.
func (c *Cell) Stdout(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.Write(text)
}

// Stderr takes a piece of its standard error.
func (c *Cell) Stderr(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err.Write(text)
}

// Print shows text as if the program had printed it. Only a front that obeys a message may call it.
func (c *Cell) Print(text string) {
	c.front.Stream("stdout", text)
	if c.steps != nil {
		c.steps.Print(text)
	}
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		c.line = ""
		text = text[i+1:]
	}
	if c.line += text; len(c.line) > mostPrompt {
		c.line = ""
	}
}

// message obeys a message of the program.
func (c *Cell) message(kind string, fields []string) {
	if t, content := display.Message(kind, fields, c.Number); t != "" {
		c.front.Publish(t, content)
		return
	}
	switch kind {
	case "input":
		prompt := c.line
		c.line = ""
		c.front.Ask(prompt)
	case "widget":
		c.widget(fields)
	case "error":
		if len(fields) == 2 {
			c.own = report.Said(fields[0], fields[1])
			c.own.Value = fields[1]
		}
	default:
		if !c.front.Obey(kind, fields) && c.steps != nil {
			c.steps.Message(kind, fields)
		}
	}
}

// Place is where the cell's texts are found.
func (c *Cell) Place() report.Place {
	return report.Place{Cell: c.Number, Source: c.Result.Next.Source, Root: c.Root}
}

// Panicked reports whether standard error ends with a panic.
func (c *Cell) Panicked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err.Held()
}

// Exited shows the rest of standard error, unless that is the panic of a program that has failed.
func (c *Cell) Exited(failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !failed || !c.err.Held() {
		c.err.Flush()
	}
}

// Outcome says how a program has ended, by the state of its process; nil means well. stopped is the failure of one that
// the user, or a limit, has ended, or nil.
func (c *Cell) Outcome(state string, stopped *report.Failure) *report.Failure {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case state == "exit status 0":
		c.err.Flush()
		return nil
	case c.own != nil:
		return c.own
	case stopped != nil:
		return stopped
	}
	if f := c.err.Failure(c.Place()); f != nil {
		return f
	}
	c.err.Flush()
	if c.Result.Race && state == "exit status 66" { // the race detector's own
		return report.Said("race", "the race detector found what is written above: goroutines use a variable at the same time, and at least one of them writes to it")
	}
	return report.Ended(state)
}

// Close ends the program's output. What a front still holds back, it shows in last, before more can come.
func (c *Cell) Close(last func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.Close()
	last()
}

// EndSteps ends the record of the cell's steps, if there is one, with the failure that the cell ended with, or nil. It
// shows the record, or returns it if that is wanted.
func (c *Cell) EndSteps(fail *report.Failure, wanted bool) *report.Record {
	if c.steps == nil {
		return nil
	}
	c.steps.Fail(fail)
	if wanted {
		return c.steps.Record()
	}
	if data := c.steps.Display(c.Number); data != nil {
		c.front.Publish("display_data", map[string]any{"data": data, "metadata": map[string]any{}, "transient": map[string]any{}})
	}
	return nil
}

// HasWidgets reports whether the cell has made widgets.
func (c *Cell) HasWidgets() bool { return c.made }
