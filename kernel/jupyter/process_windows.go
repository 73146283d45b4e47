package jupyter

import (
	"errors"
	"os/exec"
	"strconv"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interrupt is not possible by signal on Windows: kernelspecs for it use interrupt_mode "message".
func (p *process) interrupt() error {
	return errors.New(`jupyter: a kernel cannot be interrupted by a signal on Windows; its kernelspec needs "interrupt_mode": "message"`)
}

// killTree lets the system's taskkill find the descendants, and falls back to the process alone.
func (p *process) killTree() {
	if p.hasExited() {
		return
	}
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.pid())).Run() != nil {
		p.cmd.Process.Kill()
	}
}

// readsStdin cannot be told on this system; the time limit ends such code.
func (p *process) readsStdin() bool { return false }
