package tensor_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/keep"
)

// cellVar tells a child process which cell of its test it is to run.
const cellVar = "LECTERN_TEST_CELL"

// runCells runs functions as the notebook kernel runs cells: each in a process of its
// own, with values carried over by package keep, which a cell asks for with restore
// and define. It returns what each wrote to stderr. env is for all of them.
func runCells(t *testing.T, env []string, cells ...func(t *testing.T)) []string {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv(cellVar)); err == nil {
		cells[n](t)
		t.SkipNow() // what follows is for the process that runs all cells
	}
	dir, scratch := keepFolder(t), filepath.Join(t.TempDir(), "scratch")
	var notes []string
	for i := range cells {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(append(os.Environ(), cellVar+"="+strconv.Itoa(i), keep.DirVar+"="+dir, folderVar+"="+dir, scratchVar+"="+scratch), env...)
		var out, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("cell %d: %v\n%s%s", i, err, out.String(), stderr.String())
		}
		notes = append(notes, stderr.String())
	}
	return notes
}

// scratchVar names a file for what cells of a test tell later ones besides.
const scratchVar = "LECTERN_TEST_SCRATCH"

// folderVar names the folder for kept values to a cell: package keep takes its own
// variable out of the environment.
const folderVar = "LECTERN_TEST_FOLDER"

// keepFolder is a folder for kept values, in memory where that is to be had.
func keepFolder(t testing.TB) string {
	parent := t.TempDir()
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		if d, err := os.MkdirTemp("/dev/shm", "lectern-test-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(d) })
			return d
		}
	}
	return parent
}

// restore is what the first statement of a cell does with the variables that it
// uses, given as pairs of name and pointer; the cell defers what it returns.
func restore(pairs ...any) func() {
	n, _ := strconv.Atoi(os.Getenv(cellVar))
	return keep.Begin(n+1, pairs...)
}
