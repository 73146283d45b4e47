// Package testenv says how tests adapt to where they run: with -short, as CI runs them with the race detector and on an
// emulated processor, where everything is many times slower, they try a tenth of their cases; and on an emulated
// processor programs that tests have built are started through the emulator.
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

// Emulator is the environment variable that names the emulator, where tests were built for another processor than the
// machine's. Systems that know by themselves what to do with such programs need none.
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
