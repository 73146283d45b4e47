// Package testenv says how tests adapt to where they run. With -short, they try a tenth of their cases: CI uses it with
// the race detector and on an emulated processor, where everything is many times slower. And on an emulated processor,
// programs that tests have built are started through the emulator.
package testenv

import (
	"os"
	"os/exec"
	"testing"
)

// Cases returns n, or with -short a tenth of it, but at least one.
func Cases(n int) int {
	if testing.Short() {
		return max(n/10, 1)
	}
	return n
}

// Emulator is the environment variable that names the emulator, if tests were built for a processor other than the
// machine's. Systems that can start such programs by themselves need none.
const Emulator = "LECTERN_EMULATOR"

// Argv is the command line that runs a program.
func Argv(argv ...string) []string {
	if e := os.Getenv(Emulator); e != "" {
		return append([]string{e}, argv...)
	}
	return argv
}

// Command is exec.Command for such a program.
func Command(exe string, args ...string) *exec.Cmd {
	argv := Argv(append([]string{exe}, args...)...)
	return exec.Command(argv[0], argv[1:]...)
}
