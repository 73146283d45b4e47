// Command bad tries something that a sandbox should refuse, and says how it went. It is a program of its own, as one
// with the race detector takes more memory at its start than the sandbox allows.
package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

func main() {
	what, arg := os.Args[1], os.Args[2]
	say := func(err error) {
		if err == nil {
			fmt.Println("DONE")
		} else {
			fmt.Println("refused:", err)
		}
	}
	switch what {
	case "read":
		_, err := os.ReadFile(arg)
		say(err)
	case "write":
		say(os.WriteFile(arg, []byte("x"), 0o644))
	case "dial":
		c, err := net.DialTimeout("tcp", arg, time.Second)
		if err == nil {
			c.Close()
		}
		say(err)
	case "kill":
		say(syscall.Kill(-1, 0)) // whoever there is but ourselves
	case "fork":
		var err error
		for range 500 {
			if err = exec.Command("/bin/sleep", "20").Start(); err != nil {
				break
			}
		}
		say(err)
	case "fill":
		var err error
		mb := make([]byte, 1<<20)
		for i := 0; i < 100 && err == nil; i++ {
			err = os.WriteFile(filepath.Join(arg, fmt.Sprint(i)), mb, 0o644)
		}
		if err == nil {
			time.Sleep(20 * time.Second) // somebody should look
		}
		say(err)
	case "memory":
		var all [][]byte
		n, _ := strconv.Atoi(arg)
		for range n / 10 {
			b := make([]byte, 10<<20)
			for i := range b {
				b[i] = 1
			}
			all = append(all, b)
		}
		fmt.Println("DONE", len(all))
		time.Sleep(10 * time.Second)
	case "memories":
		for range 4 {
			exec.Command(os.Args[0], "memory", arg).Start()
		}
		time.Sleep(20 * time.Second)
		fmt.Println("DONE")
	case "shared": // memory that processes can share, most of which nobody maps any more
		n, _ := strconv.Atoi(arg)
		for range n / 60 {
			b, err := syscall.Mmap(-1, 0, 60<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|syscall.MAP_ANON)
			if err != nil {
				say(err)
				return
			}
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			syscall.Syscall(syscall.SYS_MUNMAP, uintptr(unsafe.Pointer(&b[4096])), uintptr(len(b)-4096), 0)
		}
		time.Sleep(20 * time.Second)
		fmt.Println("DONE")
	case "tables": // page tables for nothing: each page that is read is the same one, of zeros
		n, _ := strconv.Atoi(arg)
		b, err := syscall.Mmap(-1, 0, n<<29, syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
		if err != nil {
			say(err)
			return
		}
		sum := 0
		for i := 0; i < len(b); i += 2 << 20 {
			sum += int(b[i])
		}
		time.Sleep(20 * time.Second)
		fmt.Println("DONE", sum)
	case "call": // a system call by its number, which has no file, address or key to take
		n, _ := strconv.Atoi(arg)
		if _, _, err := syscall.Syscall6(uintptr(n), 0, 0, 0, 0, 0, 0); err == syscall.ENOSYS {
			say(err)
		} else {
			fmt.Println("DONE", err)
		}
	case "sockets": // more than one process may have files
		if arg != "" {
			exec.Command(os.Args[0], what, "").Start()
		}
		for range 400 {
			fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			if err != nil {
				say(err)
				return
			}
			syscall.Write(fds[0], make([]byte, 1000))
		}
		time.Sleep(20 * time.Second)
		fmt.Println("DONE")
	case "empty":
		b, err := os.ReadFile(arg)
		if os.IsNotExist(err) {
			err = nil
		} else if err == nil && len(b) > 0 {
			err = fmt.Errorf("it has %q", b)
		}
		say(err)
	case "families":
		err := exec.Command("/usr/bin/unshare", "-Ur", "true").Run()
		say(err)
	case "mount":
		say(syscall.Mount("tmpfs", "/tmp", "tmpfs", 0, ""))
	case "leave":
		say(exec.Command("/bin/sleep", "1000").Start())
	}
}
