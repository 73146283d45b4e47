package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/linediff"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// Tags that Jupyter's own tools know, and ours for measurements.
const (
	tagRaises   = "raises-exception" // the lesson shows a failure here: go on after it
	tagSkip     = "skip-execution"
	tagMeasured = "measured" // the output is a measurement: other digits each time
)

// A failure is a cell that did not run to its end.
type failure struct {
	notebook string // as shown to the user
	cell     int    // the number in brackets beside the cell
	line     int    // within the cell, from 1; 0 if not known
	source   string // that line
	text     string // the compiler's, the panic's or our own
	hint     string // what to do about it; may be empty
	err      error  // what ended the run, if it was not the cell's own error
}

func (f *failure) Error() string {
	where := fmt.Sprintf("%s, cell [%d]", f.notebook, f.cell)
	if f.line > 0 {
		where += fmt.Sprintf(", line %d", f.line)
	}
	s := where + ": " + f.text
	if f.source != "" {
		s += fmt.Sprintf("\n    %d | %s", f.line, f.source)
	}
	if f.hint != "" {
		s += "\n  hint: " + f.hint
	}
	return s
}

func (f *failure) Unwrap() error { return f.err }

// How a notebook is executed.
type execution struct {
	limit time.Duration             // of a cell
	steps func(*notebook.Cell) bool // of which cells the steps are recorded, too, among their outputs; nil for none
	again func(*notebook.Cell) bool // which cells run a second time at once, as a student runs them; nil for none
	note  func(string)              // is told about progress, instead of the user
}

// execute runs all code cells of n in a fresh kernel, in the notebook's folder, and records their outputs in n. It
// stops at the first cell that fails, with a *failure. It returns those cells that gave a different result when they
// ran again, even with a failure, which may be the consequence.
func (w *workspace) execute(ctx context.Context, spec *jupyter.Spec, path string, n *notebook.Notebook, how execution) (unlike []rerun, err error) {
	name := w.rel(path)
	if how.note == nil {
		p := w.step("Run %s", name)
		defer p.end()
		how.note = p.note
	}
	k, err := jupyter.Start(ctx, spec, jupyter.StartOptions{Dir: filepath.Dir(path), RuntimeDir: w.state("run"),
		// The environment says which notebook it is, as Jupyter does. What a file holds is not cut for the sake of a
		// browser. And it is English, from which pages are translated: a terminal in a JupyterLab in another language
		// has that language in its environment.
		Env: append(os.Environ(), "JPY_SESSION_NAME="+path, "LECTERN_OUTPUT=0", "LECTERN_LANG=")})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer k.Shutdown(5 * time.Second)
	cells := 0
	for _, c := range n.Cells {
		if c.Type == "code" {
			cells++
		}
	}
	var rec notebook.Recorder
	run := func(c *notebook.Cell) (jupyter.Result, error) {
		rec.Begin(c)
		var bad error
		r, err := k.Execute(ctx, c.Source, jupyter.ExecuteOptions{
			Timeout: how.limit,
			Steps:   how.steps != nil && how.steps(c),
			Output: func(m *jupyter.Message) {
				if err := rec.Add(m.Header.Type, m.Content); err != nil && bad == nil {
					bad = err
				}
			},
			// A kernel that may ask tells us that the cell wants input; one that may not ask could only pretend that
			// there is none.
			Input: func(prompt string, _ bool) (string, error) { return "", &jupyter.InputError{Prompt: prompt} },
		})
		if err == nil {
			err = bad
		}
		return r, err
	}
	number := 0
	for _, c := range n.Cells {
		if c.Type != "code" || c.HasTag(tagSkip) {
			continue
		}
		if strings.TrimSpace(c.Source) == "" {
			rec.Begin(c)
			continue
		}
		number++
		how.note(fmt.Sprintf("cell %d of %d", number, cells))
		r, err := run(c)
		if err != nil {
			return unlike, &failure{notebook: name, cell: number, text: brokenOff(err), err: err}
		}
		c.Count = r.Count
		if r.Status != "ok" && !c.HasTag(tagRaises) {
			f := explain(c, r)
			f.notebook, f.cell = name, number
			return unlike, f
		}
		if how.again == nil || !how.again(c) {
			continue
		}
		second := *c
		second.Outputs = nil
		if _, err := run(&second); err != nil {
			return unlike, &failure{notebook: name, cell: number, text: "when it runs again: " + brokenOff(err), err: err}
		}
		measured := c.HasTag(tagMeasured)
		if d := linediff.Of(form(c.Outputs, measured), form(second.Outputs, measured)); d != "" {
			unlike = append(unlike, rerun{number, d})
		}
	}
	n.KeepModule()
	n.SetKernel(kernelName, kernelDisplay, kernelLanguage)
	var info struct {
		Language notebook.Object `json:"language_info"`
	}
	d := json.NewDecoder(strings.NewReader(string(k.Info.Content)))
	d.UseNumber()
	if d.Decode(&info) == nil && info.Language != nil {
		n.Metadata["language_info"] = info.Language
	}
	return unlike, nil
}

// A rerun is how a cell's second run differs from its first.
type rerun struct {
	cell int // the number in brackets beside it
	diff string
}

// brokenOff says in a few words why a run ended, if not by the cell's own error.
func brokenOff(err error) string {
	var limit *jupyter.TimeoutError
	switch {
	case errors.As(err, &limit):
		return err.Error() + "; -timeout sets another limit"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return err.Error()
}
