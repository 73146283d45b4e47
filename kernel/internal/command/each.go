package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"
)

// cellLimit is how long a cell may run unless -timeout says otherwise.
const cellLimit = 2 * time.Minute

// forEach completes a command that executes notebooks: those named, or all lessons, one after another, even when one
// has failed. do returns what to say about a notebook when all went well; failed is what to say at the end if some
// failed.
func forEach(c *command, do func(ctx context.Context, ws *workspace, path string, limit time.Duration) (string, error), failed func(bad, all int) string) *command {
	var limit time.Duration
	c.args = "[notebook ...]"
	c.flags = func(fs *flag.FlagSet) {
		fs.DurationVar(&limit, "timeout", cellLimit, "how long one cell may run; 0 means no limit")
	}
	c.run = func(ctx context.Context, ws *workspace, args []string) error {
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
			said, err := do(ctx, ws, path, limit)
			if err == nil {
				fmt.Fprintf(ws.stdout, "%s: %s (%.1f s)\n", ws.rel(path), said, time.Since(began).Seconds())
				continue
			}
			if !errors.As(err, &reported{}) {
				fmt.Fprintln(ws.stderr, err)
			}
			bad++
			if ctx.Err() != nil {
				return reported{}
			}
		}
		if bad == 0 {
			return nil
		}
		if s := failed(bad, len(list)); s != "" {
			fmt.Fprintln(ws.stderr, s)
		}
		return reported{}
	}
	return c
}
