package cpu

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLeaveCore: the thread goes to another core, and may come back.
func TestLeaveCore(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	var only unix.CPUSet // so that nothing else moves it
	only.Set(core())
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		t.Fatal(err)
	}
	here := core()
	leaveCore(here) // there is no other
	if core() != here {
		t.Errorf("on core %d, where only %d is allowed", core(), here)
	}
	if err := unix.SchedSetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	moved := before.Count() < 2
	for range 20 { // in between the system may move it as it likes
		here = core()
		leaveCore(here)
		moved = moved || core() != here
	}
	if !moved {
		t.Errorf("still on core %d", here)
	}
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != before {
		t.Errorf("allowed cores are %v, were %v: %v", after, before, err)
	}
}
