package peak

import "golang.org/x/sys/unix"

// tilesAllowed asks the system for permission to use AMX tiles, which then applies to
// all threads of the process.
func tilesAllowed() bool {
	const requestPermission, tileData = 0x1023, 18
	_, _, errno := unix.RawSyscall(unix.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return errno == 0
}
