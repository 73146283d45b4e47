//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/mine"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// Where a notebook lies decides what its cells import.
//
//   - In this repository, they import the library, and what %get has put beside it.
//   - In another module they import that module's packages and what its go.mod requires, at its versions, as its own
//     code would; so do they in a workspace that uses the module.
//   - Anywhere else the notebook has a module of its own, beside the library: %get writes it, and the notebook's
//     outputs record it, so that another machine can fetch the same.

// A home is the module that a notebook lies in.
type home struct {
	dir     string   // of the module
	path    string   // the module's
	others  []string // folders of the other modules of its workspace
	replace []string // lines of the workspace's go.work
	library bool     // it requires this repository's module
}

// findHome finds the module that a folder is in; nil if there is none, or if it is the one at root.
func findHome(dir, root string) (*home, error) {
	var mod string
	for d := dir; mod == ""; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			mod = d
		} else if d == filepath.Dir(d) {
			return nil, nil
		}
	}
	path := modulePath(mod)
	if real, err := filepath.EvalSymlinks(mod); err == nil && real == root || path == modulePath(root) || path == "." {
		return nil, nil
	}
	h := &home{dir: mod, path: path}
	if err := h.readWorkspace(); err != nil {
		return nil, err
	}
	for _, d := range append([]string{h.dir}, h.others...) {
		b, _ := os.ReadFile(filepath.Join(d, "go.mod"))
		h.library = h.library || bytes.Contains(b, []byte(modulePath(root)+" v"))
	}
	return h, nil
}

// readWorkspace reads the go.work file above the module, if it uses the module.
func (h *home) readWorkspace() error {
	for d := h.dir; ; d = filepath.Dir(d) {
		file := filepath.Join(d, "go.work")
		if _, err := os.Stat(file); err != nil {
			if d == filepath.Dir(d) {
				return nil
			}
			continue
		}
		cmd := exec.Command("go", "work", "edit", "-json", file)
		cmd.Dir, cmd.Env = d, cellenv.Offline(os.Environ())
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s can't be read: %s", file, firstLine(stderr.String()))
		}
		var work struct {
			Use     []struct{ DiskPath string }
			Replace []struct {
				Old, New struct{ Path, Version string }
			}
		}
		if err := json.Unmarshal(out, &work); err != nil {
			return fmt.Errorf("%s can't be read: %v", file, err)
		}
		absolute := func(path string) string {
			if !filepath.IsAbs(path) {
				path = filepath.Join(d, path)
			}
			return filepath.Clean(path)
		}
		var others []string
		for _, u := range work.Use {
			if dir := absolute(u.DiskPath); dir != h.dir {
				others = append(others, dir)
			}
		}
		if len(others) == len(work.Use) {
			return nil // it does not use the module: the go command would not, either
		}
		h.others = others
		for _, r := range work.Replace {
			to := r.New.Path + " " + r.New.Version
			if r.New.Version == "" {
				to = fmt.Sprintf("%q", absolute(r.New.Path))
			}
			h.replace = append(h.replace, fmt.Sprintf("replace %s %s => %s\n", r.Old.Path, r.Old.Version, to))
		}
		return nil
	}
}

// runtimePackages are the folders of what every cell is linked with, or may be to show a value: where a notebook's
// module does not require the library, they and what they import are all of it that joins, so that the library's
// requirements raise no version of the module's.
var runtimePackages = []string{"kernel/persist", "kernel/show", "kernel/show/measure", "kernel/show/pictures", "kernel/show/widget"}

// makeRuntime copies them into a module of the library's path that requires nothing.
func makeRuntime(root, dir string) error {
	if err := copyPackages(root, dir, runtimePackages, modulePath(root)); err != nil {
		return err
	}
	return writeChanged(filepath.Join(dir, "go.mod"), []byte("module "+modulePath(root)+"\n\ngo "+goLine(root)+"\n"))
}

// writeChanged writes a file unless it has the text already: a file that stays is as it was compiled.
func writeChanged(file string, text []byte) error {
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicfile.Replace(file, text, 0o644)
}

