package cpu

import "syscall"

// permitTiles asks Linux for the tiles' state, which all threads of the process then have; without permission, the
// first use of tiles ends the process. Kernels that don't know the request refuse it.
func permitTiles() bool {
	const requestPermission, tileData = 0x1023, 18 // ARCH_REQ_XCOMP_PERM, the state's number
	_, _, err := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return err == 0
}
