package command

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// stepsFormat changes when records made before are of no use any more.
const stepsFormat = "2"

// recordSteps records what the cells of notebooks do, step by step, and returns a file that names the records: an
// object of notebooks and files, which the caller removes. A notebook that has not changed since it was recorded is not
// run again. One that fails is told about, and its cells are shown without steps, but for those before the failure.
func (w *workspace) recordSteps(ctx context.Context, paths []string) (list string, err error) {
	dir := w.state("steps")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("record steps: %w", err)
	}
	ready := false
	files := map[string]string{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		name := strings.TrimSuffix(filepath.Base(path), ".ipynb")
		file := w.stepsFile(path, b)
		files[fromHere(path)] = file
		if _, err := os.Stat(file); err == nil {
			continue
		}
		if !ready {
			if err := w.ready(ctx); err != nil {
				return "", err
			}
			ready = true
		}
		cells, err := w.stepsOf(ctx, path, b)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		text, bad := json.Marshal(cells)
		if bad != nil {
			return "", fmt.Errorf("record steps of %s: %w", w.rel(path), bad)
		}
		if err != nil { // it may be well the next time
			fmt.Fprintf(w.stderr, "warning: its steps end there: %v\n", err)
			file = filepath.Join(dir, name+"-unfinished.json")
			files[fromHere(path)] = file
		} else if old, err := filepath.Glob(filepath.Join(dir, name+"-*.json")); err == nil {
			for _, f := range old {
				os.Remove(f)
			}
		}
		if err := atomicfile.Replace(file, text, 0o666); err != nil {
			return "", fmt.Errorf("record steps of %s: %w", w.rel(path), err)
		}
	}
	text, err := json.Marshal(files)
	if err != nil {
		return "", fmt.Errorf("record steps: %w", err)
	}
	list = filepath.Join(dir, fmt.Sprintf("list-%d", os.Getpid()))
	if err := atomicfile.Replace(list, text, 0o666); err != nil {
		return "", fmt.Errorf("record steps: %w", err)
	}
	return list, nil
}

// stepsFile is where the record of a notebook with that text stands.
func (w *workspace) stepsFile(path string, text []byte) string {
	sum := sha256.Sum256(append([]byte(stepsFormat+"\n"), text...))
	return filepath.Join(w.state("steps"), fmt.Sprintf("%s-%x.json", strings.TrimSuffix(filepath.Base(path), ".ipynb"), sum[:8]))
}

// cellSteps is what package render knows as CellSteps.
type cellSteps struct {
	Record any    `json:"record,omitempty"`
	Why    string `json:"why,omitempty"`
}

// stepsOf runs a copy of a notebook and returns what was recorded of its cells, by their ids.
func (w *workspace) stepsOf(ctx context.Context, path string, text []byte) (map[string]cellSteps, error) {
	n, err := notebook.Parse(w.rel(path), text)
	if err != nil {
		return nil, err
	}
	// Students' copies run without these cells, too. What they assert of memory need not hold while steps are recorded.
	n.Cells = slices.DeleteFunc(n.Cells, func(c *notebook.Cell) bool { return c.HasTag("check-only") })
	for _, c := range n.Cells {
		c.Outputs = nil
	}
	_, err = w.execute(ctx, w.spec(), path, n, execution{limit: cellLimit, steps: func(*notebook.Cell) bool { return true }})
	cells := map[string]cellSteps{}
	for _, c := range n.Cells {
		for _, o := range c.Outputs {
			record, ok := o.Data[notebook.StepsType]
			if !ok {
				continue
			}
			why := ""
			if c.HasTag(tagMeasured) {
				why = "This cell measures. Here it ran with its steps recorded, which takes time: what counts is the output below it."
			}
			cells[c.ID] = cellSteps{record, why}
		}
	}
	return cells, err
}
