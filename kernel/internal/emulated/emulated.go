// Package emulated starts programs that tests have built. If the tests were built for another processor than the
// machine's, an emulator runs them, and the programs, too: LECTERN_EMULATOR names it. Systems that know by themselves
// what to do with such programs need neither.
package emulated

import (
	"os"
	"os/exec"
)

// Variable is the environment variable that names the emulator.
const Variable = "LECTERN_EMULATOR"

// Argv is the command line that runs a program.
func Argv(argv ...string) []string {
	if e := os.Getenv(Variable); e != "" {
		return append([]string{e}, argv...)
	}
	return argv
}

// Command is exec.Command for such a program.
func Command(exe string, args ...string) *exec.Cmd {
	argv := Argv(append([]string{exe}, args...)...)
	return exec.Command(argv[0], argv[1:]...)
}
