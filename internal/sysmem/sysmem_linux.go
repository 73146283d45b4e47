package sysmem

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"syscall"
)

// total is the memory of the machine, swap included: it is also the most that the
// kernel grants a single request, unless it was told to grant everything.
var total = sync.OnceValue(func() int {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return unknown
	}
	defer f.Close()
	sum := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		var kib int
		if name == "MemTotal" || name == "SwapTotal" {
			if _, err := fmt.Sscan(rest, &kib); err != nil || kib > math.MaxInt>>10 {
				return unknown
			}
			sum += kib << 10
		}
	}
	if sum == 0 {
		return unknown
	}
	return sum
})

// granted asks the kernel for the address space, and gives it back: this reveals
// limits of the process, and a kernel that grants only what it has.
func granted(n int) bool {
	if n < total()/8 { // it would not be refused for its size alone
		return true
	}
	memory, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return false
	}
	return syscall.Munmap(memory) == nil
}

// unknown stands for a memory of unknown size: more than any machine has.
const unknown = 1 << 40
