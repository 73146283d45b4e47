//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/export"
	"github.com/lectern-go/lectern/kernel/internal/install"
	"github.com/lectern-go/lectern/kernel/internal/mine"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// exportArg is the argument that turns a notebook into a program. That takes what a kernel knows: which packages the
// notebook's cells mean, and what types their variables have. Nothing is executed.
const exportArg = "-export"

// exportNotebook writes a notebook as a program into the folder out.
func exportNotebook(c config, file, out string) error {
	file, err := filepath.Abs(file)
	if err == nil {
		out, err = filepath.Abs(out)
	}
	if err != nil {
		return err
	}
	n, err := notebook.Read(file)
	if err != nil {
		return err
	}
	f, err := newFolders()
	if err != nil {
		return err
	}
	defer f.remove()
	os.Setenv("JPY_SESSION_NAME", file)
	if err := c.locate(filepath.Dir(file), f); err != nil {
		return err
	}
	if err := c.mayWrite(out); err != nil {
		return err
	}
	if err := makeCheckModule(c, f); err != nil {
		return err
	}
	ctx := context.Background()
	say := func(text string) { fmt.Fprint(os.Stderr, text) }
	c.takeRecorded(ctx, f, say)
	p := packageIndex(ctx, c, f, false)
	defer p.Wait()
	cells, err := export.Cells(n, p, func(r *rewrite.Result) bool {
		if r.Missing == "" || offline() || !download(ctx, f, r.Missing, say) {
			return false
		}
		p.Refetch()
		return true
	})
	if err != nil {
		return fmt.Errorf("%s, %w", filepath.Base(file), err)
	}
	foreign, err := c.foreign(out)
	if err != nil {
		return err
	}
	made, err := export.Program(cells, p, foreign)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	program := append([]byte(fmt.Sprintf(export.Header, filepath.Base(file))), made.Main...)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := atomicfile.Replace(filepath.Join(out, "main.go"), program, 0o644); err != nil {
		return err
	}
	if made.Tests != nil {
		if err := atomicfile.Replace(filepath.Join(out, "main_test.go"), made.Tests, 0o644); err != nil {
			return err
		}
	}
	if len(made.Copied) > 0 {
		copies := filepath.Join(out, copiesFolder)
		if err := copyPackages(c.root, copies, made.Copied, foreign.Copies); err != nil {
			return err
		}
		license, err := os.ReadFile(filepath.Join(c.root, "LICENSE"))
		if err == nil {
			err = writeChanged(filepath.Join(copies, "LICENSE"), license)
		}
		if err != nil {
			return err
		}
	}
	return buildProgram(ctx, c, say, out)
}

// copiesFolder is where a program keeps copies of our packages if its module does not require ours.
const copiesFolder = "internal/lectern"

// foreign says how a program in the folder out does without our module; nil if it has that.
func (c config) foreign(out string) (*export.Foreign, error) {
	if c.home == nil {
		return nil, nil
	}
	rel, err := filepath.Rel(c.home.dir, out)
	if err != nil || strings.HasPrefix(rel, "..") {
		return nil, fmt.Errorf("the notebook belongs to the module %s: give -o a folder inside %s", c.home.path, c.home.dir)
	}
	if c.home.library {
		return nil, nil
	}
	return &export.Foreign{Library: modulePath(c.root), Copies: path.Join(c.home.path, filepath.ToSlash(rel), copiesFolder)}, nil
}

// mayWrite refuses to overwrite a program or a module that was not exported.
func (c config) mayWrite(out string) error {
	b, err := os.ReadFile(filepath.Join(out, "main.go"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if bytes.HasPrefix(b, []byte(export.Begin)) {
		return nil
	}
	names := []string{"main.go", "main_test.go"}
	if !c.inModule(out) {
		names = append(names, "go.mod", "go.sum")
	}
	for _, name := range names {
		file := filepath.Join(out, name)
		if _, err := os.Lstat(file); err == nil {
			return fmt.Errorf("%s is there and was not exported from a notebook: choose another folder with -o", file)
		}
	}
	return nil
}

// inModule reports whether a folder is in the notebook's module.
func (c config) inModule(out string) bool {
	around := c.root
	if c.home != nil {
		around = c.home.dir
	}
	rel, err := filepath.Rel(around, out)
	return err == nil && !strings.HasPrefix(rel, "..")
}

// buildProgram gives a program a go.mod, unless the notebook's module is around it, and has the go command build it.
func buildProgram(ctx context.Context, c config, say func(string), out string) error {
	env := append(cellenv.Online(os.Environ()), "GOFLAGS=-buildvcs=false")
	if offline() {
		env = append(cellenv.Offline(os.Environ()), "GOFLAGS=-buildvcs=false")
	}
	if inside := c.inModule(out); !inside {
		if err := writeModule(c, out); err != nil {
			return err
		}
		env = append(env, "GOWORK=off")
		if said, err := goCommand(ctx, out, env, func(line string) { say(line + "\n") }, "mod", "tidy"); err != nil {
			return fmt.Errorf("the program is in %s; its modules can't be fetched: %s", out, strings.Join(said, "\n"))
		}
	} else if c.mine != "" { // a module of its own, which the workspace beside it uses
		env = append(env, "GOWORK="+filepath.Join(filepath.Dir(c.mine), "go.work"))
	} else if c.home == nil {
		env = append(env, "GOWORK=off")
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", os.DevNull, ".")
	cmd.Dir, cmd.Env = out, env
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the program is in %s and does not build: %s", out, bytes.TrimSpace(said))
	}
	return nil
}

// writeModule writes a go.mod for the program: with what the notebook has fetched, and with the library,
// in this version or from this checkout.
func writeModule(c config, out string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n\ngo %s\n\nrequire (\n", moduleName(filepath.Base(out)), goLine(c.root))
	for _, m := range readModule(getModule(c)).Modules {
		fmt.Fprintf(&b, "\t%s\n", m)
	}
	library, v := modulePath(c.root), install.Version()
	released := strings.HasPrefix(v, "v") && !strings.Contains(v, "+")
	if !released {
		v = "v0.0.0"
	}
	fmt.Fprintf(&b, "\t%s %s\n", library, v)
	if c.mine != "" {
		fmt.Fprintf(&b, "\t%s v0.0.0\n", mine.Name)
	}
	b.WriteString(")\n")
	if c.mine != "" {
		fmt.Fprintf(&b, "\nreplace %s => %q\n", mine.Name, c.mine)
	}
	if !released || os.Getenv("LECTERN_LEAN") == "" {
		fmt.Fprintf(&b, "\nreplace %s => %q\n", library, c.root)
	}
	if err := atomicfile.Replace(filepath.Join(out, "go.mod"), []byte(b.String()), 0o644); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(getModule(c), "go.sum"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(out, "go.sum"), sums, 0o644)
}

// moduleName turns a folder's name into a module's path.
func moduleName(folder string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, folder)
	if name = strings.Trim(name, ".-"); name == "" {
		return "notebook"
	}
	return name
}