// copyPackages copies packages of ours, and those of ours that they import, into a folder in which they are found by
// paths that begin with prefix in place of our module's.
func copyPackages(root, dir string, folders []string, prefix string) error {
	library := modulePath(root)
	list := slices.Clone(folders)
	for i := 0; i < len(list); i++ {
		files, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(list[i])))
		if err != nil {
			return err
		}
		for _, f := range files {
			if kind := filepath.Ext(f.Name()); kind != ".go" && kind != ".s" && kind != ".h" || strings.HasSuffix(f.Name(), "_test.go") {
				continue
			}
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(list[i]), f.Name()))
			if err == nil {
				if prefix != library && filepath.Ext(f.Name()) == ".go" {
					b = inGo(goLine(root), b)
				}
				err = writeChanged(filepath.Join(dir, filepath.FromSlash(list[i]), f.Name()), bytes.ReplaceAll(b, []byte(`"`+library+`/`), []byte(`"`+prefix+`/`)))
			}
			if err != nil {
				return err
			}
			if filepath.Ext(f.Name()) != ".go" {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), b, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, imported := range parsed.Imports {
				path, ours := strings.CutPrefix(strings.Trim(imported.Path.Value, `"`), library+"/")
				if ours && !slices.Contains(list, path) {
					list = append(list, path)
				}
			}
		}
	}
	return nil
}

// inGo has a file compiled as a given version of Go, whatever the go.mod around it says.
func inGo(version string, file []byte) []byte {
	release := regexp.MustCompile(`^1\.\d+`).FindString(version)
	if g := regexp.MustCompile(`(?m)^//go:build (.*)$`).FindSubmatchIndex(file); g != nil {
		also := string(file[g[2]:g[3]])
		if strings.Contains(also, "||") {
			also = "(" + also + ")"
		}
		return slices.Concat(file[:g[0]], []byte("//go:build go"+release+" && "+also), file[g[1]:])
	}
	return append([]byte("//go:build go"+release+"\n\n"), file...)
}

