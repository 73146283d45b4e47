package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
)

// A Package is one that cells can import, or that one of these needs.
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
	License  string    // Go's, which accompanies all of them
	Packages []Package // by path

	Untrimmed []string // what pages go without, since it doesn't fit this version of Go
}

const rewriterPackage = "./kernel/live/engine"

// A Progress is called with the name of each build, and about how long it takes on two processors when nothing of it
// is there yet.
type Progress func(what string, about time.Duration)

// Build builds the parts for cells that import the packages, or what they import, into the folder dir, which keeps what
// takes long to build. root is the checkout. It uses the network only for modules that are not on the machine yet.
func Build(ctx context.Context, root, dir string, say Progress, packages ...string) (*Parts, error) {
	return build(ctx, root, dir, edits, say, packages...)
}

func build(ctx context.Context, root, dir string, edits []edit, say Progress, packages ...string) (p *Parts, err error) {
	b, p, err := begin(ctx, root, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = b.explained(err) }()
	if p.Untrimmed, err = b.tools(p, edits, say); err != nil {
		return nil, err
	}
	say("what rewrites and draws cells", 15*time.Second)
	if _, err := b.run(append(program(p.Rewriter), rewriterPackage)...); err != nil {
		return nil, err
	}
	if err := b.explorers(p, say); err != nil {
		return nil, err
	}
	say("the packages of the lessons", 25*time.Second)
	module, err := b.slimmer(b.dir)
	if err != nil {
		return nil, err
	}
	p.Packages, err = b.packages(module, packages)
	return p, err
}

// program are the arguments of the go command that build a program that needs nothing but to run.
func program(file string) []string {
	return []string{"build", "-trimpath", "-ldflags=-s -w", "-o", file}
}

// A builder calls the go command for WebAssembly.
type builder struct {
	ctx               context.Context
	root, dir, goroot string
	unfetched         error // why not all modules could be fetched
}

// begin makes the folder for what is built, fetches the modules that it takes, and says where each part of it is going
// to be.
func begin(ctx context.Context, root, dir string) (*builder, *Parts, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("live: %w", err)
	}
	b := &builder{ctx: ctx, root: root, dir: dir}
	out, err := b.run("env", "GOROOT")
	if err != nil {
		return nil, nil, err
	}
	b.goroot = strings.TrimSpace(string(out))
	download := exec.CommandContext(ctx, "go", "mod", "download") // as setup does, if it has not run yet
	download.Dir = root
	if said, err := download.CombinedOutput(); err != nil {
		b.unfetched = errors.New(string(bytes.TrimSpace(said)))
	}
	return b, &Parts{
		Compiler: filepath.Join(dir, "compile.wasm"),
		Linker:   filepath.Join(dir, "link.wasm"),
		Rewriter: filepath.Join(dir, "rewrite.wasm"),
		Explore:  filepath.Join(dir, "explore.wasm"),
		Start:    filepath.Join(b.goroot, "lib", "wasm", "wasm_exec.js"),
		License:  filepath.Join(b.goroot, "LICENSE"),
	}, nil
}

// explained adds to an error why modules are lacking, which may be its reason.
func (b *builder) explained(err error) error {
	if err == nil || b.unfetched == nil || b.ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w\n%w", err, b.unfetched)
}

// explorers builds notebooks/explore. Without inlining the library takes an eighth less, and explorers are fast
// enough.
func (b *builder) explorers(p *Parts, say Progress) error {
	say("explorers", 10*time.Second)
	_, err := b.run(append(program(p.Explore), "-gcflags=github.com/lectern-go/lectern/...=-l", explorePackage)...)
	return err
}

// tools builds Go's compiler and linker, and returns the trims that they go without. If something does not compile
// although its text fits, that is all of them.
func (b *builder) tools(p *Parts, edits []edit, say Progress) (untrimmed []string, err error) {
	file, untrimmed, err := overlay(b.goroot, b.dir, edits)
	if err != nil {
		return nil, err
	}
	for _, tool := range []struct {
		what, file, path string
		about            time.Duration
	}{
		{"Go's compiler for the page", p.Compiler, "cmd/compile", 45 * time.Second},
		{"Go's linker for the page", p.Linker, "cmd/link", 10 * time.Second},
	} {
		say(tool.what, tool.about)
		if err := b.tool(tool.path, tool.file, file); err == nil {
			continue
		} else if len(edits) == 0 || b.ctx.Err() != nil {
			return nil, err
		}
		if _, err := b.tools(p, nil, say); err != nil {
			return nil, err
		}
		for _, e := range edits {
			if !slices.Contains(untrimmed, e.trim) {
				untrimmed = append(untrimmed, e.trim)
			}
		}
		break
	}
	return untrimmed, nil
}

// tool builds one of Go's own tools. The go command replaces no files of the module cache, which is where a Go lies
// that it has downloaded by itself; the tools need none of the modules that are there, and so get an empty one.
func (b *builder) tool(path, file, overlay string) error {
	cmd := b.command(filepath.Join(b.goroot, "bin", "go"), append(program(file), "-overlay", overlay, path)...)
	cmd.Dir = filepath.Join(b.goroot, "src", "cmd")
	cmd.Env = append(cmd.Env, "GOTOOLCHAIN=local", "GOMODCACHE="+filepath.Join(b.dir, "no-modules"))
	_, err := output(cmd)
	return err
}

// own are the packages that programs import without being told to by the user.
var own = []string{"github.com/lectern-go/lectern/kernel/persist", "github.com/lectern-go/lectern/kernel/show", "runtime"}

// packages compiles packages and all that they import. A page has no debugger, so that the archives go without DWARF,
// a third of their bytes, and without names for tools that list their content.
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

// run runs the go command, set up as for cells except where they run.
func (b *builder) run(args ...string) ([]byte, error) { return output(b.command("go", args...)) }

func (b *builder) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.ctx, name, args...)
	cmd.Dir = b.root
	cmd.Env = append(cellenv.Offline(os.Environ()), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off")
	return cmd
}

// output runs a command of go and returns what it prints.
func output(cmd *exec.Cmd) ([]byte, error) {
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("live: go %s: %w\n%s", cmd.Args[1], err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}
