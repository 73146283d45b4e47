//go:build unix

package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

func init() {
	ends["signal"] = func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGUSR1)
		other(nil, "to signal", fmt.Sprint(os.Getpid()))
		<-c
	}
}

func poke(pid string) {
	n, _ := strconv.Atoi(pid)
	syscall.Kill(n, syscall.SIGUSR1)
}
