package packages

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/atomicfile"
)

// index is the file that kernels leave for later ones.
type index struct {
	World  world
	Whole  bool // the warm packages are all there
	Warm   []string
	Go     *installation
	Base   []string
	Cell   cellModule
	Pkgs   map[string]*pkg
	ByName map[string]string
	Paths  []string
}

// restore reads what an earlier kernel knew, if it still holds.
func (p *Packages) restore() {
	if p.c.Cache == "" {
		return
	}
	b, err := os.ReadFile(p.c.Cache)
	var x index
	if err != nil || json.Unmarshal(b, &x) != nil || x.Pkgs == nil || len(x.ByName) == 0 || len(x.Paths) == 0 {
		return
	}
	fresh := p.world
	p.world.Mods, p.world.Go, p.world.stats = x.World.Mods, x.World.Go, ""
	if p.look(); p.world.Sum != x.World.Sum {
		p.world = fresh
		return
	}
	p.installed, p.base, p.cell, p.pkgs = x.Go, x.Base, x.Cell, x.Pkgs
	if !p.c.Rename {
		p.warm, p.byName, p.paths, p.whole = x.Warm, x.ByName, x.Paths, x.Whole
		close(p.named)
	}
	p.sift()
}

// Prepare returns when the warm packages have been looked up, or the first error there was.
func (p *Packages) Prepare() error {
	p.Wait()
	if _, err := p.Toolchain(); err != nil {
		return err
	}
	p.save()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trouble
}

// begin looks up unknown packages in the background: names first, then the warm packages. It needs p.mu, except
// a new p.
func (p *Packages) begin() {
	if p.whole { // leave the processors to the first cell
		return
	}
	worlds, named, known := p.worlds, p.named, p.byName != nil
	p.background.Go(func() {
		if !known {
			p.nameAll(worlds)
			close(named)
			p.save()
		}
		p.warmUp(worlds)
		p.save()
	})
}

// nameAll finds the names of packages: of the standard library, of the warm ones, and of all that these import.
func (p *Packages) nameAll(worlds int) {
	found, err := p.goList(p.ctx, append([]string{"-json=" + nameFields, "--", "std"}, slices.Concat(p.c.Warm, p.c.Name)...)...)
	if err != nil { // an import reports why
		p.mu.Lock()
		p.trouble = err
		p.mu.Unlock()
		return
	}
	var asked, deps []*pkg
	var warm, paths []string
	for _, l := range found {
		if l.Error != nil {
			continue
		}
		k := &pkg{Path: l.ImportPath, Name: l.Name, Standard: l.Standard}
		if importable(k) {
			paths = append(paths, k.Path)
		}
		if l.DepOnly {
			deps = append(deps, k)
		} else {
			asked = append(asked, k)
		}
		if !l.DepOnly && importable(k) && (slices.Contains(p.c.Warm, l.ImportPath) || !l.Standard && !slices.ContainsFunc(p.c.Name, func(pattern string) bool { return covers(pattern, l.ImportPath) })) {
			warm = append(warm, l.ImportPath)
		}
	}
	for _, known := range p.c.Known {
		asked = append(asked, &pkg{Path: known, Name: path.Base(known)})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.worlds == worlds {
		slices.Sort(paths)
		p.paths = paths
		p.byName, p.warm = addNames(addNames(addNames(nil, asked), deps), p.compiled()), warm
	}
}

// covers reports whether a pattern of the go command, a path or a path and /..., means a package.
func covers(pattern, path string) bool {
	tree, ok := strings.CutSuffix(pattern, "/...")
	return path == tree || ok && strings.HasPrefix(path, tree+"/")
}

// quiet is how long nobody must have waited for a lookup before the one in the background goes on.
const quiet = 300 * time.Millisecond

// warmUp looks the warm packages up. Lookups that a cell waits for have the processors first.
func (p *Packages) warmUp(worlds int) {
	for {
		p.mu.Lock()
		if p.byName == nil || p.worlds != worlds {
			p.mu.Unlock()
			return
		}
		ctx, cancel := context.WithCancelCause(p.ctx)
		busy := p.urgent > 0
		p.pause = cancel
		patterns := append([]string{"."}, p.warm...)
		p.mu.Unlock()
		var err error
		if busy {
			err = errPaused
		} else {
			err = p.lookup(ctx, patterns, patterns)
		}
		cancel(nil)
		p.mu.Lock()
		p.trouble = err
		p.mu.Unlock()
		var tool *ToolError
		switch {
		case p.ctx.Err() != nil || errors.As(err, &tool):
			return
		case errors.Is(err, errPaused):
			select {
			case <-p.ctx.Done():
			case <-time.After(quiet):
			}
		default: // a package that does not compile is looked up again when a cell names it
			p.mu.Lock()
			p.whole = p.whole || p.worlds == worlds
			p.mu.Unlock()
			return
		}
	}
}

var errPaused = errors.New("somebody else is in a hurry")

// save writes the index for the next kernel. Nothing is written before the names are complete.
func (p *Packages) save() {
	if p.c.Cache == "" {
		return
	}
	p.saving.Lock()
	defer p.saving.Unlock()
	p.mu.Lock()
	if p.byName == nil || p.ctx.Err() != nil {
		p.mu.Unlock()
		return
	}
	x := index{World: p.world, Whole: p.whole, Warm: p.warm, Go: p.installed, Base: p.base, Cell: p.cell, Pkgs: p.pkgs, ByName: p.byName, Paths: p.paths}
	b, err := json.Marshal(x)
	p.mu.Unlock()
	if err != nil {
		return
	}
	// Several kernels may end up here at once: the last one wins. Everybody who shares the checkout may use it.
	atomicfile.Replace(p.c.Cache, b, 0o644)
}
