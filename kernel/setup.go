package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

func setupCommand() *command {
	var user, force bool
	return &command{
		name:  "setup",
		short: "build the kernel into .lectern/ and prebuild what cells use",
		long: `
Setup builds the pinned tools of tools/go.mod (GoNB, goimports, gopls) and the kernel into .lectern/, writes the kernelspec,
and builds the library with the flags that cells use, so that the first cell is as fast as the tenth. It does only
what has changed since the last time, and writes only inside the repository unless -user is given.

The other commands call it by themselves. Examples:

  go run ./kernel setup
  go run ./kernel setup -user    also make the kernel known to your own Jupyter and VS Code`,
		flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&user, "user", false, "also install the kernelspec in your Jupyter data folder")
			fs.BoolVar(&force, "force", false, "do all steps again, even where nothing has changed")
		},
		run: func(ctx context.Context, ws *workspace, args []string, _ *flag.FlagSet) error {
			if len(args) > 0 {
				return usagef("setup takes no arguments, got %q", args)
			}
			began := time.Now()
			did, err := ws.setup(ctx, force)
			var broken *brokenLibrary
			if err != nil && !errors.As(err, &broken) {
				return err
			}
			if broken != nil {
				return fmt.Errorf("%w\nThe kernel itself is ready: cells that do not import what is broken will run", broken)
			}
			if len(did) == 0 {
				fmt.Fprintln(ws.stdout, "The kernel is up to date in .lectern/.")
			} else {
				fmt.Fprintf(ws.stdout, "The kernel is ready in .lectern/ (%s; %.1f s).\n", strings.Join(did, ", "), time.Since(began).Seconds())
			}
			if user {
				dir, err := userSpecDir()
				if err != nil {
					return err
				}
				if err := writeSpec(dir, ws.spec()); err != nil {
					return err
				}
				fmt.Fprintf(ws.stdout, "Installed for your Jupyter in %s; it needs this checkout to stay where it is.\n", dir)
			}
			return nil
		},
	}
}

// setup brings .lectern up to date and returns what it had to do. A stamp for each step holds a digest of the step's inputs.
func (w *workspace) setup(ctx context.Context, force bool) (did []string, err error) {
	if err := os.MkdirAll(w.state("stamps"), 0o755); err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	sources, err := w.sourceDigest()
	if err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	toolMod, err := digestFiles(filepath.Join(w.root, "tools", "go.mod"), filepath.Join(w.root, "tools", "go.sum"))
	if err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	modules, err := digestFiles(filepath.Join(w.root, "go.mod"), filepath.Join(w.root, "go.sum"))
	if err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	goVersion := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	front := w.tool("lectern-kernel")
	outputs := []string{w.tool("gonb"), w.tool("goimports"), w.tool("gopls")}
	steps := []struct {
		name    string
		did     string
		inputs  []string
		outputs []string
		run     func() error
	}{
		{"tools", "tools built", []string{goVersion, toolMod}, outputs, func() error { return w.buildTools(ctx) }},
		{"front", "kernel built", []string{goVersion, sources}, []string{front}, func() error {
			return w.goCommand(ctx, "build the kernel", w.root, nil, "build", "-o", front, "./kernel/front")
		}},
		{"spec", "kernelspec written", []string{fmt.Sprint(w.spec()), string(logo)}, []string{filepath.Join(w.specDir(), "kernel.json")}, func() error {
			return writeSpec(w.specDir(), w.spec())
		}},
		{"cells", "first cells run", []string{goVersion, modules, toolMod, cellenv.Flags()}, nil, func() error { return w.runFirstCells(ctx) }},
		// Last, because the rest does not need it.
		{"library", "library built", []string{goVersion, sources, cellenv.Flags()}, nil, func() error { return w.prebuild(ctx) }},
	}
	for _, s := range steps {
		stamp := w.state("stamps", s.name)
		want := digest(s.inputs...)
		if have, err := os.ReadFile(stamp); !force && err == nil && string(have) == want && !slices.ContainsFunc(s.outputs, func(p string) bool { return !fileExists(p) }) {
			continue
		}
		// A step that fails half-way must not look done to the next setup.
		if err := os.Remove(stamp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return did, fmt.Errorf("setup: %w", err)
		}
		if err := s.run(); err != nil {
			return did, fmt.Errorf("setup: %w", err)
		}
		if err := writeFile(stamp, []byte(want), 0o644); err != nil {
			return did, fmt.Errorf("setup: %w", err)
		}
		did = append(did, s.did)
	}
	return did, nil
}

// brokenLibrary reports a library that does not compile. Its author can still open a notebook: the cells say what is wrong.
type brokenLibrary struct{ err error }

func (e *brokenLibrary) Error() string { return e.err.Error() }
func (e *brokenLibrary) Unwrap() error { return e.err }

// ready runs setup for a command that needs the kernel.
func (w *workspace) ready(ctx context.Context) error {
	_, err := w.setup(ctx, false)
	var broken *brokenLibrary
	if errors.As(err, &broken) {
		fmt.Fprintf(w.stderr, "warning: %v\n", broken)
		return nil
	}
	return err
}

// sourceDigest is a digest of the names, sizes and times of all files that the library and the kernel are built from.
// Reading a few hundred files would take longer than asking the file system about them, and Go's own cache decides by content anyway.
func (w *workspace) sourceDigest() (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != w.root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "site" || name == "notebooks" || name == "tools") {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(name) {
		case ".go":
			if strings.HasSuffix(name, "_test.go") {
				return nil
			}
		case ".s", ".h", ".c", ".cu", ".mod", ".sum", ".css", ".js", ".svg", ".html":
		default:
			return nil
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, path, st.Size(), st.ModTime().UnixNano())
		return nil
	})
	return digest(b.String()), err
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func digestFiles(paths ...string) (string, error) {
	var parts []string
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			return "", err
		}
		parts = append(parts, string(b))
	}
	return digest(parts...), nil
}

