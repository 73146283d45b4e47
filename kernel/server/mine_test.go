//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/mine"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

// A student works in a folder with a package of their own.
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

lesson.Grade("06.5", softmax)`, "✓", "can't become mine.Softmax", "the variable limit")
	if s.text("softmax.go") != "" {
		t.Error("a function that needs a variable is in the package")
	}

	// Ours, for what was skipped.
	s.does(`lesson.Use("00.5")`, "mine.GPUsFor is our solution to exercise 00.5", "mine.TrainingTime")
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

	// A package that no Go here can build keeps no cell from running.
	dir = t.TempDir()
	if err := mine.Make(dir, repoRoot(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine", "go.mod"), []byte("module mine\n\ngo 1.999.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l = startLabIn(t, bin, dir, []string{offlineVar + "=1"})
	if outs, _ := l.run("1 + 1"); flat(outs) != "[result]2" {
		t.Errorf("beside a package for a newer Go: %s", flat(outs))
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

// TestMineFilled: a student who solves the exercises has a package that passes its tests, and the last lesson trains a
// model with it. LECTERN_LONG=1 takes all exercises and every cell of that lesson, not those alone that it needs.
func TestMineFilled(t *testing.T) {
	t.Parallel()
	s := newStudent(t)
	lessons, err := filepath.Glob(filepath.Join(repoRoot(t), "notebooks", "*.ipynb"))
	if err != nil || len(lessons) == 0 {
		t.Fatal("there are no lessons", err)
	}
	capstone := readNotebook(t, lessons[len(lessons)-1])
	used := usedOfMine(capstone)
	read := make([]*notebook.Notebook, len(lessons))
	for i, path := range lessons {
		read[i] = readNotebook(t, path)
	}
	needed := func(n *notebook.Notebook) bool {
		return slices.ContainsFunc(n.Cells, func(c *notebook.Cell) bool { k := solves(c); return k != nil && used[k.Name] })
	}
	for before := 0; before < len(used); { // a solution may call those of earlier lessons
		before = len(used)
		for _, n := range read {
			if needed(n) {
				maps.Copy(used, usedOfMine(n))
			}
		}
	}

	for i, path := range lessons {
		s.run("%reset")
		n, last := read[i], i == len(lessons)-1
		for _, c := range n.Cells {
			solved, declares := solves(c), strings.HasPrefix(c.Source, "func ") || strings.HasPrefix(c.Source, "// ") && strings.Contains(c.Source, "\nfunc ")
			switch {
			case c.Type != "code" || c.HasTag("exercise") || !last && !declares && solved == nil:
			case solved != nil && (long() || last || used[solved.Name]):
				s.does(c.Source, "✓", "mine."+solved.Name)
			case last && c.HasTag("measured") && !long():
				s.does("half := newRun(3)\nlosses := half.train(training, 60)\nlosses[59] < losses[0]", "true")
				last = false // the cells after it need the measured values
			case last:
				if outs, r := s.run(c.Source); r.Status != "ok" {
					t.Fatalf("%s: %s\n%s", filepath.Base(path), c.Source, flat(outs))
				}
			case long() || needed(n):
				s.run(c.Source) // what a solution may need; where it needs a variable it fails, and so would the solution
			}
		}
	}
	for name := range used {
		if s.text(strings.ToLower(name)+".go") == "" {
			t.Errorf("a lesson calls mine.%s, which no exercise gives", name)
		}
	}
	if said, err := s.goTest(); err != nil {
		t.Errorf("go test ./mine: %v\n%s", err, said)
	}
}

func readNotebook(t *testing.T, path string) *notebook.Notebook {
	t.Helper()
	n, err := notebook.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// usedOfMine lists what a lesson calls of the package.
func usedOfMine(n *notebook.Notebook) map[string]bool {
	used := map[string]bool{}
	for _, c := range n.Cells {
		for _, m := range regexp.MustCompile(`\bmine\.([A-Z]\w*)\(`).FindAllStringSubmatch(c.Source, -1) {
			if c.Type == "code" {
				used[m[1]] = true
			}
		}
	}
	return used
}

// solves says which function a cell with a solution gives lesson.Grade, or nil.
func solves(c *notebook.Cell) *lesson.Kept {
	for _, k := range lesson.KeptFunctions() {
		if c.HasTag("solution") && strings.Contains(c.Source, fmt.Sprintf("lesson.Grade(%q,", k.Key)) {
			return &k
		}
	}
	return nil
}

// TestMineExported: the program of a notebook has the student's package, in this repository and elsewhere.
func TestMineExported(t *testing.T) {
	repository := inRepository(t)
	t.Cleanup(func() { // the index of packages there
		list, _ := filepath.Glob(filepath.Join(repoRoot(t), ".lectern", "packages-*-"+filepath.Base(repository)+"-mine.json"))
		for _, file := range list {
			os.Remove(file)
		}
	})
	for _, c := range []struct{ name, dir, out string }{
		{"in the repository", repository, filepath.Join(repository, "program")},
		{"elsewhere", t.TempDir(), filepath.Join(t.TempDir(), "program")},
	} {
		if err := mine.Make(c.dir, repoRoot(t)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.dir, "mine", "half.go"), []byte("package mine\n\nfunc Half(x float64) float64 { return x / 2 }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		n := &notebook.Notebook{Metadata: notebook.Object{}, Cells: []*notebook.Cell{{ID: "a", Type: "code", Source: "mine.Half(5)", Metadata: notebook.Object{}}}}
		file := filepath.Join(c.dir, "half.ipynb")
		if err := n.Write(file); err != nil {
			t.Fatal(err)
		}
		if printed := exporting(t, file, c.out); !strings.Contains(printed, "2.5") {
			t.Errorf("%s: the program prints %q", c.name, printed)
		}
	}
}
