//go:build unix

package persist

import (
	"os"
	"syscall"
)

// mapFile maps a whole file so that writes to the memory are writes to the file.
func mapFile(path string, _ int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return syscall.Mmap(int(f.Fd()), 0, int(st.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// shared says that mapped memory and file are one.
const shared = true

// free returns the bytes that can still be written to the disk of dir.
func free(dir string) int64 {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 1 << 62
	}
	return int64(st.Bavail) * int64(st.Bsize)
}
