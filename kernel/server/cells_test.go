//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
)

// A cell of testdata/cells.txt.
type testCell struct {
	code, status string
	want         []string
}

type testGroup struct {
	name  string
	cells []testCell
}

func readGroups(t *testing.T, path string) (groups []testGroup) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range strings.Split(string(b), "\n### ")[1:] {
		name, body, _ := strings.Cut(g, "\n")
		group := testGroup{name: name}
		for _, c := range strings.Split("\n"+strings.TrimRight(body, "\n"), "\n===\n") {
			code, rest, ok := strings.Cut(c, "\n--- ")
			if !ok {
				t.Fatalf("%s: cell without ---: %q", name, c)
			}
			lines := strings.Split(rest, "\n")
			cell := testCell{code: strings.TrimPrefix(code, "\n"), status: lines[0]}
			for _, l := range lines[1:] {
				if l != "" {
					cell.want = append(cell.want, strings.ReplaceAll(l, `\n`, "\n"))
				}
			}
			group.cells = append(group.cells, cell)
		}
		groups = append(groups, group)
	}
	return groups
}

// check compares a cell's outputs with the wanted ones.
func (c testCell) check(t *testing.T, l *lab) {
	t.Helper()
	outs, r := l.run(c.code)
	got := flat(outs)
	if r.Status != c.status {
		t.Errorf("cell [%d]: status %s, want %s\n%s\nshows %s", r.Count, r.Status, c.status, c.code, got)
		return
	}
	for _, w := range c.want {
		if no, ok := strings.CutPrefix(w, "!"); ok && no != "" {
			if strings.Contains(got, no) {
				t.Errorf("cell [%d]: unwanted %q\n%s\nshows %s", r.Count, no, c.code, got)
			}
		} else if !strings.Contains(got, w) {
			t.Errorf("cell [%d]: no %q\n%s\nshows %s", r.Count, w, c.code, got)
		}
	}
}

// long reports whether tests that take long are run.
func long() bool { return os.Getenv("LECTERN_LONG") != "" }

func needLong(t *testing.T) {
	t.Helper()
	if !long() {
		t.Skip("takes long: set LECTERN_LONG=1 to run it")
	}
}

// TestCells runs the table: all of it if tests may take long, else the groups with a star.
// LECTERN_GROUP limits it to groups whose names contain a word.
func TestCells(t *testing.T) {
	t.Parallel()
	groups := readGroups(t, "testdata/cells.txt")
	l := startLab(t)
	n := 0
	for _, g := range groups {
		word := os.Getenv("LECTERN_GROUP")
		if !strings.Contains(g.name, word) || word == "" && !long() && !strings.HasSuffix(g.name, "*") {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.cells {
				n++
				c.check(t, l)
			}
		})
	}
	t.Logf("%d cells", n)
}
