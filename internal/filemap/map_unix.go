//go:build unix

package filemap

import (
	"os"

	"golang.org/x/sys/unix"
)

func open(f *os.File, size int, mode Mode, access Access) (*Map, error) {
	protection, flags := unix.PROT_READ, unix.MAP_SHARED
	if mode == Private {
		protection, flags = unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE
	}
	data, err := unix.Mmap(int(f.Fd()), 0, size, protection, flags)
	if err != nil {
		return nil, err
	}
	if access == Random {
		// Only a hint: without it, the mapping works and reads more than it must.
		_ = unix.Madvise(data, unix.MADV_RANDOM)
	}
	return &Map{Data: data, free: func() error { return unix.Munmap(data) }}, nil
}
