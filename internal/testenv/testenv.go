// Package testenv says how tests adapt to where they run: with -short, as CI runs them with the race detector and on
// an emulated processor, where everything is many times slower, they try a tenth of their cases; on an emulated
// processor programs that tests have built are started through the emulator; and Go keeps the results of tests that
// start programs only while the whole checkout stays the same.
package testenv

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Cases returns n, or with -short a tenth of it, but at least one.
func Cases(n int) int {
	if testing.Short() {
		return max(n/10, 1)
	}
	return n
}

// Emulator is the environment variable that names the emulator, where tests were built for another processor than
// the machine's. Systems that know by themselves what to do with such programs need none.
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

// DependsOn makes Go run a package's tests again when a file in a folder has changed. Go keeps their results for as
// long as the files that the tests have read stay the same, but it doesn't see what other programs read: the go
// command, say, when a test builds a cell. A package whose tests start such programs has a test that calls this,
// most with the folder of the whole checkout.
func DependsOn(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != dir && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir // git's, or made by us
		}
		return err // WalkDir reads folders, and Go notes what is in the folders that a test has read
	})
	if err != nil {
		t.Fatal(err)
	}
}
