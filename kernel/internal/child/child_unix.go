//go:build unix && !linux

package child

import "syscall"

// OwnGroup puts a process into a group of its own.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Interrupt signals the whole group, as a terminal would.
func (p *Process) Interrupt() error { return syscall.Kill(-p.Pid(), syscall.SIGINT) }

func (p *Process) terminate() error { return p.cmd.Process.Signal(syscall.SIGTERM) }

func (p *Process) killTree() { syscall.Kill(-p.Pid(), syscall.SIGKILL) }

// ReadsStdin can't tell on this system; the time limit ends code that reads.
func (p *Process) ReadsStdin() bool { return false }
