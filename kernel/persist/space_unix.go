//go:build unix

package persist

import "syscall"

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
