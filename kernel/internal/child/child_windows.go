package child

import (
	"errors"
	"os/exec"
	"strconv"
	"syscall"
)

// OwnGroup puts a process into a group of its own.
func OwnGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// LowerPriority does nothing on this system.
func LowerPriority(int) {}

// Interrupt is not possible by signal on Windows: kernelspecs for it use interrupt_mode "message".
func (p *Process) Interrupt() error {
	return errors.New(`child: a process cannot be interrupted on Windows`)
}

func (p *Process) terminate() error { return p.cmd.Process.Kill() }

// killTree lets the system's taskkill find the descendants, and falls back to the process alone.
func (p *Process) killTree() {
	if p.HasExited() {
		return
	}
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid())).Run() != nil {
		p.cmd.Process.Kill()
	}
}

// ReadsStdin can't tell on this system; the time limit ends code that reads.
func (p *Process) ReadsStdin() bool { return false }
