package command

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func exportCommand() *command {
	var out string
	return &command{
		name:  "export",
		args:  "notebook.ipynb",
		short: "turn a notebook into a Go program",
		long: `
Export writes a notebook as a Go program into a folder beside it with the same name: main.go, with a function for each cell and the texts as
comments, main_test.go if cells hold tests, and, outside a module, a go.mod. It says so if the program does not build. Nothing is executed.
In a module that does not require the library it prints values with package fmt, and the module's requirements stay as they are. Lines for
the kernel (%env, !ls) have no place in a program: they become comments.

Examples:

  go run ./kernel export my-experiment.ipynb
  go run ./kernel export -o cmd/experiment my-experiment.ipynb`,
		flags: func(fs *flag.FlagSet) {
			fs.StringVar(&out, "o", "", "the folder for the program")
		},
		run: func(ctx context.Context, ws *workspace, args []string) error {
			if len(args) != 1 {
				return usagef("it takes one notebook, got %d", len(args))
			}
			list, err := ws.notebooks(args)
			if err != nil {
				return err
			}
			return ws.exportNotebook(ctx, list[0], out)
		},
	}
}

// exportNotebook has the kernel's program write a notebook as a Go program.
func (w *workspace) exportNotebook(ctx context.Context, path, out string) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	if out == "" {
		out = strings.TrimSuffix(path, filepath.Ext(path))
		if out == path {
			return usagef("%s is not a notebook", w.rel(path))
		}
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, w.tool("lectern-kernel"), "-export", path, "-o", out, "-root", w.root)
	cmd.Env = os.Environ()
	for k, v := range w.kernelEnv() {
		if k != "PATH" {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	p := w.step("Export %s", w.rel(path))
	err = cmd.Run()
	p.end()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return errors.New(strings.TrimSpace(said.String()))
	}
	folder := w.rel(out)
	if strings.ContainsAny(folder, " '\"$\\") {
		folder = strconv.Quote(folder)
	}
	fmt.Fprintf(w.stdout, "%s: run it with go run -C %s .\n", w.rel(filepath.Join(out, "main.go")), folder)
	return nil
}
