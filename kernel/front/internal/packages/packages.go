// Package packages finds the packages that cells import: their types, for checking a cell before it is compiled, and their paths, for
// imports that the user left out.
//
// Types come from the export data that the go command keeps in its build cache, so a package is compiled once and never parsed here.
package packages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Config says where to look.
type Config struct {
	Context context.Context // at whose end commands that still run are ended; nil for none
	Dir     string          // a folder of the workspace in which cells are compiled
	Root    string          // the folder with the go.mod of the local packages; "" for none
	Env     []string        // the environment for the go command
	Cache   string          // a file that remembers where export data lies; "" for none
	Warm    []string        // packages and patterns to look up before anyone asks
	State   string          // a package whose importers have state that lives on from cell to cell
}

// pkg is what go list says about one package.
type pkg struct {
	Path     string
	Name     string
	Dir      string
	Export   string
	Standard bool
	Local    bool // its source can change while we run
	Imports  []string
	Files    []string
}

// Packages is safe for concurrent use.
type Packages struct {
	c Config

	mu     sync.Mutex
	pkgs   map[string]*pkg
	byName map[string]string
	failed map[string]error
	gc     types.Importer
	stamps map[string]time.Time // of local folders
	ready  chan struct{}        // closed when the names of packages are known
	warm   bool                 // the warm packages are known, so what is known is worth remembering

	background sync.WaitGroup
	saving     sync.Mutex // so that what is written last is what was known last
}

// preferred paths for names that several packages have.
var preferred = map[string]string{
	"rand": "math/rand/v2", "template": "text/template", "scanner": "text/scanner", "pprof": "runtime/pprof", "bits": "math/bits",
}

// New starts looking up the warm packages in the background, unless all of them are remembered from an earlier kernel and have not changed.
func New(c Config) *Packages {
	p := &Packages{c: c, pkgs: map[string]*pkg{}, byName: map[string]string{}, failed: map[string]error{}, stamps: map[string]time.Time{}, ready: make(chan struct{})}
	p.reset()
	cached, whole := p.readCache()
	if cached {
		close(p.ready)
	}
	if p.warm = whole; whole { // leave the processors to the first cell
		return p
	}
	p.background.Go(func() {
		std, err := p.run("std")
		p.mu.Lock()
		if err == nil {
			p.addNames(std)
		}
		p.mu.Unlock()
		if !cached {
			close(p.ready)
		}
		p.list(p.c.Warm...)
		p.mu.Lock()
		p.warm = true
		p.mu.Unlock()
		p.writeCache()
	})
	return p
}

// Wait returns when nothing is looked up or remembered in the background any more.
func (p *Packages) Wait() { p.background.Wait() }

// reset starts a new importer, which knows no package yet.
func (p *Packages) reset() {
	p.gc = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		k := p.pkgs[path]
		if k == nil || k.Export == "" {
			return nil, &MissingError{Path: path}
		}
		return os.Open(k.Export)
	})
}

// A MissingError says that a package can't be imported.
type MissingError struct {
	Path   string
	Reason string // of the go command; "" if the package is simply not there
}

func (e *MissingError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("package %s can't be imported: %s", e.Path, e.Reason)
	}
	return fmt.Sprintf("there is no package %s", e.Path)
}

// Import returns the types of a package; it implements types.Importer.
func (p *Packages) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.failed[path]; err != nil {
		return nil, err
	}
	k := p.pkgs[path]
	if k != nil && k.Export != "" {
		if _, err := os.Stat(k.Export); err != nil {
			k = nil // trimmed from the build cache
		}
	}
	if k == nil || k.Export == "" {
		p.mu.Unlock()
		err := p.list(path)
		p.background.Go(p.writeCache)
		p.mu.Lock()
		if k = p.pkgs[path]; k == nil || k.Export == "" {
			if err == nil {
				err = &MissingError{Path: path}
			}
			p.failed[path] = err
			return nil, err
		}
	}
	t, err := p.gc.Import(path)
	if err != nil {
		// A dependency whose export data is gone: look the whole tree up again.
		p.mu.Unlock()
		lerr := p.list(path)
		p.mu.Lock()
		p.reset()
		if lerr == nil {
			t, err = p.gc.Import(path)
		}
	}
	return t, err
}

