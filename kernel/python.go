package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// jupyterlabVersion is the JupyterLab that lab installs; jupyterlab.txt pins it and what it needs.
const jupyterlabVersion = "4.6.6"

//go:embed jupyterlab.txt
var jupyterlabPins []byte

// labProgram is a way to start JupyterLab.
type labProgram struct {
	argv []string
	env  []string
	from string // where it comes from, for messages
}

// noPython says why there is no Python to run JupyterLab with.
type noPython struct{ why string }

func (e *noPython) Error() string { return e.why }

// findLab finds or installs JupyterLab: by uv, in PATH, or in an environment of our own.
func (w *workspace) findLab(ctx context.Context) (*labProgram, error) {
	pins := w.state("jupyter", "jupyterlab.txt")
	if err := writeFile(pins, jupyterlabPins, 0o644); err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	venvLab := filepath.Join(w.state("jupyter", "venv"), venvBin, "jupyter-lab"+exeSuffix)
	ours := w.state("stamps", "venv")
	stamp := digest(string(jupyterlabPins))
	if have, err := os.ReadFile(ours); err == nil && string(have) == stamp && fileExists(venvLab) {
		return &labProgram{argv: []string{venvLab}, from: ".lectern/jupyter/venv"}, nil
	}
	if uv, err := exec.LookPath("uv"); err == nil {
		return &labProgram{
			argv: []string{uv, "tool", "run", "--from", "jupyterlab==" + jupyterlabVersion, "jupyter-lab"},
			env:  []string{"UV_CONSTRAINT=" + pins},
			from: "uv; the first time it downloads JupyterLab",
		}, nil
	}
	if lab, err := exec.LookPath("jupyter-lab"); err == nil && labVersionOK(ctx, lab) {
		return &labProgram{argv: []string{lab}, from: lab}, nil
	}
	python, err := findPython(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.makeVenv(ctx, python, pins); err != nil {
		return nil, err
	}
	if err := writeFile(ours, []byte(stamp), 0o644); err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	return &labProgram{argv: []string{venvLab}, from: ".lectern/jupyter/venv"}, nil
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
			continue // on Windows "python" may be a program that only opens a shop
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

// makeVenv creates .lectern/jupyter/venv and installs JupyterLab there. The system's Python is only read.
func (w *workspace) makeVenv(ctx context.Context, python []string, pins string) error {
	dir := w.state("jupyter", "venv")
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("lab: %w", err)
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
	if out, err := run("Create a Python environment in .lectern/", append(python, "-m", "venv", dir)...); err != nil {
		if ctx.Err() != nil {
			return err
		}
		if strings.Contains(out, "ensurepip") {
			return &noPython{"the one that is here cannot make environments (on Debian and Ubuntu: sudo apt install python3-venv)"}
		}
		return fmt.Errorf("lab: create a Python environment: %w\n%s", err, out)
	}
	pip := filepath.Join(dir, venvBin, "python"+exeSuffix)
	if out, err := run("Install JupyterLab "+jupyterlabVersion+" in .lectern/", pip, "-m", "pip", "install", "--quiet", "-c", pins, "jupyterlab=="+jupyterlabVersion); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("lab: install JupyterLab (the first time needs the network): %w\n%s", err, out)
	}
	return nil
}
