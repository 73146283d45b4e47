package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
)

func checkCommand() *command {
	var limit time.Duration
	return &command{
		name:  "check",
		args:  "[notebook ...]",
		short: "execute notebooks and compare with their stored outputs",
		long: `
Check executes a copy of each notebook and compares the outputs with those stored in the file, which it never writes. Of cells tagged
measured only the form is compared: how many outputs, of which kinds, and the text without its digits. Without arguments it checks all lessons.

Lines of the diff that begin with - are stored, those with + are what came now. The exit status is 1 if anything differs or a cell fails.
If the new outputs are right, store them with go run ./kernel run. Examples:

  go run ./kernel check
  go run ./kernel check notebooks/11-gradients.ipynb`,
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
			bad := 0
			for _, path := range list {
				began := time.Now()
				diff, err := ws.checkFile(ctx, ws.spec(), path, limit)
				switch {
				case err != nil:
					fmt.Fprintln(ws.stderr, err)
				case diff != "":
					fmt.Fprint(ws.stdout, diff)
				default:
					fmt.Fprintf(ws.stdout, "%s: as stored (%.1f s)\n", ws.rel(path), time.Since(began).Seconds())
					continue
				}
				bad++
				if ctx.Err() != nil {
					return reported{}
				}
			}
			if bad > 0 {
				fmt.Fprintf(ws.stderr, "%d of %d notebooks differ or fail. If the new outputs are right: go run ./kernel run\n", bad, len(list))
				return reported{}
			}
			return nil
		},
	}
}

// checkFile executes a copy of one notebook and returns how its outputs differ from the stored ones; "" if they do not.
func (w *workspace) checkFile(ctx context.Context, spec *jupyter.Spec, path string, limit time.Duration) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	stored, err := notebook.Parse(w.rel(path), b)
	if err != nil {
		return "", err
	}
	now, err := notebook.Parse(w.rel(path), b)
	if err != nil {
		return "", err
	}
	if err := w.execute(ctx, spec, path, now, limit); err != nil {
		return "", err
	}
	return compare(w.rel(path), stored, now), nil
}
