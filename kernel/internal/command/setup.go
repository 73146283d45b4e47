package command

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
	"strconv"
	"strings"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/child"
	"github.com/lectern-go/lectern/kernel/internal/install"
	"github.com/lectern-go/lectern/kernel/internal/packages"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

func setupCommand() *command {
	var user, force bool
	return &command{
		name:  "setup",
		short: "build the kernel and what cells use",
		long: `
Setup builds the kernel into .lectern/ (the installed command: into your cache folder), writes the kernelspec, and builds the library with
the flags that cells use, so that the first cell is as fast as the tenth. Then it says that the kernel is ready, and builds the renderer,
the pinned tools of tools/cells/go.mod, which GoNB's magics and widgets need, and packages that few cells import. It rebuilds only what has
changed since the last time, and writes only inside the repository, or that folder, unless -user is given; uninstall removes all of it.

The other commands call it when they need it. Examples:

  go run ./kernel setup
  go run ./kernel setup -user    also make the kernel known to your own Jupyter and VS Code`,
		flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&user, "user", false, "also install the kernelspec in your Jupyter data folder")
			fs.BoolVar(&force, "force", false, "do all steps again, even where nothing has changed")
		},
		run: func(ctx context.Context, ws *workspace, args []string) error {
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
				fmt.Fprintf(ws.stdout, "The kernel is up to date in %s.\n", ws.place())
			} else {
				fmt.Fprintf(ws.stdout, "The kernel is ready in %s (%s; %.1f s).\n", ws.place(), strings.Join(did, ", "), time.Since(began).Seconds())
			}
			if user {
				dir, err := userSpecDir()
				if err != nil {
					return err
				}
				if err := writeSpec(dir, ws.spec()); err != nil {
					return err
				}
				fmt.Fprintf(ws.stdout, "Installed for your Jupyter in %s, as %q; it needs %s to stay where it is.\n", dir, kernelDisplay, ws.root)
			}
			return ws.finish(ctx, force)
		},
	}
}

// A step is a part of setup that is done again when its inputs have changed or an output is gone.
type step struct {
	name    string
	did     string
	inputs  []string
	outputs []string
	run     func() error
}

// setup brings .lectern up to date, as far as cells need it, and returns what it had to do.
func (w *workspace) setup(ctx context.Context, force bool) (did []string, err error) {
	if err := packages.NoHome(cellBuildEnv()); err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	sources, err := w.sourceDigest()
	if err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	modules, err := w.digestModule(".")
	if err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	gonbui, err := w.digestModule("tools/gonbui")
	if err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	builds, downloads := packages.Caches(cellBuildEnv())
	binary := w.tool("lectern-kernel")
	return w.do(force, []step{
		{"kernel", "kernel built", []string{goVersion, sources, install.Version()}, []string{binary}, func() error {
			return w.goCommand(ctx, "build the kernel", w.root, cellBuildEnv(), "build", "-ldflags="+strings.Join(append(cellenv.LinkFlags(), install.VersionFlag()), " "), "-o", binary, "./kernel/server")
		}},
		{"spec", "kernelspec written", []string{fmt.Sprint(w.spec()), string(logo)}, []string{filepath.Join(w.specDir(), "kernel.json")}, func() error {
			return writeSpec(w.specDir(), w.spec())
		}},
		// A library that does not compile stops none of the earlier steps.
		{"library", "library built", []string{goVersion, sources, modules, gonbui, cellenv.Flags(), builds, downloads}, nil, func() error { return w.prepare(ctx) }},
		{"cells", "first cell run", []string{goVersion, modules, cellenv.Flags()}, nil, func() error { return w.runFirstCell(ctx) }},
	})
}

// finish does what cells can do without.
func (w *workspace) finish(ctx context.Context, force bool) error {
	parallel := "-p=" + strconv.Itoa(runtime.GOMAXPROCS(0))
	if w.gently {
		parallel = "-p=1"
	}
	toolMod, err := w.digestModule("tools/cells")
	if err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	gonbui, err := w.digestModule("tools/gonbui")
	if err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	builds, _ := packages.Caches(cellBuildEnv())
	site, err := w.siteStep(ctx, parallel)
	if err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	steps := []step{
		site,
		{"tools", "tools built", []string{goVersion, toolMod}, []string{w.tool("gonb"), w.tool("goimports")}, func() error {
			return w.buildTools(ctx, "build GoNB, for its magics and widgets; cells run already", append([]string{parallel}, install.GoNB...)...)
		}},
		{"plotly", "plotly built", []string{goVersion, gonbui, cellenv.Flags(), builds}, nil, func() error {
			return w.goCommand(ctx, "build GoNB's plotly and wasm packages; cells run already", filepath.Join(w.root, "tools", "gonbui"), cellBuildEnv(), "build", parallel,
				"github.com/janpfeifer/gonb/gonbui/plotly", "github.com/janpfeifer/gonb/gonbui/wasm")
		}},
		w.explorersStep(ctx, site),
	}
	if w.lean() { // a cell that needs GoNB builds it
		steps = steps[:1]
	}
	_, err = w.do(force, steps)
	return err
}

