//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// errSwept says that a folder was taken for a dead kernel's before it was locked.
var errSwept = errors.New("the folder was removed while it was being made")

// lockFolder takes the lock of a new folder; the system gives it back when the process ends, however it ends.
func lockFolder(dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errSwept
	}
	if err != nil {
		return nil, fmt.Errorf("lock of the folder: %w", err)
	}
	for { // another kernel may hold it for a moment, while it finds out whether to remove the folder
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock of the folder: %w", err)
	}
	mine, err := f.Stat()
	if err == nil {
		var there os.FileInfo
		if there, err = os.Stat(path); err == nil && os.SameFile(mine, there) {
			return f, nil
		}
	}
	f.Close()
	return nil, errSwept
}

// abandoned reports whether no living process holds the lock of a folder; then it is the caller's, who closes the
// file. A folder of another user, of which that can't be known, is not abandoned. Nor is one without a lock file,
// which is being made, or removed, until an hour has passed.
func abandoned(dir string) (lock *os.File, ok bool) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		i, err := os.Stat(dir)
		return nil, err == nil && time.Since(i.ModTime()) > time.Hour
	}
	if err != nil {
		return nil, false
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		f.Close()
		return nil, false
	}
	return f, true
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
