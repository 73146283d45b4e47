package command

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// stepsFormat changes when records made before are of no use any more.
const stepsFormat = "2"

// A recording is what is recorded of the steps of notebooks, and what is still to be recorded.
type recording struct {
	w     *workspace
	texts map[string][]byte // of notebooks that have changed since they were recorded, by path
	queue []string          // their paths, in the order of the course
	of    int               // how many notebooks there are

	mu    sync.Mutex
	files map[string]string // of records, by the notebooks' names for the renderer
}

// recorded finds out what was recorded of notebooks. One that has not changed since then is not run again.
func (w *workspace) recorded(paths []string) (*recording, error) {
	r := &recording{w: w, texts: map[string][]byte{}, of: len(paths), files: map[string]string{}}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if file := w.stepsFile(path, b); fileExists(file) {
			r.files[fromHere(path)] = file
		} else {
			r.texts[path] = b
			r.queue = append(r.queue, path)
		}
	}
	return r, nil
}

// list writes a file that names the records that there are: an object of notebooks and files. The caller removes it.
func (r *recording) list() (file string, err error) {
	r.mu.Lock()
	text, err := json.Marshal(r.files)
	r.mu.Unlock()
	if err == nil {
		file = r.w.state("steps", fmt.Sprintf("list-%d", os.Getpid()))
		err = writeFile(file, text, 0o666)
	}
	if err != nil {
		return "", fmt.Errorf("record steps: %w", err)
	}
	return file, nil
}

// record records the notebooks that are to be recorded, two cores for each, and says how far it is. What fails is told
// about, and its cells are shown without steps, but for those before the failure. done is called after each, one call
// at a time.
func (r *recording) record(ctx context.Context, done func() error) error {
	if len(r.queue) == 0 {
		return nil
	}
	if err := r.w.ready(ctx); err != nil {
		return err
	}
	p := r.w.step("Record what readers can step through")
	defer p.end()
	began, before, ended := time.Now(), r.of-len(r.queue), 0
	left := func() string {
		text := fmt.Sprintf("lesson %d of %d", min(before+ended+1, r.of), r.of)
		if ended > 0 {
			each := time.Since(began) / time.Duration(ended)
			text += fmt.Sprintf(", about %s left", minutes(each*time.Duration(len(r.queue)-ended)))
		}
		return bar(before+ended, r.of) + " " + text
	}
	p.note(left())
	queue := make(chan string, len(r.queue))
	for _, path := range r.queue {
		queue <- path
	}
	close(queue)
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		all.Go(func() {
			for path := range queue {
				err := r.one(ctx, path)
				mu.Lock()
				ended++
				p.note(left())
				if err == nil && first == nil {
					err = done()
				}
				if first == nil {
					first = err
				}
				stop := first != nil
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	all.Wait()
	return first
}

// bar draws how much of something is done.
func bar(n, of int) string {
	const width = 16
	full := width * n / of
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}

// minutes is a time that is not known to the second, for people.
func minutes(d time.Duration) string {
	if d < time.Minute {
		return "a minute"
	}
	return humanize.Count(int(d.Round(time.Minute)/time.Minute), "minute")
}

// one records one notebook.
func (r *recording) one(ctx context.Context, path string) error {
	w, name := r.w, strings.TrimSuffix(filepath.Base(path), ".ipynb")
	cells, err := w.stepsOf(ctx, path, r.texts[path])
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text, bad := json.Marshal(cells)
	if bad != nil {
		return fmt.Errorf("record steps of %s: %w", w.rel(path), bad)
	}
	file := w.stepsFile(path, r.texts[path])
	if err != nil { // it may be well the next time
		fmt.Fprintf(w.stderr, "warning: its steps end there: %v\n", err)
		file = w.state("steps", name+"-unfinished.json")
	} else if old, err := filepath.Glob(w.state("steps", name+"-*.json")); err == nil {
		for _, f := range old {
			os.Remove(f)
		}
	}
	if err := writeFile(file, text, 0o666); err != nil {
		return fmt.Errorf("record steps of %s: %w", w.rel(path), err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[fromHere(path)] = file
	return nil
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
	_, err = w.execute(ctx, w.spec(), path, n, execution{limit: cellLimit, steps: func(*notebook.Cell) bool { return true }, note: func(string) {}})
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
