//go:build unix

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/persist"
)

func TestMeasuringMagics(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	matches := func(code, want string) {
		t.Helper()
		outs, r := l.run(code)
		if r.Status != "ok" || !regexp.MustCompile(want).MatchString(flat(outs)) {
			t.Errorf("%s\ngives %s %s\nwant %s", code, r.Status, flat(outs), want)
		}
	}
	l.run("s := []int{3, 1, 2}")
	matches("%timeit slices.Max(s)", `^\[stdout\]%timeit: [\d.]+ (ns|µs|ms) ± [\d.e-]+ (ns|µs|ms) a call \(\d rounds of \d+\)\n$`)
	matches("%bench\nb := make([]byte, 1<<20)\nb[len(s)]++", `^\[stdout\]%bench: +\d+\s+[\d.]+ ns/op\s+10\d{5} B/op\s+1 allocs/op\n$`)
	matches("len(b)", "1048576") // what the statements define lives on
	outs, r := l.run("%timeit nosuch()")
	if r.Status == "ok" || !strings.Contains(flat(outs), "line 1, column 9") {
		t.Errorf("a mistake behind %%timeit: %s", flat(outs))
	}
}

func TestRaceMagic(t *testing.T) {
	t.Parallel()
	needRace(t)
	l := startLab(t)
	outs, r := l.run("%race\nn := 0\ndone := make(chan bool)\ngo func() { n++; done <- true }()\nn++\n<-done")
	if r.Status == "ok" || !strings.Contains(flat(outs), "DATA RACE") || !strings.Contains(flat(outs), "[error]race: the race detector found") {
		t.Errorf("a race: %s %s", r.Status, flat(outs))
	}
	if outs, r := l.run("%race x := 1\nx + 1"); r.Status != "ok" || flat(outs) != "[result]2" {
		t.Errorf("no race: %s %s", r.Status, flat(outs))
	}
}

// TestSavedState brings values and declarations from one kernel to another.
func TestSavedState(t *testing.T) {
	t.Parallel()
	bin, err := tools()
	need(t, err)
	dir := t.TempDir()
	t.Cleanup(func() {
		k := &kernel{started: dir, c: config{root: repoRoot(t)}}
		state, _ := k.stateDir(rewriteCommand("%save"))
		os.RemoveAll(strings.TrimSuffix(state, "/state"))
	})
	one := startLabIn(t, bin, dir, []string{offlineVar + "=1"})
	one.want("%load", "[error]")
	one.run("type point struct{ A, B int }\nfunc (p point) sum() int { return p.A + p.B }")
	one.run("p := point{1, 2}\nq := &p\nbig := make([]float64, 1_000_000)\nbig[7] = 3.5")
	one.run("count := 0\nnext := func() int { count++; return count }\nnext()")
	one.run("x := tensor.Of(1., 2).RequireGrad()\nloss := x.Square().Sum()")
	one.run("gone := 1")
	one.run("%rm gone")
	one.want("%save", "[stdout]saved ")
	one.want("%save other.name", "[stdout]saved ")
	one.want("%save ../outside", "[error]")
	one.run("p.A = 100") // after it was saved

	two := startLabIn(t, bin, dir, []string{offlineVar + "=1"})
	two.run("mine := \"of the new kernel\"")
	two.want("%load\nmine", "[error]")
	two.want("%load", "[stdout]loaded ")
	two.want("p.sum()", "[result]3")
	two.want("q.A = 5; p.A", "[result]5") // they share memory
	two.want("big[7]", "[result]3.5")
	two.want("next() + count", "[result]4")
	two.want("loss.Backward()\nx.Grad()", "2., 4.")
	two.want("gone", "[error]")
	two.want("mine", "[error]")
	two.want("p.sum() + len(big)", "[result]1000007")
}

// TestLoadedArrays puts each array into the folder that its values name, or leaves all as it was.
func TestLoadedArrays(t *testing.T) {
	saved, f := t.TempDir(), &folders{work: t.TempDir(), memory: t.TempDir()}
	writeFiles(t, saved, map[string]string{"a5": "in memory", "a6": "on disk", "g1": "", savedCells: "[]"})
	memory, disk := f.keep()[0], f.keep()[1]
	need(t, os.Mkdir(disk, 0o700))
	writeFiles(t, memory, map[string]string{"a1": "old", "lock": ""})
	writeFiles(t, disk, map[string]string{"a2": "old"})
	m := &persist.Manifest{Groups: map[int]persist.Group{1: {Arrays: []string{"0/a5", "1/a6"}}}}
	files := func(dir string) (names []string) {
		list, err := os.ReadDir(dir)
		need(t, err)
		for _, d := range list {
			names = append(names, d.Name())
		}
		return names
	}
	alone := &folders{work: f.work}
	if err := alone.bring(saved, m); err == nil || !slices.Equal(files(disk), []string{"a2"}) {
		t.Errorf("without a folder in memory: %v, and %q", err, files(disk))
	}
	need(t, f.bring(saved, m))
	if got := files(memory); !slices.Equal(got, []string{"a5", "g1", "lock"}) {
		t.Errorf("in memory: %q", got)
	}
	if got := files(disk); !slices.Equal(got, []string{"a6"}) {
		t.Errorf("on disk: %q", got)
	}
}

func rewriteCommand(name string) rewrite.Command { return rewrite.Command{Name: name} }
