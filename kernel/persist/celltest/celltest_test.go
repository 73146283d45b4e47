package celltest_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/lectern-go/lectern/kernel/persist"
	"github.com/lectern-go/lectern/kernel/persist/celltest"
)

func TestRun(t *testing.T) {
	notes := celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		x := 1
		persist.Def("x", &x)
		celltest.Tell(t, fmt.Sprint(os.Getpid()))
		fmt.Fprint(os.Stderr, "heard")
	}, func(t *testing.T) {
		var x int
		defer celltest.Begin("x", &x)()
		if pid := celltest.Told(t)[0]; x != 1 || pid == fmt.Sprint(os.Getpid()) {
			t.Errorf("x is %d in process %d, it was made in %s", x, os.Getpid(), pid)
		}
		if entries, err := os.ReadDir(celltest.Folder()); err != nil || len(entries) == 0 {
			t.Errorf("%d files, %v", len(entries), err)
		}
	})
	if len(notes) != 2 || notes[0] != "heard" || notes[1] != "" {
		t.Errorf("stderr %q", notes)
	}
}
