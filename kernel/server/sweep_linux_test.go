package main

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// On a machine with many users a kernel finds the folders of others. It can't look into them, and
// trying to remove them would only take time.
func TestSweepLeavesOtherUsers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), folderPrefix+"other")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(dir, old, old); err != nil {
		t.Fatal(err)
	}
	lock, ok := abandoned(dir)
	if !ok {
		t.Fatal("nobody holds the lock")
	}
	lock.Close()
	if os.Geteuid() == 0 { // root may look everywhere; this thread becomes another user for files
		runtime.LockOSThread() // never unlocked: the thread ends with the test
		if err := syscall.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
		defer syscall.Setfsuid(0)
	} else {
		if err := os.Chmod(dir, 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o700)
	}
	if _, ok := abandoned(dir); ok {
		t.Error("a folder that can't be looked into counts as abandoned")
	}
}
