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
	err      error  // what broke off the run, if it was not the cell's own error
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
	return s
}

func (f *failure) Unwrap() error { return f.err }

// execute runs all code cells of n in a fresh kernel, in the notebook's folder, and records their outputs in n.
// It stops at the first cell that fails, with a *failure. Of the cells that steps accepts, unless it is nil, the steps
// are recorded, and the record is among their outputs.
func (w *workspace) execute(ctx context.Context, spec *jupyter.Spec, path string, n *notebook.Notebook, limit time.Duration, steps func(*notebook.Cell) bool) (err error) {
	name := w.rel(path)
	what := "Run"
	if steps != nil {
		what = "Record the steps of"
	}
	p := w.step("%s %s", what, name)
	defer p.end()
	k, err := jupyter.Start(ctx, spec, jupyter.StartOptions{Dir: filepath.Dir(path), RuntimeDir: w.state("run"),
		Env: append(os.Environ(), "JPY_SESSION_NAME="+path)}) // as Jupyter says which notebook it is
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer k.Shutdown(5 * time.Second)
	cells := 0
	for _, c := range n.Cells {
		if c.Type == "code" {
			cells++
		}
	}
	var rec notebook.Recorder
	number := 0
	for _, c := range n.Cells {
		if c.Type != "code" || c.HasTag(tagSkip) {
			continue
		}
		rec.Begin(c)
		if strings.TrimSpace(c.Source) == "" {
			continue
		}
		number++
		p.note(fmt.Sprintf("cell %d of %d", number, cells))
		var bad error
		r, err := k.Execute(ctx, c.Source, jupyter.ExecuteOptions{
			Timeout: limit,
			Steps:   steps != nil && steps(c),
			Output: func(m *jupyter.Message) {
				if err := rec.Add(m.Header.Type, m.Content); err != nil && bad == nil {
					bad = err
				}
			},
			// A kernel that may ask tells us that the cell wants input; one that may not could only pretend that there
			// is none.
			Input: func(prompt string, _ bool) (string, error) { return "", &jupyter.InputError{Prompt: prompt} },
		})
		if err == nil {
			err = bad
		}
		if err != nil {
			return &failure{notebook: name, cell: number, text: brokenOff(err), err: err}
		}
		c.Count = r.Count
		if r.Status != "ok" && !c.HasTag(tagRaises) {
			f := explain(c, r)
			f.notebook, f.cell = name, number
			return f
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
	return nil
}

// brokenOff says in a few words why a run ended other than by the cell's own error.
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
