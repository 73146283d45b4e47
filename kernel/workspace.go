package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/atomicfile"
)

const modulePath = "github.com/lectern-go/lectern"

// workspace is the checkout that a command works on.
type workspace struct {
	root           string
	stdout, stderr io.Writer
}

// findWorkspace looks for the repository's go.mod from the current folder upwards.
func findWorkspace(stdout, stderr io.Writer) (*workspace, error) {
	start, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && isModule(b, modulePath) {
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dir = real
			}
			return &workspace{root: dir, stdout: stdout, stderr: stderr}, nil
		}
		if dir == filepath.Dir(dir) {
			return nil, fmt.Errorf("%s is not inside the Lectern repository: no go.mod of module %s here or above; change into the repository first", start, modulePath)
		}
	}
}

func isModule(gomod []byte, path string) bool {
	for line := range bytes.Lines(gomod) {
		if f := strings.Fields(string(line)); len(f) >= 2 && f[0] == "module" {
			return f[1] == path
		}
	}
	return false
}

// state is a path inside .lectern, where all that the commands build is kept.
func (w *workspace) state(elem ...string) string {
	return filepath.Join(append([]string{w.root, ".lectern"}, elem...)...)
}

// tool is a program that setup builds.
func (w *workspace) tool(name string) string { return w.state("bin", name+exeSuffix) }

func (w *workspace) specDir() string { return w.state("share", "jupyter", "kernels", kernelName) }

// rel shortens a path inside the repository for messages.
func (w *workspace) rel(path string) string {
	if r, err := filepath.Rel(w.root, path); err == nil && !strings.HasPrefix(r, "..") {
		return filepath.ToSlash(r)
	}
	return path
}

// notebooks resolves the arguments of a command: files, or folders that stand for the notebooks in them; none stands
// for all lessons.
func (w *workspace) notebooks(args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{filepath.Join(w.root, "notebooks")}
	}
	var list []string
	for _, a := range args {
		st, err := os.Stat(a)
		if errors.Is(err, fs.ErrNotExist) {
			// go run ./kernel works from any folder of the repository; so do names as the table of contents has them.
			if alt := filepath.Join(w.root, a); fileExists(alt) {
				a = alt
				st, err = os.Stat(a)
			} else if alt := filepath.Join(w.root, "notebooks", a); fileExists(alt) {
				a = alt
				st, err = os.Stat(a)
			}
		}
		if err != nil {
			return nil, usagef("there is no notebook %s", a)
		}
		if !st.IsDir() {
			list = append(list, a)
			continue
		}
		found, err := filepath.Glob(filepath.Join(a, "*.ipynb"))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, usagef("there are no notebooks in %s", w.rel(a))
		}
		slices.Sort(found)
		list = append(list, found...)
	}
	for i, p := range list {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		list[i] = abs
	}
	return list, nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// writeFile writes a file as a whole or not at all, and leaves one alone that has the content already.
func writeFile(path string, b []byte, mode os.FileMode) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Replace(path, b, mode)
}
