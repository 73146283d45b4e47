package jupyter

import (
	"io"
	"os/exec"
	"runtime"
	"time"
)

// process is a child and everything that it starts.
type process struct {
	cmd    *exec.Cmd
	marker string // an environment entry inherited by all descendants
	exited chan struct{}
	err    error // of Wait; valid once exited is closed
}

// markerName is the variable by which descendants of a kernel are recognised, whatever group or parent they have moved to.
const markerName = "LECTERN_KERNEL_TREE"

func startProcess(argv, env []string, dir string, output io.Writer) (*process, error) {
	p := &process{marker: markerName + "=" + NewID(), exited: make(chan struct{})}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = append(env, p.marker)
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = output, output
	// A grandchild that keeps the pipe open must not keep Wait from returning.
	p.cmd.WaitDelay = time.Second
	p.cmd.SysProcAttr = ownGroup()
	started := make(chan error)
	go func() {
		// On Linux the child gets a signal when the thread that started it ends, so this thread waits as long as the child lives.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *process) waitExit(d time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(d):
		return false
	}
}

// state describes the end: "exit status 2", "signal: killed".
func (p *process) state() string {
	if s := p.cmd.ProcessState; s != nil {
		return s.String()
	}
	return "unknown end"
}

// kill ends the process and what it started, and returns when the process itself is gone.
func (p *process) kill() {
	p.killTree()
	<-p.exited
	// What the process started in its last moments.
	p.killTree()
}
