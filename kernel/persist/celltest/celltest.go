// Package celltest runs functions in tests as the notebook kernel runs cells: each in a process of its own, with
// values carried over by package kernel/persist.
//
//	celltest.Run(t, func(t *testing.T) {
//		defer celltest.Begin()()
//		x := 1
//		persist.Def("x", &x)
//	}, func(t *testing.T) {
//		var x int
//		defer celltest.Begin("x", &x)()
//		...
//	})
package celltest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/kernel/persist"
)

// What a process that runs a cell is told.
const (
	cellVar    = "LECTERN_TEST_CELL"
	folderVar  = "LECTERN_TEST_FOLDER" // package persist takes its own variable out of the environment
	scratchVar = "LECTERN_TEST_SCRATCH"
)

// Run runs cells one after the other, and returns what each wrote to stderr. A cell that fails ends the test. Run must
// be the first thing that a test or benchmark does, except for what each process needs, and it must be called once:
// the process of a cell calls the same function, and Run does not return there. Subtests have no cells.
func Run[T testing.TB](t T, cells ...func(t T)) (stderr []string) {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv(cellVar)); err == nil {
		cells[n](t)
		t.SkipNow() // what follows is for the process that runs all cells; a failure stays one
	}
	folder, scratch := newFolder(t), filepath.Join(t.TempDir(), "scratch")
	args := []string{"-test.run=^" + t.Name() + "$"}
	if strings.HasPrefix(t.Name(), "Benchmark") {
		args = []string{"-test.run=^$", "-test.bench=^" + t.Name() + "$", "-test.benchtime=1x"}
	}
	for i := range cells {
		cmd := testenv.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), cellVar+"="+strconv.Itoa(i), folderVar+"="+folder, scratchVar+"="+scratch, persist.DirVar+"="+folder)
		var out, notes strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &notes
		if err := cmd.Run(); err != nil {
			t.Fatalf("cell %d: %v\n%s%s\nearlier cells noted %q", i, err, out.String(), notes.String(), stderr)
		}
		stderr = append(stderr, notes.String())
	}
	return stderr
}

// newFolder is a folder for kept values, in memory where possible.
func newFolder(t testing.TB) string {
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		if d, err := os.MkdirTemp("/dev/shm", "lectern-test-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(d) })
			return d
		}
	}
	return t.TempDir()
}

// Begin restores variables, given as pairs of name and pointer, as the first statement of a cell does. The cell defers
// what it returns, which keeps them and those that persist.Def names.
func Begin(namesAndPointers ...any) (end func()) {
	n, _ := strconv.Atoi(os.Getenv(cellVar))
	return persist.Begin(n+1, namesAndPointers...)
}

// Folder returns the folder of the kept values, in a cell.
func Folder() string { return os.Getenv(folderVar) }

// Tell appends a line to a file, which later cells read with Told.
func Tell(t testing.TB, line string) {
	f, err := os.OpenFile(os.Getenv(scratchVar), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		t.Fatal(err)
	}
}

// Told returns the lines that earlier cells told.
func Told(t testing.TB) []string {
	b, err := os.ReadFile(os.Getenv(scratchVar))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}
