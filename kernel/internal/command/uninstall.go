package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

func uninstallCommand() *command {
	return &command{
		name:  "uninstall",
		short: "remove what these commands have written",
		long: `
Uninstall removes what the other commands have built and written: .lectern/ in the repository; for the installed command its folder in your
cache folder, with all versions; and the kernelspec that setup -user gave to your Jupyter, if it starts one of these kernels. Your
notebooks, working copies and pages stay. So do Go's own caches, which other programs use: go clean -cache -modcache empties those. Example:

  go run ./kernel uninstall`,
		run: func(_ context.Context, ws *workspace, args []string) error {
			if len(args) > 0 {
				return usagef("it takes no arguments")
			}
			return ws.uninstall()
		},
	}
}

func (w *workspace) uninstall() error {
	gone := []string{w.state()}
	if cache, err := cacheDir(); err == nil && w.lean() {
		gone = []string{cache}
	}
	if dir, err := userSpecDir(); err == nil {
		if s, err := jupyter.ReadSpec(dir); err == nil && len(s.Argv) > 0 && strings.HasPrefix(s.Argv[0], gone[0]+string(filepath.Separator)) {
			gone = append(gone, dir)
		}
	}
	removed := false
	for _, path := range gone {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("uninstall: %w", err)
		}
		fmt.Fprintf(w.stdout, "removed %s\n", path)
		removed = true
	}
	if w.lean() {
		os.Remove(filepath.Dir(gone[0])) // only if nothing else is in it
	}
	if !removed {
		fmt.Fprintln(w.stdout, "There is nothing to remove.")
	}
	if exe, err := os.Executable(); err == nil && self != goRun {
		fmt.Fprintf(w.stdout, "The command itself is %s.\n", exe)
	}
	return nil
}
