//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/stale"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A paper is a notebook whose cells are run by name, as a client for notebooks does.
type paper struct {
	*lab
	t       *testing.T
	numbers map[string]int
}

// cell runs a cell. What it shows must have the words, in which {a} stands for the number beside the cell a before.
func (p *paper) cell(id, code, status string, words ...string) {
	p.t.Helper()
	for i, w := range words {
		for name, n := range p.numbers {
			w = strings.ReplaceAll(w, "{"+name+"}", fmt.Sprintf("[%d]", n))
		}
		words[i] = w
	}
	outs, r, err := p.try(code, jupyter.ExecuteOptions{Timeout: patience, Cell: id})
	got := flat(outs)
	if err != nil || r.Status != status {
		p.t.Fatalf("cell %s, %q: %v, status %s: %s", id, code, err, r.Status, got)
	}
	p.numbers[id] = r.Count
	for _, w := range words {
		if no, ok := strings.CutPrefix(w, "!"); ok == strings.Contains(got, no) {
			p.t.Errorf("cell %s, %q: %q in %s", id, code, w, got)
		}
	}
}

func TestStaleNotes(t *testing.T) {
	t.Parallel()
	needLong(t)
	l := startLab(t)
	type run struct {
		id, code, status string
		words            []string
	}
	quiet := []string{"!note:"}
	for _, c := range []struct {
		name string
		runs []run
	}{
		{"another value, and what came of it", []run{
			{"a", "x := 1", "ok", quiet}, {"b", "y := 2 * x", "ok", quiet}, {"c", "fmt.Println(y)", "ok", quiet}, {"d", "z := 7", "ok", quiet},
			{"a", "x := 2", "ok", []string{"[display]note: {b} used the earlier x, and {c} what came of it: %run-stale runs them again"}},
			{"b", "y := 2 * x", "ok", []string{"[display]note: {c} used the earlier y: %run-stale runs it again", "[update]"}},
			{"c", "fmt.Println(y)", "ok", []string{"[stdout]4", "[update]", "!note:"}},
		}},
		{"the same value", []run{{"a", "x := []int{1, 2}", "ok", nil}, {"b", "len(x)", "ok", nil}, {"a", "x := []int{1, 1 + 1}", "ok", quiet}}},
		{"a view of memory that is replaced", []run{{"a", "x := []int{1, 2, 3}", "ok", nil}, {"b", "y := x[1:]", "ok", nil}, {"c", "x", "ok", nil}, {"d", "y", "ok", nil}, {"e", "z := 5", "ok", nil},
			{"a", "x := []int{1, 2, 3}", "ok", []string{"note: {b} used the earlier x, and {d} what came of it"}}, {"b", "y := x[1:]", "ok", []string{"[update]", "!note:"}},
			{"m", "%stale", "ok", []string{"no cell is stale"}}}},
		{"a large array", []run{{"a", "x := make([]float64, 1<<20)", "ok", nil}, {"b", "x[77]", "ok", nil}, {"a", "x := make([]float64, 1<<20)", "ok", quiet},
			{"a", "x := make([]float64, 1<<20)\nx[77] = 1", "ok", []string{"{b} used the earlier x"}}}},
		{"an array that is changed in place", []run{{"a", "x := make([]float64, 1<<20)", "ok", nil}, {"b", "x[3]++", "ok", quiet}, {"c", "x[3]", "ok", nil},
			{"b", "x[3]++", "ok", []string{"{c} used the earlier x"}}}},
		{"a closure", []run{{"a", "k := 3\nf := func() int { return k }", "ok", nil}, {"b", "f()", "ok", nil}, {"a", "k := 3 // three\nf := func() int { return k }", "ok", quiet},
			{"a", "k := 3\nf := func() int { return k + 1 }", "ok", []string{"{b} used the earlier f"}}}},
		{"a function", []run{{"a", "func f() int { return 1 }", "ok", nil}, {"b", "v := f()", "ok", nil}, {"c", "v", "ok", nil},
			{"a", "func f() int {\n\t// one\n\treturn 1\n}", "ok", quiet},
			{"a", "func f() int { return 2 }", "ok", []string{"{b} used the earlier f, and {c} what came of it"}}}},
		{"a function that a function calls", []run{{"a", "func g() int { return 1 }", "ok", nil}, {"b", "func f() int { return g() }", "ok", nil}, {"c", "f()", "ok", nil},
			{"a", "func g() int { return 2 }", "ok", []string{"note: {c} used the earlier g: %run-stale runs it again"}}}},
		{"a function that reads a variable", []run{{"a", "x := 1", "ok", nil}, {"b", "func f() int { return x }", "ok", nil}, {"c", "f()", "ok", nil},
			{"a", "x := 2", "ok", []string{"note: {c} used the earlier x: "}}}},
		{"a type and its method", []run{{"a", "type P struct{ n int }\nfunc (p P) twice() int { return 2 * p.n }", "ok", nil}, {"b", "P{3}.twice()", "ok", nil},
			{"a", "type P struct{ n int }\nfunc (p P) twice() int { return p.n + p.n }", "ok", []string{"{b} used the earlier P.twice"}}}},
		{"a cell is edited", []run{{"a", "x := 1", "ok", nil}, {"b", "x", "ok", nil}, {"b", "3", "ok", nil}, {"a", "x := 2", "ok", quiet}}},
		{"a name in two cells", []run{{"a", "x := 1", "ok", nil}, {"b", "x", "ok", nil}, {"c", "x := 5", "ok", quiet}, {"d", "x", "ok", nil},
			{"a", "x := 1", "ok", quiet}, {"c", "x := 6", "ok", []string{"note: {d} used the earlier x"}}}},
		{"training is undone", []run{{"a", "w := 1", "ok", nil}, {"b", "w *= 3", "ok", nil}, {"c", "w", "ok", nil},
			{"a", "w := 1", "ok", []string{"note: {b} used the earlier w, and {c} what came of it"}}}},
		{"a name that its cell no longer defines", []run{{"a", "x := 1", "ok", nil}, {"b", "x", "ok", nil}, {"a", "u := 1", "ok", []string{"{b} used the earlier x"}}}},
		{"a removed name", []run{{"a", "x := 1", "ok", nil}, {"b", "x", "ok", nil}, {"c", "%rm x", "ok", quiet}, {"a", "%rm x", "ok", []string{"{b} used the earlier x"}}}},
		{"a cell that fails on its way", []run{{"a", "x := 1", "ok", nil}, {"b", "x", "ok", nil}, {"a", "x := 2\npanic(\"no\")", "error", []string{"{b} used the earlier x"}},
			{"a", "x := 3 +* 4", "error", quiet}, {"b", "x", "ok", []string{"[update]", "[result]2"}}}},
		{"notes are off", []run{{"m", "%stale off", "ok", nil}, {"a", "x := 1", "ok", nil}, {"b", "x", "ok", nil}, {"a", "x := 2", "ok", quiet},
			{"m", "%stale", "ok", []string{"{b} used the earlier x: x"}}, {"m", "%stale on", "ok", nil}, {"a", "x := 3", "ok", []string{"{b} used the earlier x"}},
			{"m", "%stale maybe", "error", []string{"write %stale alone"}}}},
		{"everything is forgotten", []run{{"a", "x := 1", "ok", nil}, {"b", "x", "ok", nil}, {"m", "%reset", "ok", quiet}, {"a", "x := 2", "ok", quiet}, {"m", "%stale", "ok", []string{"no cell is stale"}}}},
		{"what is made again in each cell", []run{{"a", "c := make(chan int, 1)", "ok", nil}, {"a", "c := make(chan int, 2)", "ok", []string{"!used the earlier"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l.run("%reset")
			p := &paper{l, t, map[string]int{}}
			for _, r := range c.runs {
				p.cell(r.id, r.code, r.status, r.words...)
			}
		})
	}
}

// Whoever runs a notebook as a whole names no cells, and gets no notes.
func TestNoNotesWithoutCells(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for _, code := range []string{"x := 1", "y := x", "x := 2", "x = 3", "x := 1"} {
		l.expect(t, code, "ok", "!note:")
	}
	l.expect(t, "%stale", "ok", "no cell is stale")
	l.expect(t, "%run-stale", "ok", "no cell is stale")
}

// Cells that wait to be run anyway are not worth a note.
func TestNoNotesOnCellsThatWait(t *testing.T) {
	t.Parallel()
	q := &queue{}
	for _, about := range []string{`{"cellId": "b"}`, `{}`, ``} {
		m := jupyter.NewMessage("test", "execute_request", nil)
		m.Metadata = []byte(about)
		q.waiting = append(q.waiting, m)
	}
	var s staleness
	for i, r := range []stale.Run{
		{ID: "a", Defines: []string{"x"}, Now: map[string]string{"x": "1"}},
		{ID: "b", Reads: []string{"x"}, Now: map[string]string{"x": "1"}},
		{ID: "c", Reads: []string{"x"}, Now: map[string]string{"x": "1"}},
		{ID: "a", Defines: []string{"x"}, Now: map[string]string{"x": "2"}},
	} {
		r.Number = i + 1
		s.book.Ran(r)
	}
	if got := s.note("a", nil); !strings.Contains(got, "[2] and [3] used the earlier x") {
		t.Errorf("if nothing waits: %q", got)
	}
	if got := s.note("a", q.cells()); !strings.Contains(got, "note: [3] used the earlier x") {
		t.Errorf("if b waits: %q", got)
	}
}

func TestRunStale(t *testing.T) {
	t.Parallel()
	p := &paper{startLab(t), t, map[string]int{}}
	p.cell("a", "x := 1", "ok")
	p.cell("b", "y := 10 * x", "ok")
	p.cell("c", "fmt.Println(\"y is\", y)", "ok", "y is 10")
	p.cell("d", "fmt.Println(\"as ever\")", "ok")
	p.cell("a", "x := 2", "ok", "{b} used the earlier x, and {c} what came of it")
	p.cell("m", "%run-stale", "ok", "{b}, now [", "{c}, now [", "[stdout]", "y is 20", "!as ever", "[update]")
	p.cell("m", "%run-stale", "ok", "no cell is stale")
	p.cell("y", "y", "ok", "[result]20")
	p.cell("a", "x := 0", "ok", "used the earlier x")
	p.cell("b", "y := 10 / x\ny", "error", "divide by zero")
	p.cell("a", "x := 5", "ok", "{b} used the earlier x")
	p.cell("m", "%run-stale", "ok", "[result]2")
	p.cell("m", "%run-stale\nx", "error", "write %run-stale in a cell of its own")
	p.cell("a", "x := 0", "ok", "used the earlier x")
	p.cell("m", "%run-stale", "error", "divide by zero")
}

// TestGraph compares the picture of a few cells with testdata/graph.svg and its text with graph.txt.
func TestGraph(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.expect(t, "%graph", "ok", "no cell has defined anything yet")
	p := &paper{l, t, map[string]int{}}
	p.cell("a", "// the data\nxs := []float64{1, 2, 3}", "ok")
	p.cell("b", "func mean(v []float64) (m float64) {\n\tfor _, x := range v {\n\t\tm += x / float64(len(v))\n\t}\n\treturn m\n}", "ok")
	p.cell("c", "m := mean(xs)", "ok")
	p.cell("n", "fmt.Println(\"<nothing>\")", "ok")
	p.cell("d", "for i := range xs {\n\txs[i] -= m\n}", "ok")
	p.cell("e", "mean(xs)", "ok")
	p.cell("b", "func mean(v []float64) (m float64) { return v[0] }", "ok", "note:")
	outs, _ := l.run("%graph")
	if len(outs) != 1 {
		t.Fatalf("it shows %s", flat(outs))
	}
	for path, got := range map[string]any{"testdata/graph.txt": outs[0].data["text/plain"], "testdata/graph.svg": outs[0].data["image/svg+xml"]} {
		if *update {
			if err := os.WriteFile(path, []byte(got.(string)), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil || got != string(want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", path, err, got, want)
		}
	}
}