func (w *workspace) buildTools(ctx context.Context) error {
	env := append(os.Environ(), "GOBIN="+w.state("bin"), "GOFLAGS=-buildvcs=false", "GOWORK=off")
	return w.goCommand(ctx, "build GoNB, goimports and gopls", filepath.Join(w.root, "tools"), env, "install", "tool")
}

// goCommand runs the go command and shows progress; its output is part of the error if it fails.
func (w *workspace) goCommand(ctx context.Context, what, dir string, env []string, args ...string) error {
	p := w.step("%s", strings.ToUpper(what[:1])+what[1:])
	defer p.end()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s: the go command is not in PATH; install Go from go.dev", what)
	}
	if err != nil {
		text := strings.TrimSpace(out.String())
		hint := ""
		if strings.Contains(text, "dial tcp") || strings.Contains(text, "no such host") || strings.Contains(text, "i/o timeout") {
			hint = "\nThe modules could not be downloaded: the first setup needs the network."
		}
		return fmt.Errorf("%s: go %s: %w\n%s%s", what, args[0], err, text, hint)
	}
	return nil
}

// drawing are the packages that cells draw with. They are half of what a cell with a figure takes to build.
var drawing = []string{"gonum.org/v1/plot", "gonum.org/v1/plot/plotter", "gonum.org/v1/plot/vg", "gonum.org/v1/plot/vg/vgsvg"}

// firstCells are executed once by setup, so that what only the first cell does is done: goimports reads the module cache, the linker's
// inputs come into memory, and a kernel that does not work is found here and not in the lesson.
var firstCells = []string{
	"import \"fmt\"\n%%\nfmt.Println(\"hello\")",
	`import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)
%%
p := plot.New()
line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}})
if err != nil {
	panic(err)
}
p.Add(line)
c := vgsvg.New(3*vg.Inch, 2*vg.Inch)
p.Draw(draw.New(c))
fmt.Println("drawn")`,
}

// cellBuildEnv is the environment for building what cells use, before any cell. Modules may be missing still, so the network stays allowed.
func cellBuildEnv() []string { return append(cellenv.Online(os.Environ()), "GOWORK=off") }

// prebuild builds the packages of the library that a cell may import.
func (w *workspace) prebuild(ctx context.Context) error {
	packages, err := w.cellPackages(ctx)
	if err != nil {
		return err
	}
	err = w.goCommand(ctx, "build the library as cells use it", w.root, cellBuildEnv(), append([]string{"build"}, packages...)...)
	if err == nil {
		err = w.warm(ctx, []string{libraryCell})
	}
	if err != nil && ctx.Err() == nil {
		err = &brokenLibrary{err}
	}
	return err
}

func (w *workspace) runFirstCells(ctx context.Context) error {
	// Cells are compiled in a workspace, where the go command reads the go.mod of every module that any other names, not only of those that are
	// built; and cells may not fetch anything.
	if err := w.goCommand(ctx, "list the modules", w.root, nil, "list", "-m", "all"); err != nil {
		return err
	}
	if err := w.goCommand(ctx, "build what cells draw with", w.root, cellBuildEnv(), append([]string{"build"}, drawing...)...); err != nil {
		return err
	}
	return w.warm(ctx, firstCells)
}

// libraryCell imports the library once after it has changed: the front then has the types of its packages in its cache.
const libraryCell = "import \"" + modulePath + "/tensor\"\n\nfmt.Println(tensor.Arange(3).Shape())"

// warm executes cells in a fresh kernel.
func (w *workspace) warm(ctx context.Context, cells []string) error {
	p := w.step("Run the first cells")
	defer p.end()
	k, err := jupyter.Start(ctx, w.spec(), jupyter.StartOptions{Dir: w.root, RuntimeDir: w.state("run")})
	if err != nil {
		return err
	}
	defer k.Shutdown(5 * time.Second)
	for _, code := range cells {
		var said strings.Builder
		r, err := k.Execute(ctx, code, jupyter.ExecuteOptions{Timeout: 5 * time.Minute, Output: func(m *jupyter.Message) {
			var c struct{ Text string }
			if m.Header.Type == "stream" && m.DecodeContent(&c) == nil {
				said.WriteString(c.Text)
			}
		}})
		if err != nil {
			return fmt.Errorf("a first cell: %w", err)
		}
		if r.Status != "ok" {
			return fmt.Errorf("a first cell failed: %s\n%s%s", r.EValue, said.String(), strings.Join(r.Traceback, "\n"))
		}
	}
	return nil
}

// cellPackages lists the packages of the library that a cell may import.
func (w *workspace) cellPackages(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-f", "{{if ne .Name \"main\"}}{{.ImportPath}}{{end}}", "./...")
	cmd.Dir = w.root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("list the library's packages: %w\n%s", err, strings.TrimSpace(stderr.String()))
	}
	var list []string
	for _, p := range strings.Fields(string(out)) {
		inner := strings.TrimPrefix(p, modulePath+"/")
		if strings.HasPrefix(inner, "internal/") || strings.Contains(inner, "/internal/") {
			continue // built where a package of the library needs them
		}
		if strings.HasPrefix(inner, "kernel/") && inner != "kernel/show" && inner != "kernel/keep" {
			continue
		}
		list = append(list, p)
	}
	return list, nil
}
