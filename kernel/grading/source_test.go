package grading

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/cases"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

// Every lesson becomes an assignment, and nothing of its solutions is in what students get.
func TestLessonsBecomeAssignments(t *testing.T) {
	files, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no lessons: %v", err)
	}
	for _, f := range files {
		n, err := notebook.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		made, left := FromLesson(n)
		if len(left) > 0 {
			t.Errorf("%s: left: %q", filepath.Base(f), left)
		}
		s, err := readSource(t, made)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(f), err)
			continue
		}
		if len(s.Tests) < 2 {
			t.Errorf("%s: %d tests", filepath.Base(f), len(s.Tests))
		}
		release := s.Release()
		for i, c := range made.Cells {
			if m, _ := marksOf(c); m.Solution && (release.Cells[i].Source == c.Source || !strings.Contains(release.Cells[i].Source, Stub)) {
				t.Errorf("%s: students get the solution of %s", filepath.Base(f), m.ID)
			}
		}
		text := string(release.Bytes())
		for _, c := range n.Cells {
			if c.HasTag("solution") && c.Type == "code" && strings.Contains(text, strings.TrimSpace(c.Source)) {
				t.Errorf("%s: students get\n%s", filepath.Base(f), c.Source)
			}
		}
		for _, c := range release.Cells {
			if len(c.Outputs) > 0 || strings.Contains(c.Source, "SOLUTION") || strings.Contains(c.Source, "HIDDEN") {
				t.Errorf("%s: students get outputs or marks in\n%s", filepath.Base(f), c.Source)
			}
		}
	}
}

// A program with a bug stands before the answer, in a cell that runs and grades nothing.
func TestRepairsBecomeAssignments(t *testing.T) {
	exercise := func(source, tag string) *notebook.Cell {
		return &notebook.Cell{ID: tag, Type: "code", Source: source, Metadata: notebook.Object{"tags": []any{tag}}}
	}
	made, left := FromLesson(&notebook.Notebook{Cells: []*notebook.Cell{
		exercise("func brightness() int {\n\treturn 1\n}\n\nfmt.Println(brightness())\nlesson.Grade(\"05.7\", brightness)", "exercise"),
		exercise("func brightness() int {\n\treturn 2\n}\n\nlesson.Grade(\"05.7\", brightness)", "solution"),
	}})
	var got []string
	for _, c := range made.Cells {
		got = append(got, c.Source)
	}
	want := []string{
		"func brightness() int {\n\treturn 1\n}\n\nfmt.Println(brightness())",
		"func brightness() int {\n\t// BEGIN SOLUTION\n\treturn 2\n\t// END SOLUTION\n}",
		`lesson.Grade("05.7", brightness)`,
	}
	if len(left) > 0 || !slices.Equal(got, want) {
		t.Errorf("got %q, left %q, want %q", got, left, want)
	}
	if made.Cells[0].ID == made.Cells[2].ID {
		t.Error("two cells have one ID")
	}
}

func readSource(t *testing.T, n *notebook.Notebook) (*Source, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ps.ipynb")
	if err := n.Write(path); err != nil {
		t.Fatal(err)
	}
	return ReadSource(path)
}

