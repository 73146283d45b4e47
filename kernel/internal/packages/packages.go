// Package packages finds the packages that cells import: their types, for checking a cell before it is compiled; their
// paths, for imports that the user left out; and the files that the compiler and the linker need, so that a cell is
// built without asking the go command.
//
// Types come from the export data that the go command keeps in its build cache, so a package is compiled once and
// never parsed here. What the go command said is remembered, between cells and between kernels, together with what it
// depends on: the Go installation, the modules' files, the sources of local packages, the files in the cache. Refresh
// looks at those before every cell.
package packages

import (
	"context"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/lectern-go/lectern/kernel/internal/names"
)

// Config says where to look.
type Config struct {
	Context context.Context // when it ends, so do commands that still run; nil for none
	Dir     string          // the module in which cells are compiled: package main, in the workspace of what cells can import
	Root    string          // the folder with the go.mod of the local packages; "" for none
	Env     []string        // the environment for the go command
	Cache   string          // a file that carries the index from one kernel to the next; "" for none
	Rename  bool            // look names up again that are remembered: packages may have come or gone
	Warm    []string        // packages and patterns to look up before anyone asks
	Name    []string        // packages and patterns to know the names of, without compiling them
	Known   []string        // packages to know by the last element of their path alone
	State   string          // a package whose importers have state that lives on from cell to cell
}

// pkg is what go list says about one package.
type pkg struct {
	Path     string
	Name     string
	Dir      string
	Export   string // its archive in the build cache, with types and code
	Standard bool
	Imports  []string // that it is linked with, also those that cgo adds

	// Of packages whose source can change while we run.
	Local bool
	Files []string // all files that decide about it
	Print uint64   // of those files when they were read
}

// Packages is safe for concurrent use.
type Packages struct {
	c   Config
	dir string // c.Dir as the go command calls it
	ctx context.Context

	mu        sync.Mutex
	world     world         // what everything depends on
	installed *installation // the Go in use; nil if not known yet
	worlds    int           // that there have been
	base      []string      // packages that the linker adds to every program; nil if not known yet
	cell      cellModule
	pkgs      map[string]*pkg         // that are compiled
	byName    map[string]string       // complete, or nil if names are not known yet
	paths     []string                // of importable packages; known when the names are
	named     chan struct{}           // closed when they are, or can't be
	warm      []string                // packages to be looked up in the background
	whole     bool                    // the warm packages have been looked up, so nothing is left to do in the background
	failed    map[string]error        // by path, since the last Refresh
	trouble   error                   // of the last lookup in the background
	asked     map[string]bool         // paths that were waited for
	builds    map[string]*build       // by the paths asked for
	gc        types.Importer          // knows packages of one generation
	past      int                     // generations of types so far
	urgent    int                     // lookups that are waited for
	pause     context.CancelCauseFunc // ends the lookup in the background, which begins again later

	background sync.WaitGroup
	commands   sync.RWMutex // read-locked while one runs
	saving     sync.Mutex   // so that the last write has the last state
}

// New starts looking up the warm packages in the background, unless all of them are remembered from an earlier kernel
// and have not changed.
func New(c Config) *Packages {
	p := &Packages{c: c, ctx: c.Context, asked: map[string]bool{}}
	if p.ctx == nil {
		p.ctx = context.Background()
	}
	p.dir, _ = filepath.Abs(c.Dir)
	if real, err := filepath.EvalSymlinks(p.dir); err == nil {
		p.dir = real
	}
	p.forget()
	p.look()
	p.restore()
	p.begin()
	return p
}

// forget empties everything. It needs p.mu, except for a new p.
func (p *Packages) forget() {
	p.worlds++
	p.installed, p.base, p.byName, p.whole = nil, nil, nil, false
	p.pkgs, p.failed = map[string]*pkg{}, map[string]error{}
	p.named = make(chan struct{})
	p.reset()
}

