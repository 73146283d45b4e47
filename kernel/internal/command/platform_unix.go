//go:build !windows

package command

import (
	"os"
	"syscall"
)

const (
	exeSuffix = ""
	venvBin   = "bin"
)

// tryLock locks an open file until it is closed, or its process ends, unless another process has locked it.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
