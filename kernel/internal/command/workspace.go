package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/internal/glob"
)

const modulePath = "github.com/lectern-go/lectern"

// workspace is the source that a command builds from, a checkout or a copy that the command has made for itself, and
// where its user works.
type workspace struct {
	root           string
	outside        string // the current folder, if that is not in the source; then notebooks are looked for here
	stdout, stderr io.Writer
	lang           string // of what lessons say in lab; "" is English
	gently         bool   // what it builds gets only the time that others leave
}

// findWorkspace finds the source: a checkout from the current folder upwards; the one that the command was built from,
// or lies in; or a copy of the version that was installed, made now if there is none. With look, it makes none.
func findWorkspace(ctx context.Context, stdout, stderr io.Writer, look bool) (*workspace, error) {
	start, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	w := &workspace{stdout: stdout, stderr: stderr}
	for dir := start; ; dir = filepath.Dir(dir) {
		if isCheckout(dir) {
			w.root, err = filepath.EvalSymlinks(dir)
			return w, err
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	w.outside = start
	if exe, err := os.Executable(); err == nil { // a release holds the command beside the source
		if exe, err = filepath.EvalSymlinks(exe); err == nil && isCheckout(filepath.Dir(exe)) {
			w.root = filepath.Dir(exe)
			return w, nil
		}
	}
	if w.root, err = installedSource(ctx, w, look); err != nil {
		return nil, err
	}
	return w, nil
}

// isCheckout reports whether a folder is the root of this module.
func isCheckout(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && isModule(b, modulePath)
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

// rel shortens a path inside the repository, or outside it the current folder, for messages.
func (w *workspace) rel(path string) string {
	from := w.root
	if w.outside != "" {
		from = w.outside
	}
	if r, err := filepath.Rel(from, path); err == nil && !strings.HasPrefix(r, "..") {
		return filepath.ToSlash(r)
	}
	return path
}

// notebooks resolves the arguments of a command: files, or folders that stand for the notebooks in them; none stands
// for all lessons, or outside the source for the notebooks of the current folder.
func (w *workspace) notebooks(args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{filepath.Join(w.root, "notebooks")}
		if w.outside != "" {
			args = []string{w.outside}
		}
	}
	var list []string
	for _, a := range args {
		st, err := os.Stat(a)
		if errors.Is(err, fs.ErrNotExist) && w.outside == "" {
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
		found, err := glob.In(a, "*.ipynb")
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

// writeFile writes a file as a whole or not at all, and leaves a file alone that has the content already.
func writeFile(path string, b []byte, mode os.FileMode) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Replace(path, b, mode)
}