var goVersion = runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH

// do runs those of the steps that have something to do. A stamp for each step holds a digest of the step's inputs.
func (w *workspace) do(force bool, steps []step) (did []string, err error) {
	if err := os.MkdirAll(w.state("stamps"), 0o755); err != nil {
		return nil, &notWritable{err}
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

// notWritable says that the user of a command can't write to the checkout.
type notWritable struct{ err error }

func (e *notWritable) Error() string {
	return fmt.Sprintf("setup: %v; setup builds inside the checkout, so clone it into a folder that you can write to; if you only want the pages, run %s render -o FOLDER", e.err, self)
}

func (e *notWritable) Unwrap() error { return e.err }

// brokenLibrary reports a library that does not compile. Its author can still open a notebook: the cells say what is
// wrong.
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
// Reading a few hundred files would take longer than asking the file system about them, and Go's own cache decides by
// content anyway.
func (w *workspace) sourceDigest() (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			top := filepath.Dir(path) == w.root // kernel/site is a program, site has its pages
			if path != w.root && (strings.HasPrefix(name, ".") || name == "testdata" || top && (name == "site" || name == copiesDir || name == "tools")) {
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

// digestModule is a digest of what a module of the repository requires; empty if it is not there.
func (w *workspace) digestModule(dir string) (string, error) {
	var parts []string
	for _, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(dir), name))
		if err != nil {
			return "", err
		}
		parts = append(parts, string(b))
	}
	return digest(parts...), nil
}

func (w *workspace) buildTools(ctx context.Context, what string, args ...string) error {
	return w.command(ctx, install.Tools(ctx, w.root, w.state("bin"), args...), what)
}

// goCommand runs the go command and shows progress; its output is part of the error if it fails.
func (w *workspace) goCommand(ctx context.Context, what, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, env
	return w.command(ctx, cmd, what)
}

// command runs a program and shows progress; its output is part of the error if it fails.
func (w *workspace) command(ctx context.Context, cmd *exec.Cmd, what string) error {
	p := w.step("%s", strings.ToUpper(what[:1])+what[1:])
	defer p.end()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Start()
	if err == nil {
		if w.gently {
			child.LowerPriority(cmd.Process.Pid) // what it starts has low priority, too
		}
		err = cmd.Wait()
	}
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
		return fmt.Errorf("%s: %s %s: %w\n%s%s", what, filepath.Base(cmd.Path), cmd.Args[1], err, text, hint)
	}
	return nil
}

// cellBuildEnv is the environment for building what cells use, before any cell. Modules may be missing still, so the
// network stays allowed.
func cellBuildEnv() []string { return append(cellenv.Online(os.Environ()), "GOWORK=off") }

// prepareBroken is the exit status of the kernel's program when a package of the library does not compile.
const prepareBroken = 3

// prepare has the kernel's program compile and remember what cells import.
func (w *workspace) prepare(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, w.tool("lectern-kernel"), "-prepare", "-root", w.root)
	cmd.Dir = w.root
	if w.lean() {
		cmd.Env = append(os.Environ(), "LECTERN_LEAN=1")
	}
	err := w.command(ctx, cmd, "build the packages that cells use")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == prepareBroken && ctx.Err() == nil {
		return &brokenLibrary{err}
	}
	return err
}

// firstCell is executed once by setup: a kernel that does not work is found here, not in the lesson.
const firstCell = "import \"" + modulePath + "/tensor\"\n\nfmt.Println(tensor.Arange(3).Shape())"

func (w *workspace) runFirstCell(ctx context.Context) error {
	if w.lean() {
		return w.warm(ctx, []string{`fmt.Println("ready")`})
	}
	return w.warm(ctx, []string{firstCell})
}

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
