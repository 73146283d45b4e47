package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
)

// A Package is one that cells can import, or that such a package needs.
type Package struct {
	Path    string   `json:"path"`
	Name    string   `json:"name"`
	Imports []string `json:"imports,omitempty"`
	Archive string   `json:"-"` // in Go's build cache
}

// Parts are the files that make up the engine of a page.
type Parts struct {
	Compiler string    // Go's compiler
	Linker   string    // Go's linker
	Rewriter string    // kernel/live/engine, which turns cells into programs
	Explore  string    // notebooks/explore, which needs none of the others
	Start    string    // Go's wasm_exec.js, by which a page starts each of them
	Licence  string    // Go's, which goes along with all of them
	Packages []Package // by path
}

const rewriterPackage = "./kernel/live/engine"

// Build builds the parts for cells that import the packages, or what they import, into the folder dir, which keeps
// what takes long. root is the checkout. It uses the network only for modules that are not on the machine yet.
func Build(ctx context.Context, root, dir string, packages ...string) (p *Parts, err error) {
	dir, err = filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	b := &builder{ctx, root}
	download := exec.CommandContext(ctx, "go", "mod", "download") // as setup does, if it has not run yet
	download.Dir = root
	said, downloadErr := download.CombinedOutput()
	defer func() {
		if err != nil && downloadErr != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w\n%s", err, bytes.TrimSpace(said))
		}
	}()
	out, err := b.run("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	goroot := strings.TrimSpace(string(out))
	trimmed, err := overlay(goroot, dir)
	if err != nil {
		return nil, err
	}
	p = &Parts{
		Compiler: filepath.Join(dir, "compile.wasm"),
		Linker:   filepath.Join(dir, "link.wasm"),
		Rewriter: filepath.Join(dir, "rewrite.wasm"),
		Explore:  filepath.Join(dir, "explore.wasm"),
		Start:    filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"),
		Licence:  filepath.Join(goroot, "LICENSE"),
	}
	for _, tool := range []struct {
		file string
		args []string
	}{
		{p.Compiler, []string{"-overlay", trimmed, "cmd/compile"}},
		{p.Linker, []string{"-overlay", trimmed, "cmd/link"}},
		{p.Rewriter, []string{rewriterPackage}},
		// Without inlining the library takes an eighth less, and nobody waits for explorers.
		{p.Explore, []string{"-gcflags=github.com/lectern-go/lectern/...=-l", explorePackage}},
	} {
		if _, err := b.run(append([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", tool.file}, tool.args...)...); err != nil {
			return nil, err
		}
	}
	module, err := b.fewerFonts(filepath.Join(dir, "fonts"))
	if err != nil {
		return nil, err
	}
	p.Packages, err = b.packages(module, packages)
	return p, err
}

// A builder calls the go command for WebAssembly.
type builder struct {
	ctx  context.Context
	root string
}

// own are the packages that programs import without a word from the user.
var own = []string{"github.com/lectern-go/lectern/kernel/persist", "github.com/lectern-go/lectern/kernel/show", "runtime"}

// packages compiles packages and all that they import. Nobody debugs in a page, so that the archives go without DWARF,
// a third of their bytes, and without names for tools that list what is in them.
func (b *builder) packages(module string, paths []string) ([]Package, error) {
	args := []string{"list", "-modfile", module, "-export", "-deps", "-trimpath", "-tags=minimal,lectern_cell", "-gcflags=all=-dwarf=false -d=norefname=1", "-json=ImportPath,Name,Imports,Export", "--"}
	out, err := b.run(append(args, slices.Concat(own, paths)...)...)
	if err != nil {
		return nil, err
	}
	var list []Package
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var l struct {
			ImportPath, Name, Export string
			Imports                  []string
		}
		if err := d.Decode(&l); err != nil {
			return nil, fmt.Errorf("live: go list: %w", err)
		}
		if l.Export == "" { // unsafe, which the compiler knows by itself
			continue
		}
		list = append(list, Package{l.ImportPath, l.Name, l.Imports, l.Export})
	}
	slices.SortFunc(list, func(x, y Package) int { return strings.Compare(x.Path, y.Path) })
	return list, nil
}

// run runs the go command, set up as for cells but for where they run.
func (b *builder) run(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(b.ctx, "go", args...)
	cmd.Dir = b.root
	cmd.Env = append(cellenv.Offline(os.Environ()), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("live: go %s: %w\n%s", args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}
