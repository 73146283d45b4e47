package child

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// OwnGroup puts a process into a group of its own and also makes it end when we do, even by SIGKILL; SIGTERM gives it
// the chance to end its own children.
func OwnGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// Interrupt signals the whole group, as a terminal would.
func (p *Process) Interrupt() error { return syscall.Kill(-p.Pid(), syscall.SIGINT) }

func (p *Process) terminate() error { return p.cmd.Process.Signal(syscall.SIGTERM) }

// killTree kills the group and every process that carries the marker. A helper may have a group of its own
// and, once GoNB is gone, no parent of ours; only the environment it was started with still tells whose it is.
func (p *Process) killTree() {
	syscall.Kill(-p.Pid(), syscall.SIGKILL)
	for range 3 { // again, for what was born while we looked
		pids := p.tree()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// tree lists the living processes that carry the marker.
func (p *Process) tree() []int {
	var pids []int
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ")) // empty for the dead and for other users'
		if err == nil && hasEntry(env, p.marker) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func hasEntry(environ []byte, entry string) bool {
	for len(environ) > 0 {
		var kv []byte
		kv, environ, _ = bytes.Cut(environ, []byte{0})
		if string(kv) == entry {
			return true
		}
	}
	return false
}

// ReadsStdin reports whether a cell's program is inside read(0, …) on a pipe that no one writes to.
// GoNB gives each cell such a pipe, so the read never returns. Only programs that GoNB built are looked at:
// the tools beside them read their own stdin by design.
func (p *Process) ReadsStdin() bool {
	for _, pid := range p.tree() {
		dir := filepath.Join("/proc", strconv.Itoa(pid))
		exe, err := os.Readlink(filepath.Join(dir, "exe"))
		if err != nil || !strings.HasPrefix(filepath.Base(exe), "gonb_") {
			continue
		}
		if in, err := os.Readlink(filepath.Join(dir, "fd", "0")); err != nil || !strings.HasPrefix(in, "pipe:") {
			continue
		}
		threads, _ := filepath.Glob(filepath.Join(dir, "task", "*", "syscall"))
		for _, t := range threads {
			b, err := os.ReadFile(t)
			if err != nil {
				continue
			}
			f := strings.Fields(string(b)) // number, six arguments in hexadecimal, stack and instruction pointers
			if len(f) > 1 && f[0] == strconv.Itoa(syscall.SYS_READ) && f[1] == "0x0" {
				return true
			}
		}
	}
	return false
}
