//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/mine"
)

// A student is somebody who works in a folder with a package of their own.
type student struct {
	*lab
	dir string
}

func newStudent(t *testing.T) *student {
	t.Helper()
	bin, err := tools()
	need(t, err)
	s := &student{dir: t.TempDir()}
	if err := mine.Make(s.dir, repoRoot(t)); err != nil {
		t.Fatal(err)
	}
	s.lab = startLabIn(t, bin, s.dir, []string{offlineVar + "=1"})
	return s
}

// does runs a cell that says something.
func (s *student) does(code string, want ...string) {
	s.t.Helper()
	outs, _ := s.run(code)
	all := flat(outs)
	for _, w := range want {
		if !strings.Contains(all, w) {
			s.t.Errorf("cell %q: got %q, which lacks %q", code, all, w)
		}
	}
}

func (s *student) path(file string) string { return filepath.Join(s.dir, "mine", file) }

func (s *student) text(file string) string {
	b, _ := os.ReadFile(s.path(file))
	return string(b)
}

// goTest runs what the student runs beside the notebooks.
func (s *student) goTest() (string, error) {
	cmd := exec.Command("go", "test", "./mine")
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const mergeCell = `func merge(ids []int, left, right, id int) []int {
	var out []int
	for i := 0; i < len(ids); i++ {
		if i+1 < len(ids) && ids[i] == left && ids[i+1] == right {
			out = append(out, id)
			i++
			continue
		}
		out = append(out, ids[i])
	}
	return out
}

lesson.Grade("01.4", merge)`

// TestMine: what lesson.Grade accepts is in the student's package, which cells import and the go command tests.
func TestMine(t *testing.T) {
	t.Parallel()
	s := newStudent(t)
	s.does(strings.Replace(mergeCell, "i++\n\t\t\tcontinue", "continue", 1), "The first case that fails")
	if s.text("merge.go") != "" {
		t.Error("a function without all points is in the package")
	}
	s.does("mine.Merge(nil, 1, 2, 3)", "undefined: mine.Merge", "exercise 01.4", `lesson.Use("01.4")`)
	s.does(mergeCell, "7 points of 7", "It is mine.Merge from now on, in mine/merge.go.")
	s.does("mine.Merge([]int{1, 2, 1, 2}, 1, 2, 9)", "{9, 9}")
	s.does(`func bytesOf(text string) (ids []int) {
	for _, b := range []byte(text) {
		ids = append(ids, int(b))
	}
	return ids
}`)
	s.does(`func encode(text string, merges [][2]int) []int {
	ids := bytesOf(text)
	for i, pair := range merges {
		ids = merge(ids, pair[0], pair[1], 256+i)
	}
	return ids
}

lesson.Grade("01.6", encode)`, "It is mine.Encode from now on")
	if text := s.text("encode.go"); !strings.Contains(text, "func bytesOf(") || !strings.Contains(text, "= Merge(ids") {
		t.Errorf("what Encode needs is not there as the package has it: %s", text)
	}
	if said, err := s.goTest(); err != nil {
		t.Errorf("go test ./mine: %v\n%s", err, said)
	}

	// Again the same, and another.
	if outs, _ := s.run(mergeCell); strings.Contains(flat(outs), "mine") {
		t.Errorf("the same once more: %s", flat(outs))
	}
	first := s.text("merge.go")
	s.does(strings.ReplaceAll(mergeCell, "out", "merged"), "mine.Merge is this version from now on", "mine/merge.go.bak")
	if s.text("merge.go.bak") != first || !strings.Contains(s.text("merge.go"), "merged") {
		t.Errorf("the earlier version is not kept: %s", s.text("merge.go.bak"))
	}
	byHand := s.text("merge.go") + "\n// A note.\n"
	if err := os.WriteFile(s.path("merge.go"), []byte(byHand), 0o644); err != nil {
		t.Fatal(err)
	}
	s.does(mergeCell, "mine/merge.go was changed by hand, so it stays")
	if s.text("merge.go") != byHand {
		t.Error("a change by hand is lost")
	}

	// What can't be part of a package.
	s.does("limit := 2.0")
	s.does(`func softmax(scores []float64) []float64 {
	shares, sum := make([]float64, len(scores)), 0.0
	for i, s := range scores {
		shares[i] = math.Exp(s - slices.Max(scores)) * limit
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

lesson.Grade("06.5", softmax)`, "✓", "does not become mine.Softmax", "the variable limit")
	if s.text("softmax.go") != "" {
		t.Error("a function that needs a variable is in the package")
	}

	// Ours, for what was skipped.
	s.does(`lesson.Use("00.5")`, "mine.GPUsFor is our solution of exercise 00.5", "mine.TrainingTime")
	s.does(`lesson.Use("01.4")`, "mine.Merge is there already")
	s.does("mine.GPUsFor(70e9, 15e12, 144)", "1024")
	if said, err := s.goTest(); err != nil {
		t.Errorf("go test ./mine, with ours: %v\n%s", err, said)
	}
}

// TestNotMine: without a package beside the notebook, as where a class is graded, nothing is written.
func TestNotMine(t *testing.T) {
	t.Parallel()
	bin, err := tools()
	need(t, err)
	dir := t.TempDir()
	l := startLabIn(t, bin, dir, []string{offlineVar + "=1"})
	if outs, _ := l.run(mergeCell); strings.Contains(flat(outs), "mine") || !strings.Contains(flat(outs), "7 points of 7") {
		t.Errorf("got %s", flat(outs))
	}
	if outs, _ := l.run(`lesson.Use("01.4")`); !strings.Contains(flat(outs), "There is no package mine beside this notebook") {
		t.Errorf("got %s", flat(outs))
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("files were written: %v %v", list, err)
	}
}

// TestMineFails: a panic in the student's package is told with the place in its file.
func TestMineFails(t *testing.T) {
	t.Parallel()
	s := newStudent(t)
	s.does(mergeCell, "It is mine.Merge")
	text := strings.Replace(s.text("merge.go"), "var out []int", "var out []int\n\t_ = ids[99]", 1)
	if err := os.WriteFile(s.path("merge.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s.does("mine.Merge([]int{1}, 1, 2, 3)", "index out of range [99]", "merge.go:8")
	if err := os.WriteFile(s.path("merge.go"), []byte(text+"var n int = \"many\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.does("mine.Merge([]int{1}, 1, 2, 3)", "merge.go:", "cannot use")
	s.does("1 + 1", "2") // what needs no package goes on
}
