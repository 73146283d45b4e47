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
	case "families":
		err := exec.Command("/usr/bin/unshare", "-Ur", "true").Run()
		say(err)
	case "mount":
		say(syscall.Mount("tmpfs", "/tmp", "tmpfs", 0, ""))
	case "leave":
		say(exec.Command("/bin/sleep", "1000").Start())
	}
}
