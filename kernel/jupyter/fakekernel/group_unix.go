//go:build unix

package fakekernel

import "syscall"

func newGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
