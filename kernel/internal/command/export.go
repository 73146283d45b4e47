package command

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/export"
	"github.com/lectern-go/lectern/kernel/notebook"
)

func exportCommand() *command {
	return &command{
		name:  "export",
		args:  "notebook.ipynb | program.go",
		short: "make a Go program of a notebook, or a notebook of a Go file",
		long: `
Export writes a notebook as a Go program into a folder of its name beside it: main.go, with a function for each cell and the texts as comments,
main_test.go if cells hold tests, and, outside a module, a go.mod. It says so if the program does not build. Nothing is executed.
In a module that does not require the library it prints values with package fmt, and the module's requirements stay as they are.
Lines for the kernel (%env, !ls) have no place in a program: they stand in it as comments.

A Go file becomes a notebook the other way round. Lines that begin with // %% part its cells, and // %% [markdown] begins a comment that is text; so
programs that were exported become notebooks again, and so do files with such marks by your own hand. Examples:

  go run ./kernel export my-experiment.ipynb
  go run ./kernel export -o cmd/experiment my-experiment.ipynb
  go run ./kernel export my-experiment/main.go`,
		flags: func(fs *flag.FlagSet) {
			fs.String("o", "", "the folder of the program, or the file of the notebook")
		},
		run: func(ctx context.Context, ws *workspace, args []string, flags *flag.FlagSet) error {
			if len(args) != 1 {
				return usagef("it takes one notebook or one Go file, got %d", len(args))
			}
			out := flags.Lookup("o").Value.String()
			if strings.HasSuffix(args[0], ".go") {
				return ws.exportGo(args[0], out)
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
			return usagef("%s is no notebook", w.rel(path))
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

// exportGo makes a notebook of a Go file.
func (w *workspace) exportGo(path, out string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	parts, err := export.Parts(b)
	if err != nil {
		return fmt.Errorf("%s: %w", w.rel(path), err)
	}
	if out == "" {
		out = strings.TrimSuffix(path, ".go") + ".ipynb"
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already: choose another file with -o", w.rel(out))
	}
	n := &notebook.Notebook{Metadata: notebook.Object{}}
	for _, p := range parts {
		c := &notebook.Cell{Type: "code", Source: p.Text}
		if p.Markdown {
			c.Type = "markdown"
		}
		if p.MayFail {
			c.Metadata = notebook.Object{"tags": []string{tagRaises}}
		}
		c.ID = c.NewID(func(id string) bool {
			for _, other := range n.Cells {
				if other.ID == id {
					return true
				}
			}
			return false
		})
		n.Cells = append(n.Cells, c)
	}
	n.SetKernel(kernelName, kernelDisplay, kernelLanguage)
	if err := n.Write(out); err != nil {
		return err
	}
	fmt.Fprintf(w.stdout, "%s: %s\n", w.rel(out), humanize.Count(len(parts), "cell"))
	return nil
}
