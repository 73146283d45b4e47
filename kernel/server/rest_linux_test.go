package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/race"
)

// largestRest is what a kernel may take at rest, in KB, with the process that watches over it: there are thirty of them
// in a class.
const largestRest = 40_000

// TestRest runs cells with much in them, asks for completions, and looks at the memory that is left.
func TestRest(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("the race detector has memory of its own")
	}
	bin, err := tools()
	need(t, err)
	mark := fmt.Sprint("LECTERN_TEST_REST=", os.Getpid())
	l := startLabIn(t, bin, t.TempDir(), []string{offlineVar + "=1", mark})
	l.run("import \"github.com/lectern-go/lectern/plots\"\n\nx := tensor.Arange(1_000_000)\nx.Sum()\n_ = plots.Lines")
	for i := range 10 {
		if outs, _ := l.run(fmt.Sprintf("y%d := x.Mul(x)\nfmt.Println(y%d.Shape())", i, i)); !strings.Contains(flat(outs), "1000000") {
			t.Fatal(flat(outs))
		}
		if m, _ := l.complete("strings.ToU|"); !contains(m, "ToUpper") {
			t.Fatal(m)
		}
	}
	sum := 0
	for _, process := range processesOf(mark) {
		pid, command, _ := strings.Cut(process, " ")
		if !strings.Contains(command, "lectern-kernel ") {
			continue // of a machine with much else to do the go command may still look for packages
		}
		b, err := os.ReadFile(fmt.Sprintf("/proc/%s/smaps_rollup", pid))
		if err != nil {
			continue // a cell's, that has ended
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
				kb, _ := strconv.Atoi(f[1])
				t.Logf("%d KB: %s", kb, process)
				sum += kb
			}
		}
	}
	if sum == 0 || sum > largestRest {
		t.Errorf("the kernel takes %d KB at rest, at most %d are wanted", sum, largestRest)
	}
}

// When memory runs out, the system ends the cell, not the kernel. It is told so while the cell runs already.
func TestOutOfMemoryEndsTheCellFirst(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for _, code := range []string{
		"for {\n\tb, err := os.ReadFile(\"/proc/self/oom_score_adj\")\n\tif string(b) == \"500\\n\" || err != nil {\n\t\tfmt.Println(\"it is\", string(b), err)\n\t\tbreak\n\t}\n" +
			"\ttime.Sleep(10 * time.Millisecond)\n}",
		"!until grep -q '^500$' /proc/self/oom_score_adj; do sleep 0.1; done; echo it is 500",
	} {
		if outs, _ := l.run(code); !strings.Contains(flat(outs), "it is 500") {
			t.Errorf("%s: the system adds %q", code, flat(outs))
		}
	}
}