// Mistakes in an assignment are reported before students get it.
func TestSourceMistakes(t *testing.T) {
	test, answer := Marks{ID: "t", Grade: true, Locked: true, Points: 1}, Marks{ID: "a", Solution: true}
	const call = "lesson.Grade(\"f\", f, `{\"category\": \"x\", \"in\": [1], \"want\": [2]}`)"
	const solution = "// BEGIN SOLUTION\nx := 1\n// END SOLUTION"
	type cell struct {
		m      Marks
		source string
	}
	for name, tt := range map[string]struct {
		cells []cell
		want  string
	}{
		"no tests":            {[]cell{{answer, solution}}, "ps.ipynb: it has no tests: mark a cell"},
		"nothing":             {nil, "it has no tests"},
		"points":              {[]cell{{Marks{ID: "t", Grade: true, Locked: true, Points: 3}, call}}, "cell 1 (t): it is worth 3 points, but its cases add up to 1: give it 1"},
		"not locked":          {[]cell{{Marks{ID: "t", Grade: true, Points: 1}, call}}, "graded but not locked"},
		"by hand":             {[]cell{{Marks{ID: "t", Grade: true, Solution: true, Points: 1}, solution}}, "graded by hand"},
		"no ID":               {[]cell{{Marks{Locked: true}, "x"}}, "marked but has no ID"},
		"two of a name":       {[]cell{{test, call}, {test, call}}, "cell 2 (t): two cells have this ID"},
		"no marks":            {[]cell{{answer, "x := 1"}}, "put // BEGIN SOLUTION and // END SOLUTION around"},
		"no end":              {[]cell{{answer, "// BEGIN SOLUTION\nx := 1"}}, "line 1: BEGIN SOLUTION without END SOLUTION after it"},
		"no beginning":        {[]cell{{answer, "x := 1\n// END SOLUTION"}}, "line 2: END SOLUTION without BEGIN SOLUTION before"},
		"twice":               {[]cell{{answer, "// BEGIN SOLUTION\n// BEGIN SOLUTION"}}, "line 2: BEGIN SOLUTION a second time"},
		"solution, unmarked":  {[]cell{{Marks{}, solution}}, "it has a solution but is not marked"},
		"solution in a test":  {[]cell{{test, solution + "\n" + call}}, "it has a solution but is not marked as one"},
		"hidden, unmarked":    {[]cell{{Marks{}, "// BEGIN HIDDEN TESTS\n// END HIDDEN TESTS"}}, "it has hidden tests but is not marked"},
		"hidden, no points":   {[]cell{{answer, solution + "// BEGIN HIDDEN TESTS\n// END HIDDEN TESTS"}}, "it has hidden tests but no points"},
		"no call":             {[]cell{{test, "// nothing"}}, "it is graded but calls no lesson.Grade"},
		"other code":          {[]cell{{test, call + "\nif f(1) != 2 { panic(1) }"}}, "line 2 isn't a call to lesson.Grade: other code would run in the student's process"},
		"no text":             {[]cell{{test, "lesson.Grade(\"f\", f, hidden)"}}, "line 1: names and cases must be in quotes"},
		"no function":         {[]cell{{test, "lesson.Grade(\"f\")"}}, "line 1: lesson.Grade takes a name and a function"},
		"no cases":            {[]cell{{test, "lesson.Grade(\"f\", f)"}}, "line 1: no lesson has an exercise f, and there are no cases"},
		"cases with mistakes": {[]cell{{test, "\nlesson.Grade(\"f\", f, `{\"category\": \"x\"`)"}}, "line 2, exercise f: case 1 ends too early"},
		"no Go":               {[]cell{{test, "lesson.Grade("}}, "it isn't a list of calls to lesson.Grade"},
	} {
		t.Run(name, func(t *testing.T) {
			n := &notebook.Notebook{Metadata: notebook.Object{}}
			for _, k := range tt.cells {
				c := &notebook.Cell{Type: "code", Source: k.source, Metadata: notebook.Object{}}
				c.ID = c.NewID(func(id string) bool { return len(n.Cells) > 0 && n.Cells[0].ID == id })
				if k.m != (Marks{}) {
					mark(c, k.m)
				}
				n.Cells = append(n.Cells, c)
			}
			if _, err := readSource(t, n); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// The code that goes into the student's process has inputs, and none of the wanted answers.
func TestWantedValuesStayOutside(t *testing.T) {
	calls, ok, err := ParseTest("lesson.Grade(\"17.4\", mine.sgd, `{\"category\": \"secret\", \"points\": 2, \"in\": [1, [4711], 0.1, 0], \"want\": [-470.1]}`)")
	if !ok || err != nil || len(calls) != 1 {
		t.Fatalf("%v, %v, %v", calls, ok, err)
	}
	c := calls[0]
	if want := `lesson.Answers("17.4", mine.sgd, "[[1,[4711],0.1,0]]")`; c.code() != want {
		t.Errorf("got %s, want %s", c.code(), want)
	}
	if c.Lesson != len(c.Cases)-1 || c.Worth() != 9 {
		t.Errorf("%d cases, %d of them the lesson's, %d points", len(c.Cases), c.Lesson, c.Worth())
	}
	out, err := cases.Parse(`{"category": "x", "in": [], "want": [-470.1]}`)
	if err != nil {
		t.Fatal(err)
	}
	p := c.compare(map[int]lesson.Answer{c.Lesson: {Case: c.Lesson, Out: out[0].Want}, 99: {Case: 99}}, "it broke off")
	if p.Points != 2 || p.Of != 9 || !strings.Contains(p.First, "got     nothing: it broke off") {
		t.Errorf("%+v", p)
	}
}

// A spreadsheet takes no student's text for a formula.
func TestNotesAreNoFormulas(t *testing.T) {
	if got := plain("=cmd|' /C calc'!A0\nx"); got != "'=cmd|' /C calc'!A0 x" {
		t.Errorf("got %s", got)
	}
}
