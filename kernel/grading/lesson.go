package grading

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// FromLesson makes the source of an assignment from a lesson: every exercise with lesson.Grade becomes an answer with
// its solution and a locked test. A program to repair comes before the answer, in a cell of its own. What can't be
// converted is named in left.
func FromLesson(n *notebook.Notebook) (made *notebook.Notebook, left []string) {
	made = &notebook.Notebook{Metadata: maps.Clone(n.Metadata), Minor: n.Minor}
	for i := 0; i < len(n.Cells); i++ {
		c := n.Cells[i]
		if c.HasTag(tagCheckOnly) || c.HasTag(tagSolution) {
			continue
		}
		copied := *c
		copied.Outputs, copied.Count = nil, 0
		if c.Type != "code" || !c.HasTag(tagExercise) || !strings.Contains(c.Source, "lesson.Grade(") {
			made.Cells = append(made.Cells, &copied)
			continue
		}
		var solution *notebook.Cell
		if i+1 < len(n.Cells) && n.Cells[i+1].HasTag(tagSolution) {
			solution = n.Cells[i+1]
		}
		answer, test, key, err := splitExercise(solution)
		if err != nil {
			left = append(left, fmt.Sprintf("cell %d: %v", i+1, err))
			made.Cells = append(made.Cells, &copied)
			continue
		}
		calls, _, err := ParseTest(test)
		if err != nil {
			left = append(left, fmt.Sprintf("exercise %s: %v", key, err))
			made.Cells = append(made.Cells, &copied)
			continue
		}
		points := 0
		for k := range calls {
			points += calls[k].Worth()
		}
		id := "exercise-" + strings.ReplaceAll(key, ".", "-")
		add := func(source string) *notebook.Cell {
			added := &notebook.Cell{Type: "code", Source: source}
			added.ID = added.NewID(func(id string) bool {
				return slices.ContainsFunc(slices.Concat(n.Cells, made.Cells), func(c *notebook.Cell) bool { return c.ID == id })
			})
			return added
		}
		if !strings.Contains(c.Source, "lesson.Todo") {
			given, _ := withoutGrade(c.Source)
			made.Cells = append(made.Cells, add(given))
		}
		copied.Source = answer
		copied.Metadata = maps.Clone(c.Metadata)
		mark(&copied, Marks{ID: id, Solution: true})
		tests := add(test)
		mark(tests, Marks{ID: id + "-tests", Grade: true, Locked: true, Points: float64(points)})
		made.Cells = append(made.Cells, &copied, tests)
	}
	return made, left
}

// splitExercise turns a lesson's solution into an answer, with marks around the bodies of its functions, and a test.
func splitExercise(solution *notebook.Cell) (answer, test, key string, err error) {
	if solution == nil {
		return "", "", "", fmt.Errorf("no solution follows it")
	}
	text, calls := withoutGrade(solution.Source)
	for _, line := range calls {
		_, key, _ = strings.Cut(line, `"`)
		key, _, _ = strings.Cut(key, `"`)
	}
	const before = "package p\n"
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", before+text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", "", key, fmt.Errorf("exercise %s: its solution is more than functions: mark it by hand", key)
	}
	lines := strings.Split(text, "\n")
	for _, d := range slices.Backward(file.Decls) {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue // types and constants are given
		}
		first, last := set.Position(f.Body.Lbrace).Line-1, set.Position(f.Body.Rbrace).Line-1
		if first == last {
			return "", "", key, fmt.Errorf("exercise %s: its solution has a function on one line: mark it by hand", key)
		}
		lines = slices.Insert(lines, last-1, "\t// "+endSolution)
		lines = slices.Insert(lines, first, "\t// "+beginSolution)
	}
	return strings.Join(lines, "\n"), strings.Join(calls, "\n"), key, nil
}

// withoutGrade separates a cell's code from its calls to lesson.Grade.
func withoutGrade(source string) (code string, calls []string) {
	var lines []string
	for _, line := range strings.Split(source, "\n") {
		if strings.HasPrefix(line, "lesson.Grade(") {
			calls = append(calls, line)
		} else {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n")), calls
}
