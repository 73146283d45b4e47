package jupyter_test

import (
	"runtime"
	"syscall"
)

// dialAs connects to a socket's file as another user would.
func dialAs(uid int, path string) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and its identity with it
		if err := syscall.Setfsuid(uid); err != nil {
			result <- err
			return
		}
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			result <- err
			return
		}
		defer syscall.Close(fd)
		result <- syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
	}()
	return <-result
}
