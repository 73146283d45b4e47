//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/child"
	"github.com/lectern-go/lectern/kernel/internal/packages"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// A builder turns programs into executables by calling Go's compiler and linker itself: the go command would spend a
// third of a cell's time finding out again what we know.
type builder struct {
	dir      string
	packages *packages.Packages
	programs string       // a folder of programs that others have built and will need; "" for none
	built    []executable // the latest last
	number   int
}

// An executable is the result of building a program.
type executable struct {
	sum  [sha256.Size]byte
	path string
}

// keptExecutables is how many programs are remembered: a cell that is run again without a change need not be built.
const keptExecutables = 4

// A compileError is what the compiler or linker says.
type compileError struct {
	tool, said string
}

func (e *compileError) Error() string { return e.tool + ": " + e.said }

// first is the first mistake that it names, in our words if the place is in a cell.
func (e *compileError) first() string {
	for line := range strings.Lines(e.said) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if _, msg, ok := strings.Cut(line, ": "); ok {
			return msg
		}
		return line
	}
	return ""
}

// build returns the path of the executable.
func (b *builder) build(ctx context.Context, r *rewrite.Result) (string, error) {
	source := r.Program.Source()
	files, err := b.packages.Config(r.Imports)
	if err != nil {
		return "", err
	}
	tools, err := b.packages.Toolchain()
	if err != nil {
		return "", err
	}
	var cfg bytes.Buffer
	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		fmt.Fprintf(&cfg, "packagefile %s=%s\n", path, files[path])
	}
	h := sha256.New()
	h.Write(cfg.Bytes())
	fmt.Fprint(h, tools, source)
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	for i, x := range b.built {
		if x.sum == sum {
			b.built = append(slices.Delete(b.built, i, i+1), x)
			return x.path, nil
		}
	}
	kept := ""
	if b.programs != "" {
		h := sha256.New() // of what another kernel has in common with us; folders in the environment are not
		fmt.Fprint(h, cfg.String(), tools.Compile, tools.Link, tools.Lang, tools.GODEBUG, source)
		kept = filepath.Join(b.programs, hex.EncodeToString(h.Sum(nil)))
		if _, err := os.Stat(kept); err == nil {
			return kept, nil
		}
	}
	b.number++
	base := filepath.Join(b.dir, fmt.Sprint("cell", b.number))
	object, config, exe := base+".a", base+".cfg", base
	defer os.Remove(object)
	defer os.Remove(config)
	defer os.Remove(base + ".go")
	if err := os.WriteFile(base+".go", []byte(source), 0o600); err != nil {
		return "", err
	}
	if err := os.WriteFile(config, cfg.Bytes(), 0o600); err != nil {
		return "", err
	}
	env := append(slices.Clone(tools.Env), "GOGC=400") // most of these short runs need no collection at all
	compile := []string{"-o", object, "-p", "main", "-complete", "-pack", "-trimpath", b.dir + "=>", "-lang=" + tools.Lang, "-importcfg", config, base + ".go"}
	if err := b.tool(ctx, env, tools.Compile, compile...); err != nil {
		return "", err
	}
	fmt.Fprintf(&cfg, "packagefile main=%s\n", object)
	if err := os.WriteFile(config, cfg.Bytes(), 0o600); err != nil {
		return "", err
	}
	args := append([]string{"-o", exe, "-importcfg", config, "-buildmode=exe"}, cellenv.LinkFlags()...)
	if tools.GODEBUG != "" {
		args = append(args, "-X=runtime.godebugDefault="+tools.GODEBUG)
	}
	if err := b.tool(ctx, env, tools.Link, append(args, object)...); err != nil {
		return "", err
	}
	if kept != "" {
		keepProgram(exe, kept)
	}
	b.built = append(b.built, executable{sum, exe})
	if len(b.built) > keptExecutables {
		os.Remove(b.built[0].path)
		b.built = b.built[1:]
	}
	return exe, nil
}

