//go:build unix

package stdio

import (
	"os"
	"syscall"
)

func init() {
	path := os.Getenv(Var)
	if path == "" {
		return
	}
	os.Unsetenv(Var) // programs that the cell starts inherit the descriptor
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return // the kernel is not reading: GoNB's pipe serves
	}
	if syscall.SetNonblock(fd, false) == nil {
		duplicate(fd, 1)
	}
	syscall.Close(fd)
}
