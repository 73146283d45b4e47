// Package child runs a program so that it can leave nothing behind: it knows the program's descendants, whatever
// process group they have moved to, and on Linux the program ends when we do.
package child

import (
	"crypto/rand"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// A Process is a running program and everything that it starts.
type Process struct {
	cmd    *exec.Cmd
	marker string // an environment entry inherited by all descendants
	exited <-chan struct{}
}

// markerPrefix begins the name of the variable by which descendants are recognized. The name differs for each process,
// so that a tree within a tree carries both marks.
const markerPrefix = "LECTERN_TREE_"

// Begin starts a command in a process group of its own, see [OwnGroup]. exited is closed when the command has ended;
// how it did is in its ProcessState.
func Begin(cmd *exec.Cmd) (exited <-chan struct{}, err error) {
	cmd.SysProcAttr = OwnGroup()
	started, ended := make(chan error), make(chan struct{})
	go func() {
		// On Linux the child gets a signal when the thread that started it ends, so this thread stays as long as the
		// child lives. It must not end then, since it may have started others.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
			close(ended)
		}
	}()
	return ended, <-started
}

// Start runs argv with the environment env in dir ("" is ours). What it writes to stdout and stderr goes to output;
// nil discards it. Its standard input is empty; it gets files from descriptor 3 on.
func Start(argv, env []string, dir string, output io.Writer, files ...*os.File) (*Process, error) {
	p := &Process{marker: markerPrefix + rand.Text() + "=1"}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = append(env[:len(env):len(env)], p.marker)
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = output, output
	p.cmd.ExtraFiles = files
	// A grandchild that keeps the pipe open must not keep Wait from returning.
	p.cmd.WaitDelay = time.Second
	var err error
	if p.exited, err = Begin(p.cmd); err != nil {
		return nil, err
	}
	return p, nil
}

// Pid returns the process ID.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// HasExited reports whether the process has ended.
func (p *Process) HasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// WaitExit waits at most d for the end of the process, and reports whether it came.
func (p *Process) WaitExit(d time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(d):
		return false
	}
}

// ExitCode returns the exit status once Exited is closed; -1 after a signal.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// State describes the end once Exited is closed: "exit status 2", "signal: killed".
func (p *Process) State() string { return p.cmd.ProcessState.String() }

// Terminate asks the process to end: SIGTERM, or on Windows its end at once.
func (p *Process) Terminate() error { return p.terminate() }

// Kill ends the process and what it started, and returns when the process itself is gone.
func (p *Process) Kill() {
	p.killTree()
	<-p.exited
	p.killTree() // for what the process started in its last moments
}
