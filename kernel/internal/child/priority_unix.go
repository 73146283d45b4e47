//go:build unix

package child

import "syscall"

// LowerPriority gives a process, and what it starts from then on, only the time that others leave. Linux has a priority
// for each thread: call it before the process has more than one, right after its start.
func LowerPriority(pid int) { syscall.Setpriority(syscall.PRIO_PROCESS, pid, 10) }
