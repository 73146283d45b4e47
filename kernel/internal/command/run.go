package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
)

func runCommand() *command {
	return forEach(&command{
		name:  "run",
		short: "execute notebooks and store their outputs, without Python",
		long: `
Run executes the cells of each notebook, in order, in a fresh kernel, and writes the outputs into the file. Without arguments it runs all
lessons, or outside the repository the notebooks of the current folder. It stops at the first cell that fails, and says which it is, and
where it failed; the file is written only when all its cells have run, so a failure leaves it as it was. A cell tagged raises-exception may
fail; one tagged skip-execution is skipped.

The exit status is 1 if a cell failed. Examples:

  go run ./kernel run
  go run ./kernel run notebooks/05-storage-strides-views.ipynb
  go run ./kernel run -timeout 10m my-experiment.ipynb`,
	}, func(ctx context.Context, ws *workspace, path string, limit time.Duration) (string, error) {
		cells, err := ws.runFile(ctx, ws.spec(), path, limit)
		return humanize.Count(cells, "cell"), err
	}, func(bad, all int) string {
		if all == 1 {
			return ""
		}
		return fmt.Sprintf("%d of %s failed; their files are unchanged.", bad, humanize.Count(all, "notebook"))
	})
}

// runFile executes one notebook and writes it. It returns the number of cells that ran.
func (w *workspace) runFile(ctx context.Context, spec *jupyter.Spec, path string, limit time.Duration) (int, error) {
	before, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	n, err := notebook.Parse(w.rel(path), before)
	if err != nil {
		return 0, err
	}
	if _, err := w.execute(ctx, spec, path, n, execution{limit: limit}); err != nil {
		return 0, err
	}
	// The lesson may be open in an editor: changes saved meanwhile are worth more than our outputs.
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
		return 0, errors.Join(fmt.Errorf("%s: the file was changed by another program while its cells ran; not written. Run it again", w.rel(path)), err)
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to // the file is replaced, and not a link to it
	}
	if err := n.Write(path); err != nil {
		return 0, err
	}
	cells := 0
	for _, c := range n.Cells {
		if c.Count > 0 {
			cells++
		}
	}
	return cells, nil
}
