//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/inband"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/keep"
	"github.com/lectern-go/lectern/kernel/show"
	"github.com/lectern-go/lectern/kernel/stdio"
)

// toolEnv is the environment in which cells are compiled: with path before the other folders of programs, and tmp for temporary files, which an
// end by force would leave behind elsewhere.
func toolEnv(env []string, path, tmp string) []string {
	var out []string
	for _, kv := range cellenv.Offline(env) {
		if k, _, _ := strings.Cut(kv, "="); k != "PATH" && k != "TMPDIR" {
			out = append(out, kv)
		}
	}
	return append(out, "TMPDIR="+tmp, "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// child is GoNB.
type child struct {
	cmd     *exec.Cmd
	sockets *jupyter.Sockets
	exited  chan struct{}
	counter int // its count of cells
}

// startGoNB starts GoNB in a process group of its own. token is what its cells' messages carry.
func startGoNB(c config, f *folders, token string) (*child, error) {
	// GoNB starts a gopls of its own if it finds one. The front has a better one, so GoNB sees goimports alone.
	if err := os.Symlink(filepath.Join(c.bin, "goimports"), filepath.Join(f.path(), "goimports")); err != nil {
		return nil, fmt.Errorf("tools for GoNB: %w", err)
	}
	info, err := jupyter.NewConnectionInfo()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(f.work, "kernel-"+jupyter.NewID()+".json") // GoNB looks for an ID in the name
	if err := info.WriteFile(file); err != nil {
		return nil, err
	}
	k := &child{exited: make(chan struct{})}
	k.cmd = exec.Command(filepath.Join(c.bin, "gonb"), "-kernel="+file, "-go_work="+strings.Join(modules(c), ","), "-raw_error=true",
		"-logtostderr=false", "-stderrthreshold=3", "-log_file="+os.DevNull)
	k.cmd.Env = append(toolEnv(os.Environ(), f.path(), f.tmp()),
		inband.TokenVar+"="+token,
		show.InputVar+"="+f.input(),
		stdio.Var+"="+f.output(),
		stdio.CollectVar+"="+os.Getenv("GOGC"),
		"GOGC="+stdio.Collect,
		keep.DirVar+"="+strings.Join(f.keep(), string(os.PathListSeparator)),
		keep.LimitVar+"="+keepLimit(f.work),
	)
	k.cmd.Stdout, k.cmd.Stderr = io.Discard, os.Stderr
	k.cmd.SysProcAttr = ownGroup()
	k.cmd.WaitDelay = time.Second
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // where a parent's death is signalled, it is the death of this thread
		err := k.cmd.Start()
		started <- err
		if err == nil {
			k.cmd.Wait()
			close(k.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start gonb: %w", err)
	}
	if k.sockets, err = dial(info, k); err != nil {
		k.kill()
		return nil, fmt.Errorf("gonb: %w", err)
	}
	return k, nil
}

// stop ends GoNB and everything that it started.
func (k *child) stop() {
	terminate(k.cmd.Process)
	select {
	case <-k.exited:
	case <-time.After(1500 * time.Millisecond):
	}
	k.kill()
}

// kill ends GoNB and everything that it started, at once.
func (k *child) kill() {
	killGroup(k.cmd.Process.Pid)
	<-k.exited
	reapOrphans()
}
