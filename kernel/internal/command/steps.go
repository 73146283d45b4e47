package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// A recording is the recorded steps of notebooks, and the notebooks that are still to be recorded.
type recording struct {
	w     *workspace
	dir   string            // where records are
	want  map[string]string // the file of the record of each notebook, by path
	texts map[string][]byte // of notebooks that have changed since they were recorded, by path
	queue []string          // their paths, in the order of the course
	of    int               // how many notebooks there are
	from  string            // the file that records came from, if any
	given int               // how many came from it

	mu    sync.Mutex
	files map[string]string // of records, by the notebooks' names for the renderer
}

// recorded finds out what was recorded of notebooks: in a folder, or in a file of records if one is given. A notebook
// is not run again while it and the library are as they were then.
func (w *workspace) recorded(paths []string, dir, from string) (*recording, error) {
	keys, err := w.stepsKeys()
	if err != nil {
		return nil, err
	}
	r := &recording{w: w, dir: dir, from: from, want: map[string]string{}, texts: map[string][]byte{}, of: len(paths), files: map[string]string{}}
	names := []string{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		key, err := keys.key(w.rel(path), b)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(path), ".ipynb") + "-" + key + ".json"
		r.want[path], r.texts[path] = filepath.Join(dir, name), b
		names = append(names, name)
	}
	if from != "" {
		copied, err := stepsFromFile(from, dir, names)
		if err != nil {
			return nil, err
		}
		r.given = len(copied)
	}
	for _, path := range paths {
		if file := r.want[path]; fileExists(file) {
			r.files[fromHere(path)] = file
			delete(r.texts, path)
		} else {
			r.queue = append(r.queue, path)
		}
	}
	return r, nil
}

// recordedOrNot is like recorded, but if a file that nobody asked for is damaged, it says so and does without.
func (w *workspace) recordedOrNot(paths []string, dir, from string, found bool) (*recording, error) {
	r, err := w.recorded(paths, dir, from)
	if _, damaged := errors.AsType[*StepsFileError](err); damaged && found {
		fmt.Fprintf(w.stderr, "warning: %v\n", err)
		return w.recorded(paths, dir, "")
	}
	return r, err
}

// came says how many records came from a file, and what happens to the rest.
func (r *recording) came(file string, record bool) string {
	text := fmt.Sprintf("Of %s, the steps of %d came from %s", humanize.Count(r.of, "notebook"), r.given, file)
	if before := r.of - r.given - len(r.queue); before > 0 {
		text += fmt.Sprintf("; those of %d were recorded here before", before)
	}
	switch {
	case len(r.queue) == 0:
	case record:
		text += fmt.Sprintf("; the file has none for %s in the present version: recording them now", humanize.Count(len(r.queue), "notebook"))
	default:
		text += fmt.Sprintf("; the file has none for %s in the present version: no steps for these", humanize.Count(len(r.queue), "notebook"))
	}
	return text + "."
}

// save writes all records that there are into a file, for others with the same notebooks; with no name it does nothing.
func (r *recording) save(file string) error {
	if file == "" {
		return nil
	}
	var whole []string
	for _, path := range slices.Sorted(maps.Keys(r.want)) {
		if fileExists(r.want[path]) {
			whole = append(whole, r.want[path])
		}
	}
	return stepsToFile(file, whole)
}

// recorded returns the files of the records that there are by now, by notebook.
func (r *recording) recorded() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.files)
}

// record records the notebooks that are to be recorded, two cores for each, and says how far it is. Failures are
// reported, and the cells from a failure on are shown without steps. done is called after each, one call at a time.
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
	file := r.want[path]
	if err != nil { // it may go well the next time
		fmt.Fprintf(w.stderr, "warning: its steps end there: %v\n", err)
		file = filepath.Join(r.dir, name+"-unfinished.json")
	} else {
		r.removeOld(name)
	}
	if err := writeFile(file, text, 0o666); err != nil {
		return fmt.Errorf("record steps of %s: %w", w.rel(path), err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[fromHere(path)] = file
	return nil
}

// removeOld removes what was recorded of a notebook before; a-2.ipynb is another one than a.ipynb.
func (r *recording) removeOld(name string) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return // there is none
	}
	for _, e := range entries {
		if rest, its := strings.CutPrefix(e.Name(), name+"-"); its && oldRecord.MatchString(rest) {
			os.Remove(filepath.Join(r.dir, e.Name()))
		}
	}
}

var oldRecord = regexp.MustCompile(`^(?:[0-9a-f]{16}|unfinished)\.json$`)

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
	// Students' copies run without these cells, too. What they assert about memory need not hold while steps are
	// recorded.
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
