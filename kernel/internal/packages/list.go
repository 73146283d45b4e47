package packages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// listed is what the go command says about one package.
type listed struct {
	ImportPath, Name, Dir, Export string
	Standard, DepOnly             bool
	DefaultGODEBUG                string
	Module                        *struct {
		Main                  bool
		Dir, GoMod, GoVersion string
		Replace               *struct{ Version string }
	}
	Imports, Deps                               []string
	GoFiles, CgoFiles, IgnoredGoFiles           []string
	CFiles, CXXFiles, HFiles, SFiles, SysoFiles []string
	IgnoredOtherFiles, EmbedFiles               []string
	Error                                       *listError
	DepsErrors                                  []*listError
}

type listError struct{ Err string }

const (
	nameFields = "ImportPath,Name,Standard,DepOnly,Error"
	fileFields = nameFields + ",Dir,Export,DefaultGODEBUG,Module,Imports,Deps,GoFiles,CgoFiles,IgnoredGoFiles,CFiles,CXXFiles,HFiles,SFiles,SysoFiles,IgnoredOtherFiles,EmbedFiles,DepsErrors"
)

// grace is how long a go command may take to end its compilers and itself. It is a variable for tests alone.
var grace = 3 * time.Second

// goCommand runs the go command. An error says that it did not do its work; mistakes in single packages are in its
// output.
func (p *Packages) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	p.commands.RLock()
	defer p.commands.RUnlock()
	exe, err := p.goBinary()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir, cmd.Env = p.c.Dir, p.c.Env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends its compilers, too
	cmd.WaitDelay = grace
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		text := strings.TrimSpace(stderr.String())
		if text == "" {
			text = err.Error()
		}
		return nil, &ToolError{Reason: "go " + args[0] + ": " + text}
	}
	return out, nil
}

// goList looks packages up, all of them or none.
func (p *Packages) goList(ctx context.Context, args ...string) ([]*listed, error) {
	out, err := p.goCommand(ctx, append([]string{"list", "-e", "-deps"}, args...)...)
	if err != nil {
		return nil, err
	}
	var found []*listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		l := new(listed)
		err := d.Decode(l)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, &ToolError{Reason: fmt.Sprintf("go list: its output can't be read: %v", err)}
		}
		found = append(found, l)
	}
}

// list looks packages up and compiles them if need be, ahead of lookups in the background. The error is that of the
// first one that can't be imported.
func (p *Packages) list(paths ...string) error {
	p.mu.Lock()
	// What earlier cells have asked for will be asked for again: one question is quicker than many.
	more := slices.Clone(paths)
	for path := range p.asked {
		if p.pkgs[path] == nil && p.failed[path] == nil && !slices.Contains(more, path) {
			more = append(more, path)
		}
	}
	if len(p.base) == 0 && !slices.Contains(more, ".") {
		more = append(more, ".")
	}
	for _, path := range paths {
		p.asked[path] = true
	}
	p.urgent++
	if p.pause != nil {
		p.pause(errPaused)
	}
	p.mu.Unlock()
	err := p.lookup(p.ctx, more, paths)
	p.mu.Lock()
	p.urgent--
	for _, path := range paths {
		if p.pkgs[path] == nil { // it does not exist: no lookup will wait for it
			delete(p.asked, path)
		}
	}
	p.mu.Unlock()
	return err
}

// lookup looks packages and patterns up and compiles them. The error is that of the first of the wanted ones that
// can't be imported.
func (p *Packages) lookup(ctx context.Context, patterns, wanted []string) error {
	for {
		p.mu.Lock()
		before := p.worlds
		p.mu.Unlock()
		started := time.Now()
		found, err := p.goList(ctx, append([]string{"-export", "-json=" + fileFields, "--"}, patterns...)...)
		p.mu.Lock()
		if p.worlds != before { // Go or the modules have changed meanwhile
			p.mu.Unlock()
			continue
		}
		defer p.mu.Unlock()
		if err == nil {
			return p.add(found, wanted, started)
		}
		for _, path := range wanted {
			if ctx.Err() == nil {
				p.failed[path] = err
			}
		}
		return err
	}
}

// add takes in what go list found after started. The error is that of the first wanted one that is missing. It needs
// p.mu.
func (p *Packages) add(found []*listed, wanted []string, started time.Time) (first error) {
	changed := false
	for _, l := range found {
		if l.ImportPath == "unsafe" {
			continue
		}
		if l.Name == "main" && l.Dir == p.dir {
			p.base, p.cell = l.Deps, cellModule{Lang: l.Module.GoVersion, GODEBUG: l.DefaultGODEBUG}
			continue
		}
		if l.Export != "" {
			k := pack(l, started)
			old := p.pkgs[k.Path]
			changed = changed || old != nil && old.Export != k.Export
			p.pkgs[k.Path] = k
			delete(p.failed, k.Path)
			if k.Local {
				p.watch(l.Module.GoMod)
			}
			continue
		}
		if p.pkgs[l.ImportPath] != nil {
			delete(p.pkgs, l.ImportPath)
			changed = true
		}
		why := l.Error
		if why == nil && len(l.DepsErrors) > 0 {
			why = l.DepsErrors[0]
		}
		if why != nil {
			p.failed[l.ImportPath] = p.problem(l.ImportPath, why.Err)
		}
	}
	if p.byName != nil {
		p.byName = addNames(p.byName, p.compiled())
	}
	p.builds = map[string]*build{}
	if changed {
		p.reset()
	}
	for _, path := range wanted {
		if path == "." || path == "unsafe" || p.pkgs[path] != nil {
			continue
		}
		if p.failed[path] == nil {
			p.failed[path] = &MissingError{Path: path}
		}
		if first == nil {
			first = p.failed[path]
		}
	}
	return first
}

// local reports whether a package's source can change while we run.
func local(l *listed) bool {
	return l.Module != nil && (l.Module.Main || l.Module.Replace != nil && l.Module.Replace.Version == "")
}

// pack keeps the useful fields.
func pack(l *listed, started time.Time) *pkg {
	k := &pkg{Path: l.ImportPath, Name: l.Name, Dir: l.Dir, Export: l.Export, Standard: l.Standard, Local: local(l)}
	imports := l.Imports
	if len(l.CgoFiles) > 0 { // cgo adds imports that the source does not have
		imports = append(slices.Clone(imports), l.Deps...)
	}
	for _, i := range imports {
		if i != "C" && i != "unsafe" && !slices.Contains(k.Imports, i) {
			k.Imports = append(k.Imports, i)
		}
	}
	if k.Local {
		for _, f := range slices.Concat(l.GoFiles, l.CgoFiles, l.IgnoredGoFiles, l.CFiles, l.CXXFiles, l.HFiles, l.SFiles, l.SysoFiles, l.IgnoredOtherFiles, l.EmbedFiles) {
			if !filepath.IsAbs(f) { // else cgo has generated it
				k.Files = append(k.Files, f)
			}
		}
		k.Print = k.printBefore(started)
	}
	return k
}