// locate decides which modules cells import from, for a kernel in a folder.
func (c *config) locate(dir string, f *folders) error {
	if os.Getenv("LECTERN_GET") != "" {
		return nil
	}
	var err error
	if c.home, err = findHome(dir, c.root); err != nil {
		return err
	}
	if h := c.home; h == nil {
		if d := mine.Beside(dir); d != "" && version.Compare("go"+goLine(d), "go"+cellGo(*c)) <= 0 { // or no cell would build
			c.mine = d
		}
	} else {
		c.get = h.dir
		if h.library {
			return nil
		}
		return makeRuntime(c.root, c.runtime())
	}
	if rel, err := filepath.Rel(c.root, dir); err == nil && !strings.HasPrefix(rel, "..") {
		return nil
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if rel, err := filepath.Rel(c.root, dir); err == nil && !strings.HasPrefix(rel, "..") {
		return nil
	}
	c.own, c.get = true, filepath.Join(f.check(), "own") // where it lies the same for every kernel, as seen from the cells' module
	if c.notebook = thisNotebook(dir); c.notebook == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(c.notebook))
	c.store = filepath.Join(c.root, ".lectern", "modules", hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(c.get, 0o700); err != nil {
		return err
	}
	for _, name := range moduleFiles {
		if b, err := os.ReadFile(filepath.Join(c.store, name)); err == nil {
			if err := atomicfile.Replace(filepath.Join(c.get, name), b, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// moduleFiles are the files of a notebook's own module: it has no source.
var moduleFiles = []string{"go.mod", "go.sum"}

// keepModule stores the notebook's own module for the next kernel, which may come before the notebook is saved.
func (c config) keepModule() error {
	if c.store == "" {
		return nil
	}
	if err := os.MkdirAll(c.store, 0o755); err != nil {
		return err
	}
	for _, name := range moduleFiles {
		b, err := os.ReadFile(filepath.Join(c.get, name))
		if err == nil {
			err = atomicfile.Replace(filepath.Join(c.store, name), b, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// thisNotebook is the file of the notebook that a kernel was started for; "" if Jupyter doesn't say.
func thisNotebook(dir string) string {
	name := os.Getenv("JPY_SESSION_NAME")
	if name == "" {
		return ""
	}
	for _, path := range []string{name, filepath.Join(dir, filepath.Base(name))} {
		if st, err := os.Stat(path); filepath.IsAbs(path) && err == nil && st.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// runtime is where the module of runtimePackages is kept.
func (c config) runtime() string { return filepath.Join(c.root, ".lectern", "runtime") }

// A record is what a notebook says about its own module.
type record struct {
	Go      string   `json:"go"`
	Modules []string `json:"modules"` // "path version", followed by "// indirect" as in go.mod
	Sums    []string `json:"sums"`    // lines of go.sum
}

var (
	recordedModule  = regexp.MustCompile(`^[A-Za-z0-9][\w.~/-]* v[\w.+-]+( // indirect)?$`)
	recordedSum     = regexp.MustCompile(`^[A-Za-z0-9][\w.~/-]* v[\w.+-]+(/go\.mod)? h1:[\w+/=]+$`)
	recordedVersion = regexp.MustCompile(`^1\.\d+(\.\d+)?$`)
)

// readModule makes a record of the module in a folder.
func readModule(dir string) record {
	r := record{Go: goLine(dir), Modules: []string{}, Sums: []string{}}
	b, _ := os.ReadFile(filepath.Join(dir, "go.mod"))
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if recordedModule.MatchString(line) {
			r.Modules = append(r.Modules, line)
		}
	}
	b, _ = os.ReadFile(filepath.Join(dir, "go.sum"))
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); recordedSum.MatchString(line) {
			r.Sums = append(r.Sums, line)
		}
	}
	return r
}

// recorded reads what a notebook records of its module: run puts it into the notebook's metadata, and Jupyter keeps it
// with the output of the cell that fetched something last. Only what has the form of a requirement or a sum is taken.
func recorded(file string) (r record, ok bool) {
	n, err := notebook.Read(file)
	if err != nil {
		return record{}, false
	}
	ok = n.Module(&r)
	keep := func(list []string, form *regexp.Regexp) []string {
		return slices.DeleteFunc(list, func(s string) bool { return !form.MatchString(s) })
	}
	r.Modules, r.Sums = keep(r.Modules, recordedModule), keep(r.Sums, recordedSum)
	if !recordedVersion.MatchString(r.Go) {
		r.Go = "1.26.0"
	}
	return r, ok && len(r.Modules) > 0
}

// takeRecorded makes the notebook's module what the notebook records, if that is not what it has taken before, and
// fetches missing modules. Opening a notebook fetches nothing: this comes with its first cell.
func (e *execution) takeRecorded() {
	if e.k.recordTaken {
		return
	}
	e.k.recordTaken = true
	if e.k.c.takeRecorded(e.ctx, e.k.f, func(text string) { e.Stream("stderr", text) }) {
		e.k.packages.Refetch()
	}
}

// takeRecorded reports whether the module has changed. What there is to tell goes to say.
func (c config) takeRecorded(ctx context.Context, f *folders, say func(text string)) bool {
	if c.store == "" {
		return false
	}
	r, ok := recorded(c.notebook)
	text, err := json.Marshal(r)
	taken := filepath.Join(c.store, "recorded")
	if old, rerr := os.ReadFile(taken); !ok || err != nil || rerr == nil && bytes.Equal(old, text) {
		return false
	}
	mod, sum := filepath.Join(getModule(c), "go.mod"), filepath.Join(getModule(c), "go.sum")
	undo := remember(mod, sum)
	err = os.WriteFile(mod, []byte("module lectern.local/get\n\ngo "+r.Go+"\n\nrequire (\n\t"+strings.Join(r.Modules, "\n\t")+"\n)\n"), 0o644)
	if err == nil {
		err = os.WriteFile(sum, []byte(strings.Join(r.Sums, "\n")+"\n"), 0o644)
	}
	env := cellenv.Offline(os.Environ())
	if !offline() {
		env = networkEnv(os.Environ())
	}
	progress := func(line string) {
		if strings.HasPrefix(line, "go: downloading ") {
			say(line + "\n")
		}
	}
	var said []string
	if err == nil {
		said, err = goCommand(ctx, getModule(c), append(slices.Clone(env), "GOWORK=off", "GOFLAGS=-mod=mod"), progress, "mod", "download")
	}
	if err == nil {
		if err = joinModules(c, f.check()); err == nil {
			said, err = goCommand(ctx, f.check(), env, progress, "list", "fmt")
		}
	}
	if err != nil {
		undo()
		if jerr := joinModules(c, f.check()); jerr != nil {
			say("note: " + jerr.Error() + "\n")
		}
		say(fmt.Sprintf("note: the modules that this notebook records can't be fetched: %s\n", reason(ctx, said)))
		return false
	}
	if err := c.keepModule(); err == nil {
		os.WriteFile(taken, text, 0o644) // or it is done again
	}
	return true
}
