package grading

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// Stub takes a solution's place in a released notebook. nbgrader has to know it, as code_stub.
const Stub = "panic(lesson.Todo) // write your code in place of this line"

// Tags of lessons: cells that an assignment leaves out.
const (
	tagCheckOnly = "check-only"
	tagSolution  = "solution"
	tagExercise  = "exercise"
)

// Marks are what nbgrader keeps in a cell's metadata.
type Marks struct {
	ID                            string
	Grade, Locked, Solution, Task bool
	Points                        float64
}

// marksOf reads them; ok is false for a cell that nbgrader knows nothing about.
func marksOf(c *notebook.Cell) (m Marks, ok bool) {
	about, ok := c.Metadata["nbgrader"].(notebook.Object)
	if !ok {
		return m, false
	}
	flag := func(name string) bool { b, _ := about[name].(bool); return b }
	m = Marks{Grade: flag("grade"), Locked: flag("locked"), Solution: flag("solution"), Task: flag("task")}
	m.ID, _ = about["grade_id"].(string)
	switch p := about["points"].(type) {
	case json.Number:
		m.Points, _ = p.Float64()
	case int:
		m.Points = float64(p)
	}
	return m, m.Grade || m.Locked || m.Solution || m.Task
}

// mark writes them.
func mark(c *notebook.Cell, m Marks) {
	metadata := maps.Clone(c.Metadata)
	if metadata == nil {
		metadata = notebook.Object{}
	}
	about := notebook.Object{"grade": m.Grade, "grade_id": m.ID, "locked": m.Locked, "schema_version": 3, "solution": m.Solution, "task": m.Task}
	if m.Grade {
		about["points"] = int(m.Points)
	}
	metadata["nbgrader"] = about
	c.Metadata = metadata
}

// A Source is an assignment as its teacher has written it.
type Source struct {
	Name     string // of its file, without .ipynb
	Notebook *notebook.Notebook
	Tests    []Test // in their order
	cells    map[string]*notebook.Cell
}

// A Test is a graded cell.
type Test struct {
	ID     string
	Points int
	Calls  []Call
}

// ReadSource reads an assignment and checks that it can be graded. The error joins everything that is wrong with it.
func ReadSource(path string) (*Source, error) {
	n, err := notebook.Read(path)
	if err != nil {
		return nil, err
	}
	s := &Source{Name: strings.TrimSuffix(filepath.Base(path), ".ipynb"), Notebook: n, cells: map[string]*notebook.Cell{}}
	var problems []error
	bad := func(i int, m Marks, format string, args ...any) {
		where := fmt.Sprintf("%s, cell %d", filepath.Base(path), i+1)
		if m.ID != "" {
			where += " (" + m.ID + ")"
		}
		problems = append(problems, fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...)))
	}
	for i, c := range n.Cells {
		m, known := marksOf(c)
		_, solutions, err := cut(c.Source, beginSolution, endSolution, Stub)
		if err != nil {
			bad(i, m, "%v", err)
		}
		_, hidden, err := cut(c.Source, beginHidden, endHidden)
		if err != nil {
			bad(i, m, "%v", err)
		}
		switch {
		case !known && solutions > 0:
			bad(i, m, "it has a solution but is not marked: call it an autograded answer in nbgrader's toolbar")
		case !known && hidden > 0:
			bad(i, m, "it has hidden tests but is not marked: call it autograder tests in nbgrader's toolbar")
		}
		if !known {
			continue
		}
		switch {
		case m.ID == "":
			bad(i, m, "it is marked but has no ID")
			continue
		case s.cells[m.ID] != nil:
			bad(i, m, "two cells have this ID")
			continue
		}
		s.cells[m.ID] = c
		switch {
		case m.Task || m.Grade && m.Solution:
			bad(i, m, "it is graded by hand: that takes nbgrader's formgrader, which grades such notebooks with this kernel, too")
		case m.Solution && solutions == 0:
			bad(i, m, "put // %s and // %s around what students should write", beginSolution, endSolution)
		case !m.Solution && solutions > 0:
			bad(i, m, "it has a solution but is not marked as one")
		case !m.Grade && hidden > 0:
			bad(i, m, "it has hidden tests but no points: call it autograder tests in nbgrader's toolbar")
		}
		if !m.Grade || m.Solution || m.Task {
			continue
		}
		calls, _, err := ParseTest(c.Source)
		sum := 0
		for k := range calls {
			sum += calls[k].Worth()
		}
		switch {
		case c.Type != "code" || err == nil && len(calls) == 0:
			bad(i, m, "it is graded but calls no lesson.Grade")
		case err != nil:
			bad(i, m, "%v", err)
		case !m.Locked:
			bad(i, m, "it is graded but not locked: students could change it")
		case float64(sum) != m.Points:
			bad(i, m, "it is worth %g points, but its cases add up to %d: give it %d", m.Points, sum, sum)
		}
		s.Tests = append(s.Tests, Test{ID: m.ID, Points: sum, Calls: calls})
	}
	if len(s.Tests) == 0 && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("%s: it has no tests: mark a cell with lesson.Grade as autograder tests in nbgrader's toolbar, or turn a lesson into an assignment with "+
			"go run ./kernel assignment", filepath.Base(path)))
	}
	return s, errors.Join(problems...)
}

// Points returns what the assignment is worth.
func (s *Source) Points() int {
	sum := 0
	for _, t := range s.Tests {
		sum += t.Points
	}
	return sum
}

// Release returns what students get: no solutions, no hidden tests, no outputs, and none of the cells that only check a
// lesson's numbers.
func (s *Source) Release() *notebook.Notebook {
	n := &notebook.Notebook{Metadata: s.Notebook.Metadata, Minor: s.Notebook.Minor}
	for _, c := range s.Notebook.Cells {
		if c.HasTag(tagCheckOnly) || c.HasTag(tagSolution) {
			continue
		}
		released := *c
		released.Outputs, released.Count = nil, 0
		released.Source = releasedSource(c)
		released.Metadata = maps.Clone(c.Metadata)
		if m, ok := marksOf(c); ok && m.Locked {
			released.Metadata["editable"], released.Metadata["deletable"] = false, false
		} else if ok {
			released.Metadata["deletable"] = false
		}
		n.Cells = append(n.Cells, &released)
	}
	return n
}

// releasedSource is what students see of a cell. Its marks have been checked.
func releasedSource(c *notebook.Cell) string {
	text, _, _ := cut(c.Source, beginSolution, endSolution, Stub)
	text, _, _ = cut(text, beginHidden, endHidden)
	return text
}

// cut replaces the lines from one that contains begin to one that contains end, with the indentation of the first, and
// says how often.
func cut(source, begin, end string, stub ...string) (text string, times int, err error) {
	var kept []string
	inside := 0
	for i, line := range strings.Split(source, "\n") {
		switch {
		case strings.Contains(line, begin):
			if inside > 0 {
				return "", times, fmt.Errorf("line %d: %s a second time, without %s between", i+1, begin, end)
			}
			inside = i + 1
			times++
			indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
			for _, s := range stub {
				kept = append(kept, indent+s)
			}
		case strings.Contains(line, end):
			if inside == 0 {
				return "", times, fmt.Errorf("line %d: %s without %s before", i+1, end, begin)
			}
			inside = 0
		case inside == 0:
			kept = append(kept, line)
		}
	}
	if inside > 0 {
		return "", times, fmt.Errorf("line %d: %s without %s after it", inside, begin, end)
	}
	return strings.Join(kept, "\n"), times, nil
}
