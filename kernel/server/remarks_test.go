//go:build unix

package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/internal/vet"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/persist"
)

// TestLessonsRaiseNothing: nothing is remarked on in the lessons, whose outputs would have it, nor in their solutions
// or in the gallery. Nothing is executed.
func TestLessonsRaiseNothing(t *testing.T) {
	c := config{root: repoRoot(t)}
	f, err := newFolders()
	if err != nil {
		t.Fatal(err)
	}
	defer f.remove()
	if err := makeCheckModule(c, f); err != nil {
		t.Fatal(err)
	}
	p := packageIndex(context.Background(), c, f, false)
	defer p.Wait()
	cells := 0
	for _, folder := range []string{"notebooks", "docs/gallery"} {
		files, err := filepath.Glob(filepath.Join(c.root, folder, "*.ipynb"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no notebooks in %s: %v", folder, err)
		}
		for _, file := range files {
			n, err := notebook.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			m := &persist.Manifest{Vars: map[string]persist.Var{}, Groups: map[int]persist.Group{}, Notes: map[string]string{}}
			s := rewrite.NewSession(p, func() *persist.Manifest { return m }).Vetted(vet.Check)
			for i, cell := range n.Cells {
				if cell.Type != "code" {
					continue
				}
				cells++
				r := s.Rewrite(i+1, cell.Source)
				if len(r.Errors) > 0 {
					if !cell.HasTag("raises-exception") && r.Errors[0].Hint == "" {
						t.Errorf("%s: %v\n%s", filepath.Base(file), r.Errors, cell.Source)
					}
					continue
				}
				for _, note := range r.Notes {
					if strings.HasPrefix(note, "line ") {
						t.Errorf("%s: %s\n%s", filepath.Base(file), note, cell.Source)
					}
				}
				s = r.Next
				for _, name := range r.Defines {
					m.Vars[name] = persist.Var{Group: i + 1}
					m.Groups[i+1] = persist.Group{Vars: append(m.Groups[i+1].Vars, name)}
				}
			}
		}
	}
	t.Logf("%d cells", cells)
}

// TestRemarksInCells: a cell that may mean something else runs, and says so beside its output, once in a session.
func TestRemarksInCells(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for _, c := range []struct{ code, result, note string }{
		{"2 ^ 3", "[result]1", "note: line 1: ^ is exclusive or"},
		{"10 ^ 2", "[result]8", ""},
		{"fmt.Printf(\"%d\\n\", \"a\")", "[stdout]%!d(string=a)", "note: line 1: fmt.Printf format %d has arg \"a\" of wrong type string"},
		{"fmt.Printf(\"%d\\n\", 1)", "[stdout]1", ""},
		{"%reset\n2 ^ 3", "[result]1", "note: line 2: ^ is exclusive or"},
	} {
		outs, r := l.run(c.code)
		got := flat(outs)
		if r.Status != "ok" || !strings.Contains(got, c.result) || !strings.Contains(got, c.note) || c.note == "" && strings.Contains(got, "note:") {
			t.Errorf("%s gives %s %s, want %s and %q", c.code, r.Status, got, c.result, c.note)
		}
	}
}
