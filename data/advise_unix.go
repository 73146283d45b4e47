//go:build unix

package data

import "golang.org/x/sys/unix"

// adviseRandom is only a hint: without it, the mapping works and reads more than it must.
func adviseRandom(mapped []byte) {
	if len(mapped) > 0 {
		_ = unix.Madvise(mapped, unix.MADV_RANDOM)
	}
}
