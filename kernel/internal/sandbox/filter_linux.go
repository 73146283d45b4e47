package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denied are the calls that don't exist for the program: those that store something outside the files, folders and
// processes that we can count, and large parts of the system that no cell needs.
var denied = []uint32{
	unix.SYS_MEMFD_CREATE, memfdSecret, unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, ioUringSetup,
}

// Newer calls have the same number everywhere.
const (
	ioUringSetup = 425
	memfdSecret  = 447
)

// machines are the names that Linux's audit has for processors, and the numbers of mmap there. s390x isn't among them:
// its mmap takes its arguments in memory, where a filter can't see them.
var machines = map[string]struct{ arch, mmap uint32 }{
	"amd64": {unix.AUDIT_ARCH_X86_64, 9}, "arm64": {unix.AUDIT_ARCH_AARCH64, 222}, "riscv64": {unix.AUDIT_ARCH_RISCV64, 222},
	"ppc64le": {unix.AUDIT_ARCH_PPC64LE, 90}, "loong64": {unix.AUDIT_ARCH_LOONGARCH64, 222},
}

// What a filter answers, and where it finds the call.
const (
	allow    = 0x7fff0000
	noSystem = 0x00050000 | uint32(unix.ENOSYS)
	noRight  = 0x00050000 | uint32(unix.EPERM)
	atNumber = 0
	atArch   = 4
	atFlags  = 16 + 3*8   // the lower half of mmap's fourth argument
	x32      = 0x40000000 // amd64's second set of numbers begins here
)

// filter takes the denied calls away from this thread and what it becomes, for good. It also forbids mmap of shared
// memory without a file: the part that is no longer mapped stays as long as one page is mapped, and nothing says how
// much it is.
func filter() error {
	machine, ok := machines[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("a filter on system calls: none is written for %s", runtime.GOARCH)
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	program := []unix.SockFilter{
		load(atArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: machine.arch, Jt: 1},
		answer(noSystem), // the calls of 32-bit programs
		load(atNumber),
	}
	if runtime.GOARCH == "amd64" {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32, Jf: 1}, answer(noSystem))
	}
	for _, number := range denied {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: 1}, answer(noSystem))
	}
	const shared = unix.MAP_SHARED | unix.MAP_ANONYMOUS // MAP_SHARED_VALIDATE has the bit, too, and MAP_PRIVATE hasn't
	program = append(program,
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: machine.mmap, Jf: 4},
		load(atFlags),
		unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: shared},
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: shared, Jf: 1},
		answer(noRight),
		answer(allow))
	list := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&list)), 0, 0)
	runtime.KeepAlive(program)
	if errors.Is(err, unix.EINVAL) {
		err = errors.New("this Linux was built without them")
	}
	if err != nil {
		return fmt.Errorf("a filter on system calls: %w", err)
	}
	return nil
}