// keepProgram puts a copy of a program where others find it, if it may.
func keepProgram(exe, kept string) {
	if os.Link(exe, kept) == nil {
		return
	}
	program, err := os.ReadFile(exe)
	if err == nil {
		atomicfile.Replace(kept, program, 0o755)
	}
}

// tool runs the compiler or the linker.
func (b *builder) tool(ctx context.Context, env []string, path string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = b.dir, env
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &compileError{filepath.Base(path), strings.TrimSpace(said.String())}
	}
	return err
}

// A process is a program, or a shell line, that runs for a cell.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// start runs a command in a process group of its own and hands on what it prints, in pieces that cut no character in
// two.
func start(cmd *exec.Cmd, stdout, stderr func(string)) (*process, error) {
	readers := make([]*os.File, 0, 2)
	writers := make([]*os.File, 0, 2)
	closeAll := func(files []*os.File) {
		for _, f := range files {
			f.Close()
		}
	}
	for range 2 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(readers)
			closeAll(writers)
			return nil, err
		}
		readers, writers = append(readers, r), append(writers, w)
	}
	cmd.Stdout, cmd.Stderr = writers[0], writers[1]
	p := &process{cmd: cmd, done: make(chan struct{})}
	exited, err := child.Begin(cmd)
	closeAll(writers)
	if err != nil {
		closeAll(readers)
		if _, gone := os.Stat(cmd.Dir); cmd.Dir != "" && errors.Is(gone, fs.ErrNotExist) { // the system's error names the program
			err = fmt.Errorf("the folder that cells run in is gone: %s; %%cd changes to another, as in %%cd ~", cmd.Dir)
		}
		return nil, err
	}
	whenOutOfMemory(cmd.Process.Pid, killedFirst)
	read := make(chan struct{}, 2)
	for i, print := range []func(string){stdout, stderr} {
		go func() {
			passOn(&pipe{File: readers[i]}, print)
			read <- struct{}{}
		}()
	}
	go func() {
		<-exited
		late := time.Now().Add(lateOutput)
		for _, r := range readers { // what the cell has left running may print on, unread
			r.SetReadDeadline(late)
		}
		<-read
		<-read
		closeAll(readers)
		close(p.done)
	}()
	return p, nil
}

const (
	// lateOutput is how long we listen to processes that a program has left behind.
	lateOutput = 200 * time.Millisecond
	// mostInPipe is the most bytes that an ordinary user's pipe can hold.
	mostInPipe = 1 << 20
)

// A pipe is read until its end or its deadline. Whatever is left in it at the deadline is still read: on a busy
// machine, a program can exit long before we have read all of its output.
type pipe struct {
	*os.File
	late int // how much may still be read; 0 before the deadline
}

// Read reads as a file does; after the deadline it doesn't wait.
func (p *pipe) Read(b []byte) (n int, err error) {
	if p.late == 0 {
		n, err = p.File.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		p.late = mostInPipe
		p.SetReadDeadline(time.Time{})
	}
	conn, err := p.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := conn.Read(func(fd uintptr) bool {
		for {
			if n, err = syscall.Read(int(fd), b); err != syscall.EINTR {
				return true // and don't wait for more
			}
		}
	})
	n = max(n, 0)
	p.late -= n
	switch {
	case failed != nil:
		return 0, failed
	case err != nil || n == 0 || p.late <= 0:
		return n, os.ErrDeadlineExceeded
	}
	return n, nil
}

// signal sends a signal to the process and to all that it has started.
func (p *process) signal(s syscall.Signal) { syscall.Kill(-p.cmd.Process.Pid, s) }

// interrupt asks the process to end; the second time it gives no choice.
func (p *process) interrupt(again bool) {
	if again {
		p.signal(syscall.SIGKILL)
	} else {
		p.signal(syscall.SIGINT)
	}
}
