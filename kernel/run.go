package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// cellLimit is how long a cell may run where -timeout says nothing else.
const cellLimit = 2 * time.Minute

func runCommand() *command {
	var limit time.Duration
	return &command{
		name:  "run",
		args:  "[notebook ...]",
		short: "execute notebooks and store their outputs, without Python",
		long: `
Run executes the cells of each notebook, in order, in a fresh kernel, and writes the outputs into the file. Without arguments it
runs all lessons. It stops at a cell that fails and says which, and where; the file is written only when all its
cells have run, so a failure leaves it as it was. A cell tagged raises-exception may fail; one tagged skip-execution is passed over.

The exit status is 1 if a cell failed. Examples:

  go run ./kernel run
  go run ./kernel run notebooks/05-storage-strides-views.ipynb
  go run ./kernel run -timeout 10m my-experiment.ipynb`,
		flags: func(fs *flag.FlagSet) {
			fs.DurationVar(&limit, "timeout", cellLimit, "how long one cell may run; 0 is no limit")
		},
		run: func(ctx context.Context, ws *workspace, args []string, _ *flag.FlagSet) error {
			if limit < 0 {
				return usagef("-timeout %v is negative", limit)
			}
			list, err := ws.notebooks(args)
			if err != nil {
				return err
			}
			if err := ws.ready(ctx); err != nil {
				return err
			}
			failed := 0
			for _, path := range list {
				began := time.Now()
				cells, err := ws.runFile(ctx, ws.spec(), path, limit)
				if err == nil {
					fmt.Fprintf(ws.stdout, "%s: %d cells in %.1f s\n", ws.rel(path), cells, time.Since(began).Seconds())
					continue
				}
				failed++
				fmt.Fprintln(ws.stderr, err)
				if ctx.Err() != nil {
					return reported{}
				}
			}
			if failed > 0 {
				if len(list) > 1 {
					fmt.Fprintf(ws.stderr, "%d of %d notebooks failed; their files are unchanged.\n", failed, len(list))
				}
				return reported{}
			}
			return nil
		},
	}
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
	if err := w.execute(ctx, spec, path, n, limit); err != nil {
		return 0, err
	}
	// Somebody may have the lesson open in an editor: what they saved meanwhile is worth more than our outputs.
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
		return 0, errors.Join(fmt.Errorf("%s: the file was changed by another program while its cells ran; not written. Run it again", w.rel(path)), err)
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
