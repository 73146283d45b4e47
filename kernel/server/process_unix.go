//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

func terminate(p *os.Process) { p.Signal(syscall.SIGTERM) }

// killGroup ends all processes of a group.
func killGroup(pgid int) { syscall.Kill(-pgid, syscall.SIGKILL) }

// endSignals ask the kernel to end.
var endSignals = []os.Signal{syscall.SIGTERM, syscall.SIGHUP}

// ownGroupLeader reports whether our process group is ours alone.
func ownGroupLeader() bool { return syscall.Getpgrp() == os.Getpid() }

// ownSession detaches the watcher from the terminal, and from signals to our group.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// ignoreSignals keeps a terminal's or a server's signals from ending the watcher before its work.
func ignoreSignals() { signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) }
