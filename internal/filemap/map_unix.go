//go:build unix

package filemap

import (
	"os"
	"syscall" // not x/sys/unix, which every notebook cell would have to link
)

func open(f *os.File, size int, mode Mode) (*Map, error) {
	protection, flags := syscall.PROT_READ, syscall.MAP_SHARED
	if mode != ReadOnly {
		protection |= syscall.PROT_WRITE
	}
	if mode == Private {
		flags = syscall.MAP_PRIVATE
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, size, protection, flags)
	if err != nil {
		return nil, err
	}
	return &Map{Data: data, free: func() error { return syscall.Munmap(data) }}, nil
}
