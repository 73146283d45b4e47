//go:build unix

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/child"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// With %goflags, and for tests and pages, cells are built by the go command, in a module named like the user's.

// goBuild runs go build, or go test, on the cell's program.
func (e *execution) goBuild(env []string, args ...string) error {
	k := e.k
	dir := filepath.Join(k.f.work, "flags", filepath.Base(k.f.module()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	before, err := os.ReadDir(dir) // an earlier cell's files would be part of this one's program
	if err != nil {
		return err
	}
	for _, f := range before {
		if strings.HasPrefix(f.Name(), "go.") {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "go.work.sum"} {
		b, err := os.ReadFile(filepath.Join(k.f.check(), name))
		if err != nil {
			os.Remove(filepath.Join(dir, name))
			continue
		}
		if name == "go.mod" {
			_, rest, _ := strings.Cut(string(b), "\n")
			b = []byte("module " + filepath.Base(dir) + "\n" + rest)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			return err
		}
	}
	if err := joinModules(k.c, dir); err != nil {
		return err
	}
	main, command := "main.go", []string{"build"}
	if e.Result.Tests {
		main, command = "main_test.go", []string{"test", "-c"}
	}
	if err := os.WriteFile(filepath.Join(dir, main), []byte(e.Result.Program.Source()), 0o600); err != nil {
		return err
	}
	if covers(args) && !e.Result.Tests && !has(args, "-coverpkg") {
		args = append(args, "-coverpkg=.") // else it is the packages of every module here
	}
	cmd := exec.CommandContext(e.ctx, "go", append(command, args...)...)
	cmd.Dir, cmd.Env = dir, append(toolEnv(os.Environ(), k.f.path(), k.f.tmp()), env...)
	cmd.SysProcAttr = child.OwnGroup()
	cmd.Cancel = func() error { killGroup(cmd.Process.Pid); return nil }
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	if e.ctx.Err() != nil {
		return e.ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &compileError{"go build", strings.TrimSpace(said.String())}
	}
	return err
}

// compilesC says which program is missing if C can't be compiled.
func compilesC() error {
	compiler := cmp.Or(os.Getenv("CC"), "gcc")
	name, _, _ := strings.Cut(compiler, " ")
	if _, err := exec.LookPath(name); err != nil {
		if _, err := exec.LookPath("clang"); err != nil || compiler != "gcc" {
			return fmt.Errorf("a cell with C in it needs a C compiler, and there is no %s: install one, such as gcc, or name it in CC", name)
		}
	}
	return nil
}

// has reports whether arguments have a flag, with one - or two, and with a value or without.
func has(args []string, flag string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		a, _, _ = strings.Cut("-"+strings.TrimLeft(a, "-"), "=")
		return a == flag
	})
}

// covers reports whether flags of go build ask for coverage.
func covers(flags []string) bool { return has(flags, "-cover") || has(flags, "-covermode") }

// setFlags obeys %goflags flags; "" clears them, and nothing shows them.
func (e commands) setFlags(c rewrite.Command) *failure {
	args, err := splitArgs(c.Rest())
	if err != nil {
		return said("usage", err.Error())
	}
	if len(args) > 0 {
		e.k.flags = slices.DeleteFunc(args, func(a string) bool { return a == "" })
		e.Result.Next.Whole(covers(e.k.flags)) // from the next cell on
	}
	e.Stream("stdout", fmt.Sprintf("%%goflags=%q\n", e.k.flags))
	return nil
}
