package packages

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// build is what a program with certain imports is linked from.
type build struct {
	files map[string]string // by path
	cgo   bool
}

// Config returns the import configuration of a program, package main, that imports the given packages: for each
// package that it is compiled and linked with, also those that only the linker wants, the archive in the build cache.
// All of the files existed when Config was called. Callers must not change the map: it is shared. The error is a
// *MissingError, a *BuildError or a *ToolError.
func (p *Packages) Config(paths []string) (files map[string]string, err error) {
	b, err := p.build(paths)
	if err != nil {
		return nil, err
	}
	return b.files, nil
}

// Cgo reports whether a program that imports the given packages is linked with C. It knows only packages that Config
// or Import has found.
func (p *Packages) Cgo(paths []string) bool {
	b, err := p.build(paths)
	return err == nil && b.cgo
}

func (p *Packages) build(paths []string) (*build, error) {
	key := strings.Join(slices.Sorted(slices.Values(paths)), "\n")
	for attempt := 0; ; attempt++ {
		p.mu.Lock()
		for _, path := range paths {
			if err := p.failed[path]; err != nil {
				p.mu.Unlock()
				return nil, err
			}
		}
		b := p.builds[key]
		if b == nil {
			if b = p.closure(paths); b != nil {
				p.builds[key] = b
			}
		}
		p.mu.Unlock()
		if b != nil && b.whole() {
			return b, nil
		}
		if attempt == 3 { // each time something was trimmed from the cache or has changed
			return nil, &ToolError{Reason: "Go's build cache loses packages as soon as they are built; is its disk full?"}
		}
		if err := p.list(paths...); err != nil {
			return nil, err
		}
		if !p.hasBase() {
			return nil, &ToolError{Reason: "there is no program in " + p.c.Dir}
		}
		p.background.Go(p.save)
	}
}

// hasBase reports whether it is known what the linker adds to every program.
func (p *Packages) hasBase() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.base) > 0
}

// closure follows imports; it returns nil if a package is not known. It needs p.mu.
func (p *Packages) closure(paths []string) *build {
	if len(p.base) == 0 {
		return nil
	}
	b := &build{files: map[string]string{}}
	var visit func(string) bool
	visit = func(path string) bool {
		if path == "unsafe" || b.files[path] != "" {
			return true
		}
		k := p.pkgs[path]
		if k == nil {
			return false
		}
		b.files[path] = k.Export
		b.cgo = b.cgo || path == "runtime/cgo"
		return !slices.ContainsFunc(k.Imports, func(i string) bool { return !visit(i) })
	}
	for _, path := range slices.Concat(p.base, paths) {
		if !visit(path) {
			return nil
		}
	}
	return b
}

// fresh is how long a file of Go's build cache is certain not to be trimmed: Go removes files that were not used for
// five days, and notes uses by a file's time. We use files without asking Go, so we note it, too.
const fresh = 24 * time.Hour

// whole reports whether all files are there.
func (b *build) whole() bool {
	now := time.Now()
	for _, file := range b.files {
		i, err := os.Stat(file)
		if err != nil {
			return false
		}
		if now.Sub(i.ModTime()) > fresh {
			os.Chtimes(file, now, now) // if it fails, Go builds the package again some day
		}
	}
	return true
}

// A Toolchain is what builds programs without the go command.
type Toolchain struct {
	Version string   // such as "go1.26.8"
	Root    string   // GOROOT
	Compile string   // the compiler
	Link    string   // the linker
	Env     []string // the environment for both, in which GOOS, GOARCH, GOAMD64 and the like are as the packages were compiled with
	Lang    string   // the language version of cells for the compiler's -lang, such as "go1.26"
	GODEBUG string   // for the linker's -X=runtime.godebugDefault=; "" for none
}

// installation is what go env says about the Go in use.
type installation struct {
	Version, Root, Compile, Link string
	Settings                     []string // of the environment
}

// cellModule is what the module of the cells says about its programs.
type cellModule struct{ Lang, GODEBUG string }

// Toolchain returns the tools of the Go that is in use now. They are looked up once for each installation of Go.
func (p *Packages) Toolchain() (*Toolchain, error) {
	p.mu.Lock()
	in := p.installed
	p.mu.Unlock()
	if in == nil {
		var err error
		if in, err = p.findGo(); err != nil {
			return nil, err
		}
	}
	if !p.hasBase() {
		if err := p.list(); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &Toolchain{Version: in.Version, Root: in.Root, Compile: in.Compile, Link: in.Link, Lang: "go" + majorMinor(p.cell.Lang), GODEBUG: p.cell.GODEBUG}
	for _, kv := range p.c.Env {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(in.Settings, func(s string) bool { return strings.HasPrefix(s, name+"=") }) {
			t.Env = append(t.Env, kv)
		}
	}
	t.Env = append(t.Env, in.Settings...)
	return t, nil
}

// Dir is the folder with the source of a package that Import has found, or of Go's own builtin; "" if it is not known.
func (p *Packages) Dir(path string) string {
	if path == "builtin" {
		tools, err := p.Toolchain()
		if err != nil {
			return ""
		}
		return filepath.Join(tools.Root, "src", path)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.pkgs[path]; k != nil {
		return k.Dir
	}
	return ""
}

// findGo asks the go command where its tools are and what they compile for.
func (p *Packages) findGo() (*installation, error) {
	settings := []string{"GOOS", "GOARCH", "GOEXPERIMENT", "GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64", "GOWASM"}
	out, err := p.goCommand(p.ctx, append([]string{"env", "-json", "GOROOT", "GOTOOLDIR", "GOVERSION", "GOEXE"}, settings...)...)
	if err != nil {
		return nil, err
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, &ToolError{Reason: "go env: its output can't be read: " + err.Error()}
	}
	tool := func(name string) string { return filepath.Join(env["GOTOOLDIR"], name+env["GOEXE"]) }
	in := &installation{Version: env["GOVERSION"], Root: env["GOROOT"], Compile: tool("compile"), Link: tool("link")}
	for _, name := range settings {
		in.Settings = append(in.Settings, name+"="+env[name])
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.installed = in
	p.world.Go = []string{in.Compile, in.Link, filepath.Join(in.Root, "VERSION")}
	p.look()
	return in, nil
}

// majorMinor leaves out the patch release of a version: the compiler's -lang takes "go1.26".
func majorMinor(v string) string {
	if parts := strings.Split(v, "."); len(parts) > 2 {
		return parts[0] + "." + parts[1]
	}
	return v
}