// ByName returns the path of the package that a name most likely means, or "".
func (p *Packages) ByName(name string) string {
	<-p.ready
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byName[name]
}

// Names returns all package names that ByName knows.
func (p *Packages) Names() []string {
	<-p.ready
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for n := range p.byName {
		names = append(names, n)
	}
	return names
}

// Stateful reports whether the package or something that it imports has state to be kept from cell to cell.
func (p *Packages) Stateful(path string) bool { return p.Reaches(path, p.c.State) }

// Reaches reports whether a package imports another one, itself or through others. The standard library is not searched.
func (p *Packages) Reaches(path, other string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[string]bool{}
	var visit func(string) bool
	visit = func(path string) bool {
		k := p.pkgs[path]
		if k == nil || k.Standard || seen[path] {
			return false
		}
		seen[path] = true
		for _, i := range k.Imports {
			if i == other || visit(i) {
				return true
			}
		}
		return false
	}
	return visit(path)
}

// Refresh notices local packages whose source has changed since they were looked up.
func (p *Packages) Refresh() {
	p.mu.Lock()
	var stale []string
	clear(p.failed)
	for path, k := range p.pkgs {
		if !k.Local || k.Export == "" {
			continue
		}
		if t := newest(k); t.After(p.stamps[path]) {
			stale = append(stale, path)
			p.stamps[path] = t
		}
	}
	p.mu.Unlock()
	if len(stale) == 0 {
		return
	}
	if p.list(stale...) != nil { // it does not compile: importing it will say why
		p.mu.Lock()
		for _, path := range stale {
			p.pkgs[path].Export = ""
		}
		p.mu.Unlock()
	}
	p.mu.Lock()
	p.reset()
	p.mu.Unlock()
}

// Refetch forgets what was not found: there are new modules.
func (p *Packages) Refetch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.failed)
	p.reset()
}

// newest is the time of the last change of a package's source.
func newest(k *pkg) time.Time {
	var t time.Time
	if i, err := os.Stat(k.Dir); err == nil {
		t = i.ModTime()
	}
	for _, f := range k.Files {
		if i, err := os.Stat(filepath.Join(k.Dir, f)); err == nil && i.ModTime().After(t) {
			t = i.ModTime()
		}
	}
	return t
}

// run asks go list about patterns, without compiling anything.
func (p *Packages) run(patterns ...string) ([]*pkg, error) { return p.goList(false, patterns...) }

// list looks patterns up and compiles them if need be.
func (p *Packages) list(patterns ...string) error {
	if len(patterns) == 0 {
		return nil
	}
	started := time.Now()
	found, err := p.goList(true, patterns...)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range found {
		if old := p.pkgs[k.Path]; old != nil && old.Export != k.Export && old.Export != "" {
			p.reset()
		}
		p.pkgs[k.Path] = k
		if k.Local {
			p.stamps[k.Path] = started
		}
	}
	p.addNames(found)
	return err
}

func (p *Packages) goList(export bool, patterns ...string) ([]*pkg, error) {
	args := []string{"list", "-e", "-json=ImportPath,Name,Dir,Export,Standard,Module,Imports,GoFiles,CgoFiles,Error,DepsErrors,Incomplete"}
	if export {
		args = append(args, "-export", "-deps")
	}
	ctx := p.c.Context
	if ctx == nil {
		ctx = context.Background()
	}
	cmd := exec.CommandContext(ctx, "go", append(args, patterns...)...)
	cmd.Dir, cmd.Env = p.c.Dir, p.c.Env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var found []*pkg
	var problem error
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var j struct {
			ImportPath, Name, Dir, Export string
			Standard                      bool
			Module                        *struct{ Main bool }
			Imports, GoFiles, CgoFiles    []string
			Error                         *struct{ Err string }
		}
		if d.Decode(&j) != nil {
			break
		}
		if j.Error != nil && problem == nil {
			problem = missing(j.ImportPath, j.Error.Err)
		}
		if j.Name == "" || j.Error != nil {
			continue
		}
		found = append(found, &pkg{Path: j.ImportPath, Name: j.Name, Dir: j.Dir, Export: j.Export, Standard: j.Standard,
			Local: j.Module != nil && j.Module.Main, Imports: j.Imports, Files: append(j.GoFiles, j.CgoFiles...)})
	}
	if problem == nil && err != nil {
		problem = missing(strings.Join(patterns, " "), stderr.String())
	}
	return found, problem
}

