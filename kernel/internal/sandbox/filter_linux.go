package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denied are the calls that the system doesn't have for the program: those that store something which belongs to no
// file, folder or process that we could count, and large parts of the system that no cell needs.
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

// machines are the names that Linux's audit has for processors.
var machines = map[string]uint32{
	"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64, "ppc64le": unix.AUDIT_ARCH_PPC64LE,
	"loong64": unix.AUDIT_ARCH_LOONGARCH64, "s390x": unix.AUDIT_ARCH_S390X,
}

// What a filter answers, and where it finds the call.
const (
	allow    = 0x7fff0000
	noSystem = 0x00050000 | uint32(unix.ENOSYS)
	atNumber = 0
	atArch   = 4
	x32      = 0x40000000 // amd64's second set of numbers begins here
)

// filter takes the denied calls away from this thread and what it becomes, for good.
func filter() error {
	arch, ok := machines[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("a filter on system calls: none is written for %s", runtime.GOARCH)
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	program := []unix.SockFilter{
		load(atArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: arch, Jt: 1},
		answer(noSystem), // the calls of 32-bit programs
		load(atNumber),
	}
	if runtime.GOARCH == "amd64" {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32, Jf: 1}, answer(noSystem))
	}
	for _, number := range denied {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: 1}, answer(noSystem))
	}
	program = append(program, answer(allow))
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