// reset starts a new importer, which knows no package yet.
func (p *Packages) reset() {
	p.past++
	p.builds = map[string]*build{}
	p.gc = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		k := p.pkgs[path]
		if k == nil {
			return nil, &MissingError{Path: path}
		}
		return os.Open(k.Export)
	})
}

// Wait returns when nothing is looked up or remembered in the background any more.
func (p *Packages) Wait() { p.background.Wait() }

// Ended returns when the go commands that ran have ended, of which none begins once the context has: what they write
// into the temporary folder can be removed then.
func (p *Packages) Ended() {
	p.commands.Lock()
	defer p.commands.Unlock()
}

// Import returns the types of a package; it implements types.Importer. The error is a *MissingError, a *BuildError or
// a *ToolError.
func (p *Packages) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if err := p.need(path); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t, err := p.gc.Import(path)
	if err == nil {
		return t, nil
	}
	// Export data of a dependency is gone, or another lookup was quicker: try once more, with everything looked up
	// again.
	p.mu.Unlock()
	err = p.list(path)
	p.mu.Lock()
	p.reset()
	if err != nil {
		return nil, err
	}
	return p.gc.Import(path)
}

// need looks up the packages that are not known yet.
func (p *Packages) need(paths ...string) error {
	p.mu.Lock()
	var unknown []string
	for _, path := range paths {
		if err := p.failed[path]; err != nil {
			p.mu.Unlock()
			return err
		}
		if k := p.pkgs[path]; (k == nil || !exists(k.Export)) && path != "unsafe" {
			unknown = append(unknown, path)
		}
	}
	p.mu.Unlock()
	if len(unknown) == 0 {
		return nil
	}
	err := p.list(unknown...)
	p.background.Go(p.save)
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ByName returns the path of the package that a name most likely means, or "".
func (p *Packages) ByName(name string) string { return p.names()[name] }

// Names returns all package names that ByName knows.
func (p *Packages) Names() []string {
	var names []string
	for n := range p.names() {
		names = append(names, n)
	}
	return names
}

// Paths returns the paths of the packages that are known and can be imported, sorted.
func (p *Packages) Paths() []string {
	p.names()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paths
}

// names waits for the names of packages to be known; nil if they can't be, and then Import says why.
func (p *Packages) names() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		named := p.named
		p.mu.Unlock()
		<-named
		p.mu.Lock()
		if named == p.named { // else everything has been forgotten meanwhile
			return p.byName
		}
	}
}

// addNames adds the names of packages to those that are known already, which stay what they are, in a map of its own.
// Shorter paths win, and the standard library before all others; packages that can't be imported from outside are
// left out.
func addNames(known map[string]string, found []*pkg) map[string]string {
	byName := maps.Clone(known)
	if byName == nil {
		byName = map[string]string{}
	}
	for _, k := range found {
		if !importable(k) || known[k.Name] != "" {
			continue
		}
		path := k.Path
		if want := names.Preferred[k.Name]; want != "" && k.Standard {
			path = want
		}
		old, ok := byName[k.Name]
		if !ok || names.Better(k.Name, path, old) {
			byName[k.Name] = path
		}
	}
	return byName
}

// compiled lists the packages that have been looked up. It needs p.mu.
func (p *Packages) compiled() []*pkg {
	return slices.SortedFunc(maps.Values(p.pkgs), func(a, b *pkg) int { return strings.Compare(a.Path, b.Path) })
}

// importable reports whether cells may import a package.
func importable(k *pkg) bool {
	return k.Name != "main" && k.Name != "" && !strings.HasPrefix(k.Path, "vendor/") && !strings.HasPrefix(k.Path, "cmd/") &&
		!slices.Contains(strings.Split(k.Path, "/"), "internal")
}

// Stateful reports whether the package or something that it imports has state to be kept from cell to cell.
func (p *Packages) Stateful(path string) bool { return p.Reaches(path, p.c.State) }

// Reaches reports whether a package imports another one, itself or through others. The standard library is not
// searched.
func (p *Packages) Reaches(path, other string) bool {
	if p.need(path) != nil {
		return false
	}
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
