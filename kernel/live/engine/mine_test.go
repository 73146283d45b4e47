package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

// A page of a reader whose browser stores functions.
type reader struct {
	*engine
	t     *testing.T
	dir   string
	cells int
}

func newReader(t *testing.T) *reader {
	t.Helper()
	e := begin(t)
	r := &reader{engine: e, t: t, dir: filepath.Dir(e.Dir)}
	files, err := filepath.Glob("../../../notebooks/mine/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("our package is not here: %v", err)
	}
	if err := os.MkdirAll(e.student.Ours, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err == nil && !strings.HasSuffix(file, "_test.go") {
			err = os.WriteFile(filepath.Join(e.student.Ours, filepath.Base(file)), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	functions, err := json.Marshal(lesson.KeptFunctions())
	if err == nil {
		err = os.WriteFile(filepath.Join(e.student.Ours, "functions.json"), functions, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	e.student = newStudent(e.packages, r.dir)
	return r
}

// begins rewrites a cell, and has its library compiled first, as the page does.
func (r *reader) begins(code, more string) (a *answer, compiled int) {
	r.t.Helper()
	r.cells++
	for {
		if a = r.rewrite(r.cells, code, false, more); a.Library == nil {
			return a, compiled
		}
		compiled++
		var config strings.Builder
		for path, file := range a.Library.Files {
			config.WriteString("packagefile " + path + "=" + file + "\n")
		}
		file := filepath.Join(r.dir, "importcfg")
		if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
			r.t.Fatal(err)
		}
		args := append([]string{"tool", "compile", "-o", a.Library.Archive, "-p", a.Library.Path, "-complete", "-pack", "-importcfg", file}, a.Library.Sources...)
		said, err := exec.Command("go", args...).CombinedOutput()
		if err == nil {
			said = nil
		}
		r.student.compiled(string(said))
	}
}

// grades is a cell whose function lesson.Grade accepts, as far as the engine knows. It returns what the page has to
// store.
func (r *reader) grades(code string) map[string]string {
	r.t.Helper()
	if a, _ := r.begins(code, ""); a.Program == "" {
		r.t.Fatalf("the answer is %v, it needs %v", a.Errors, a.Need)
	}
	r.now.said(1, message("mine", "yours", "01.4"))
	return r.ended("exit status 0").Mine
}

const mergeCell = "func merge(ids []int, left, right, id int) []int { return ids }\n\nlesson.Grade(\"01.4\", merge)"

// TestMine: cells call what the reader has written, and our solutions in place of what the reader has not.
func TestMine(t *testing.T) {
	r := newReader(t)
	ours := r.packages.known[minePath].File
	if a, compiled := r.begins("mine.Merge(nil, 1, 2, 3)", ""); compiled != 0 || a.Files[minePath] != ours {
		t.Errorf("before anything is written, cells are built with %s, and %d packages are compiled", a.Files[minePath], compiled)
	}
	stored := r.grades(mergeCell)
	if got := slices.Collect(maps.Keys(stored)); len(got) != 1 || got[0] != "merge.go" || !strings.Contains(stored["merge.go"], "by you") {
		t.Errorf("the browser stores %v", stored)
	}
	if html := drawn(r.now.changes()); !strings.Contains(html, "It is mine.Merge from now on, in all lessons of this site.") {
		t.Errorf("the page shows %s", html)
	}
	if a, compiled := r.begins("fmt.Println()", ""); compiled != 0 || a.Program == "" {
		t.Error("a cell that does not call mine waits for it")
	}
	a, compiled := r.begins("mine.Merge(nil, 1, 2, 3)", "")
	if own := a.Files[minePath]; compiled != 1 || own == ours || a.Program == "" {
		t.Errorf("the cell is built with %s; %d packages were compiled", own, compiled)
	}
	if _, compiled := r.begins("mine.Encode(\"a\", nil)", ""); compiled != 0 {
		t.Error("the same is compiled again")
	}
	if more := r.grades(mergeCell); len(more) != 0 {
		t.Errorf("the same once more: the browser stores %v", more)
	}
	if more := r.grades(strings.ReplaceAll(mergeCell, "return ids", "return ids[:len(ids)]")); len(more) != 2 || more["merge.go.bak"] != stored["merge.go"] {
		t.Errorf("another version: the browser stores %v", more)
	}

	// Another page, and another computer.
	other := newReader(t)
	other.student.begin(map[string]string{"merge.go": stored["merge.go"], "../cell.go": "package x", "nobodys.go": "package mine", "merge_test.go": "package mine"})
	if a, compiled := other.begins("mine.Merge(nil, 1, 2, 3)", ""); compiled != 1 || a.Program == "" || len(a.Errors) > 0 {
		t.Errorf("with what is stored: %v, %d compiled", a.Errors, compiled)
	}
	if own := slices.Collect(maps.Keys(other.student.own)); len(own) != 1 {
		t.Errorf("of what is stored, %v is the reader's", own)
	}
	other.student.begin(nil)
	if _, compiled := other.begins("mine.Merge(nil, 1, 2, 3)", ""); compiled != 1 || len(other.student.own) != 0 {
		t.Errorf("what is forgotten is still there: %v", other.student.own)
	}
}

// TestMineUse: what lesson.Use says.
func TestMineUse(t *testing.T) {
	r := newReader(t)
	for _, want := range []string{"mine.Merge is our solution to exercise 01.4 here until you have your own.", "mine.Merge is there already"} {
		r.begins("fmt.Println()", "")
		r.now.said(1, message("mine", "ours", "01.4"))
		r.ended("exit status 0")
		if html := drawn(r.now.changes()); !strings.Contains(html, want) {
			t.Errorf("the page shows %s, want %q", html, want)
		}
		r.grades(mergeCell)
	}
}

// TestMineBroken: what does not compile, as it may after the site has changed, is said once, and cells go on with ours.
func TestMineBroken(t *testing.T) {
	r := newReader(t)
	ours := r.packages.known[minePath].File
	r.student.begin(map[string]string{"merge.go": "package mine\n\nfunc Merge(ids []int, left, right, id int) []int { return id }\n"})
	for i, says := range []bool{true, false} {
		a, compiled := r.begins("mine.Merge(nil, 1, 2, 3)", "")
		if a.Files[minePath] != ours || compiled != 1-i {
			t.Errorf("cells are built with %s, want %s; %d compiled", a.Files[minePath], ours, compiled)
		}
		r.ended("exit status 0")
		if html := drawn(r.now.changes()); strings.Contains(html, "your package mine does not compile here") != says {
			t.Errorf("cell %d shows %s", i, html)
		}
	}
}

// TestMineInAChain: a program that has been built with an earlier version does not go on to a cell that calls mine.
func TestMineInAChain(t *testing.T) {
	for next, goesOn := range map[string]bool{"mine.Merge(nil, 1, 2, 3)": false, "fmt.Println(2)": true} {
		r := newReader(t)
		if a, _ := r.begins(mergeCell, `[{"cell": 2, "code": "`+next+`"}]`); a.Alone == nil {
			t.Fatalf("the cells do not go together: %v", a.Errors)
		}
		r.now.said(1, message("mine", "yours", "01.4"))
		r.ended("exit status 0")
		if _, ok := r.turn(2, next, 0); ok != goesOn {
			t.Errorf("after another version of mine, %s is run by the same program: %v", next, ok)
		}
	}
}
