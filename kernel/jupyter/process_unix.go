//go:build unix && !linux

package jupyter

import "syscall"

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// interrupt signals the whole group, as a terminal would.
func (p *process) interrupt() error { return syscall.Kill(-p.pid(), syscall.SIGINT) }

func (p *process) killTree() { syscall.Kill(-p.pid(), syscall.SIGKILL) }

// readsStdin cannot be told on this system; the time limit ends such code.
func (p *process) readsStdin() bool { return false }
