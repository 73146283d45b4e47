package cpu

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// core returns the number of the core that runs this code, -1 if that can't be told.
func core() int {
	var number uint32
	if _, _, err := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&number)), 0, 0); err != 0 {
		return -1
	}
	return int(number)
}

// leaveCore moves this thread to another core, if the process may use one, and then lets the system schedule it as
// before.
func leaveCore(number int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() < 2 {
		return
	}
	others := all
	others.Clear(number)
	if unix.SchedSetaffinity(0, &others) == nil {
		unix.SchedSetaffinity(0, &all)
	}
}
