//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// lockFolder takes the lock of a folder; the system gives it back when the process ends, however it ends.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of the working folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock of the working folder: %w", err)
	}
	return f, nil
}

// locked reports whether a living process holds the lock of a folder, or whether that can't be known, since it is another user's.
func locked(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "lock"))
	if errors.Is(err, fs.ErrPermission) {
		return true
	}
	if err != nil {
		// Without a lock file it is either being created or already gone.
		i, serr := os.Stat(dir)
		return serr == nil && recent(i)
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

// makePipe creates a named pipe.
func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }

// freeBytes is what can still be written to the disk of dir.
func freeBytes(dir string) int64 {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 8 << 30
	}
	return int64(st.Bavail) * int64(st.Bsize)
}