// missing turns the go command's words into an error; those that only say that nothing is there are dropped.
func missing(path, reason string) error {
	reason = strings.TrimSpace(reason)
	for _, s := range []string{"no required module provides", "cannot find module providing", "cannot find package", "is not in std", "malformed import path", "cannot find main module"} {
		if strings.Contains(reason, s) {
			reason = ""
		}
	}
	return &MissingError{Path: path, Reason: reason}
}

// addNames notes which name means which package. Shorter paths win, and packages that nobody outside may import are left out.
func (p *Packages) addNames(found []*pkg) {
	for _, k := range found {
		if k.Name == "main" || strings.HasPrefix(k.Path, "vendor/") || strings.HasPrefix(k.Path, "cmd/") || internal(k.Path) {
			continue
		}
		path := k.Path
		if want := preferred[k.Name]; want != "" && k.Standard {
			path = want
		}
		old, ok := p.byName[k.Name]
		if !ok || old != path && (strings.Contains(old, ".") == strings.Contains(path, ".") && len(path) < len(old) || !strings.Contains(path, ".") && strings.Contains(old, ".")) {
			p.byName[k.Name] = path
		}
	}
}

func internal(path string) bool {
	for _, e := range strings.Split(path, "/") {
		if e == "internal" {
			return true
		}
	}
	return false
}

// cacheFile is what is remembered between kernels: where the export data of packages lies.
type cacheFile struct {
	Go     string
	Pkgs   map[string]*pkg
	ByName map[string]string
	Stamps map[string]time.Time // of local packages
}

// stamp names all that the cached answers depend on.
func (p *Packages) stamp() string {
	s := runtime.Version() + " " + runtime.GOARCH
	for _, e := range p.c.Env {
		if strings.HasPrefix(e, "GOFLAGS=") || strings.HasPrefix(e, "GOTOOLCHAIN=") || strings.HasPrefix(e, "CGO_ENABLED=") {
			s += " " + e
		}
	}
	for _, pattern := range p.c.Warm {
		s += " " + pattern
	}
	for _, name := range []string{"go.mod", "go.sum", "go.work"} { // which modules there are
		if i, err := os.Stat(filepath.Join(p.c.Root, name)); err == nil {
			s += " " + i.ModTime().String()
		}
	}
	return s
}

// readCache reports whether the names of packages are known, and whether everything else is, too.
func (p *Packages) readCache() (names, whole bool) {
	if p.c.Cache == "" {
		return false, false
	}
	b, err := os.ReadFile(p.c.Cache)
	if err != nil {
		return false, false
	}
	var c cacheFile
	if json.Unmarshal(b, &c) != nil || c.Go != p.stamp() || len(c.ByName) == 0 || c.Pkgs == nil {
		return false, false
	}
	p.pkgs, p.byName, p.stamps = c.Pkgs, c.ByName, c.Stamps
	whole = true
	for path, k := range p.pkgs {
		if k.Local && newest(k).After(p.stamps[path]) {
			whole = false
		}
	}
	if !whole { // what imports a package that has changed has other export data, too
		for path, k := range p.pkgs {
			if k.Local {
				delete(p.pkgs, path)
			}
		}
		clear(p.stamps)
	}
	if p.stamps == nil {
		p.stamps = map[string]time.Time{}
	}
	return true, whole
}

func (p *Packages) writeCache() {
	if p.c.Cache == "" {
		return
	}
	p.saving.Lock()
	defer p.saving.Unlock()
	p.mu.Lock()
	if !p.warm {
		p.mu.Unlock()
		return
	}
	b, err := json.Marshal(cacheFile{Go: p.stamp(), Pkgs: p.pkgs, ByName: p.byName, Stamps: p.stamps})
	p.mu.Unlock()
	if err != nil {
		return
	}
	// Several kernels may end up here at once; each writes a file of its own and the last rename wins.
	f, err := os.CreateTemp(filepath.Dir(p.c.Cache), ".packages-*")
	if err != nil {
		return
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(b); err == nil {
		err = f.Chmod(0o644) // of use to everybody who shares the checkout
	}
	if f.Close() == nil && err == nil {
		os.Rename(f.Name(), p.c.Cache)
	}
}
