package command

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// jupyterlabVersion is the JupyterLab that lab installs; jupyterlab.txt, which jupyterlab.sh makes, pins it and what
// it needs, with hashes.
const jupyterlabVersion = "4.6.6"

// widgetsVersion is that of jupyterlab_widgets, by which JupyterLab draws widgets.
const widgetsVersion = "3.0.17"

//go:embed jupyterlab.txt
var jupyterlabPins []byte

// A jupyterLab is the workspace as far as JupyterLab is concerned: how it is installed and started.
type jupyterLab struct{ *workspace }

// labProgram is a way to start JupyterLab.
type labProgram struct {
	argv []string
	from string // where it comes from, for messages
}

// noPython says why there is no Python to run JupyterLab with.
type noPython struct{ why string }

func (e *noPython) Error() string { return e.why }

// findLab finds or installs JupyterLab: in an environment of our own that uv makes, in PATH, or in one that Python
// makes.
func (w jupyterLab) findLab(ctx context.Context) (*labProgram, error) {
	venvLab := filepath.Join(w.state("jupyter", labVenv), venvBin, "jupyter-lab"+exeSuffix)
	lab := &labProgram{argv: []string{venvLab}, from: ".lectern/jupyter/venv"}
	if w.hasVenv() {
		return lab, nil
	}
	if _, err := exec.LookPath("uv"); err != nil {
		if lab, err := exec.LookPath("jupyter-lab"); err == nil && labVersionOK(ctx, lab) {
			return &labProgram{argv: []string{lab}, from: lab}, nil
		}
	}
	if err := w.makeVenv(ctx); err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	return lab, nil
}

// labVenv is the name of our Python environment in .lectern/jupyter, and labPins that of the file of what it holds.
const (
	labVenv = "venv"
	labPins = "jupyterlab.txt"
)

// hasVenv reports whether our environment has been made from the pins, and still exists.
func (w jupyterLab) hasVenv() bool {
	have, err := os.ReadFile(w.state("stamps", labVenv))
	return err == nil && string(have) == digest(string(jupyterlabPins)) && fileExists(w.state("jupyter", labVenv, venvBin))
}

// A venvMaker is a way to make a Python environment: the commands that create it in a folder and that install pinned
// packages into it.
//
// An installed package has to be a wheel with one of the hashes in the file of pins. A source archive would run its own
// build with whatever that downloads, which no hash covers.
type venvMaker struct {
	create  func(dir string) []string
	install func(dir, pins string) []string
}

func byPip(python []string) venvMaker {
	return venvMaker{
		func(dir string) []string { return append(slices.Clone(python), "-m", "venv", dir) },
		func(dir, pins string) []string {
			return []string{filepath.Join(dir, venvBin, "python"+exeSuffix), "-m", "pip", "install", "--quiet", "--require-hashes", "--only-binary", ":all:", "-r", pins}
		},
	}
}

func byUv(uv string) venvMaker {
	return venvMaker{
		func(dir string) []string { return []string{uv, "venv", "--quiet", "--python", ">=3.10", dir} },
		func(dir, pins string) []string {
			return []string{uv, "pip", "install", "--quiet", "--python", dir, "--require-hashes", "--only-binary", ":all:", "-r", pins}
		},
	}
}

// labVersionOK reports whether an installed jupyter-lab works and is version 4 or later, which our settings are for.
func labVersionOK(ctx context.Context, lab string) bool {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, lab, "--version").Output()
	major, _, _ := strings.Cut(strings.TrimSpace(string(out)), ".")
	return err == nil && len(major) > 0 && (len(major) > 1 || major >= "4")
}

// findPython finds a Python that JupyterLab runs on.
func findPython(ctx context.Context) ([]string, error) {
	candidates := [][]string{{"python3"}, {"python"}}
	if runtime.GOOS == "windows" {
		candidates = [][]string{{"py", "-3"}, {"python"}}
	}
	found := ""
	for _, c := range candidates {
		path, err := exec.LookPath(c[0])
		if err != nil {
			continue
		}
		argv := append([]string{path}, c[1:]...)
		try, cancel := context.WithTimeout(ctx, 20*time.Second)
		out, err := exec.CommandContext(try, argv[0], append(argv[1:], "-c", "import sys; print('%d.%d' % sys.version_info[:2], sys.version_info >= (3, 10))")...).Output()
		cancel()
		version, enough, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
		if err != nil || !ok {
			continue // on Windows "python" may be a program that only opens a store
		}
		if enough == "True" {
			return argv, nil
		}
		found = version
	}
	if found != "" {
		return nil, &noPython{"the one that is here, " + found + ", is older than 3.10"}
	}
	return nil, &noPython{"there is none in PATH"}
}

// findMaker prefers uv, which doesn't need the system's Python.
func findMaker(ctx context.Context) (venvMaker, error) {
	if uv, err := exec.LookPath("uv"); err == nil {
		return byUv(uv), nil
	}
	python, err := findPython(ctx)
	if err != nil {
		return venvMaker{}, err
	}
	return byPip(python), nil
}

// lock waits until no other process has locked a file, and locks it until it is closed.
func (w *workspace) lock(ctx context.Context, path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil || tryLock(f) {
		return f, err
	}
	p := w.step("Wait for another command that does the same")
	defer p.end()
	for {
		select {
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
		if tryLock(f) {
			return f, nil
		}
	}
}

// makeVenv creates our environment and installs JupyterLab into it. The system's Python is only read.
func (w jupyterLab) makeVenv(ctx context.Context) error {
	maker, err := findMaker(ctx)
	if err != nil {
		return err
	}
	dir, pins := w.state("jupyter", labVenv), w.state("jupyter", labPins)
	alone, err := w.lock(ctx, dir+".lock")
	if err != nil {
		return err
	}
	defer alone.Close()
	if w.hasVenv() { // another command has just made it
		return nil
	}
	for _, old := range []string{w.state("stamps", labVenv), dir} {
		if err := os.RemoveAll(old); err != nil {
			return err
		}
	}
	if err := writeFile(pins, jupyterlabPins, 0o644); err != nil {
		return err
	}
	run := func(what string, argv ...string) (string, error) {
		p := w.step("%s", what)
		defer p.end()
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_REQUIRE_VIRTUALENV=0", "PIP_USER=0", "PYTHONNOUSERSITE=1")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 5 * time.Second
		err := cmd.Run()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return strings.TrimSpace(out.String()), err
	}
	if out, err := run("Create a Python environment in .lectern/", maker.create(dir)...); err != nil {
		if ctx.Err() != nil {
			return err
		}
		if strings.Contains(out, "ensurepip") {
			return &noPython{"the one installed here can't create virtual environments (on Debian and Ubuntu: sudo apt install python3-venv)"}
		}
		return fmt.Errorf("create a Python environment: %w\n%s", err, out)
	}
	if out, err := run("Install JupyterLab "+jupyterlabVersion+" in .lectern/", maker.install(dir, pins)...); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("install JupyterLab (the first time needs the network): %w\n%s", err, out)
	}
	return writeFile(w.state("stamps", labVenv), []byte(digest(string(jupyterlabPins))), 0o644)
}
