package grading

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/cases"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

// Marks of the parts that are the teacher's alone; nbgrader looks for the same words.
const (
	beginSolution = "BEGIN SOLUTION"
	endSolution   = "END SOLUTION"
	beginHidden   = "BEGIN HIDDEN TESTS"
	endHidden     = "END HIDDEN TESTS"
)

// A Call is one call to lesson.Grade in a test.
type Call struct {
	Key        string // of an exercise, or any name
	Func       string // the student's function, as the test names it
	Cases      []cases.Case
	Lesson     int      // how many of the cases are the lesson's own; they come first
	Parameters []string // names of the function's parameters, if they are known
	Hidden     bool     // students don't see the call
}

// Worth returns the points of all cases.
func (c *Call) Worth() int {
	sum := 0
	for i := range c.Cases {
		sum += c.Cases[i].Worth()
	}
	return sum
}

// ParseTest reads the calls of a test. ok is false if the cell doesn't begin with one: then it is no test. An error
// says what else there is in the cell.
func ParseTest(source string) (calls []Call, ok bool, err error) {
	const before = "package p\nfunc _() {\n"
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", before+source+"\n}", parser.SkipObjectResolution)
	if err != nil || len(file.Decls) != 1 {
		return nil, strings.HasPrefix(strings.TrimSpace(source), "lesson.Grade("), fmt.Errorf("it isn't a list of calls to lesson.Grade")
	}
	hidden := map[int]bool{}
	inside := false
	for i, line := range strings.Split(source, "\n") {
		inside = (inside || strings.Contains(line, beginHidden)) && !strings.Contains(line, endHidden)
		hidden[i+1] = inside
	}
	for _, s := range file.Decls[0].(*ast.FuncDecl).Body.List {
		line := set.Position(s.Pos()).Line - 2
		call, is := gradeCall(s)
		if !is {
			return calls, len(calls) > 0, fmt.Errorf("line %d isn't a call to lesson.Grade: other code would run in the student's process, where it can be fooled", line)
		}
		ok = true
		c := Call{Hidden: hidden[line]}
		if len(call.Args) < 2 {
			return nil, true, fmt.Errorf("line %d: lesson.Grade takes a name and a function", line)
		}
		for i, arg := range call.Args {
			if i == 1 {
				c.Func = source[int(arg.Pos())-1-len(before) : int(arg.End())-1-len(before)]
				continue
			}
			lit, is := arg.(*ast.BasicLit)
			if !is || lit.Kind != token.STRING {
				return nil, true, fmt.Errorf("line %d: names and cases must be in quotes, so that the grader can read them", line)
			}
			text, _ := strconv.Unquote(lit.Value)
			if i > 0 {
				more, err := cases.Parse(text)
				if err != nil {
					return nil, true, fmt.Errorf("line %d, exercise %s: %w", line, c.Key, err)
				}
				c.Cases = append(c.Cases, more...)
				continue
			}
			c.Key = text
			if list, parameters, known := lesson.Cases(text); known {
				c.Cases, c.Lesson, c.Parameters = list, len(list), parameters
			}
		}
		if len(c.Cases) == 0 {
			return nil, true, fmt.Errorf("line %d: no lesson has an exercise %s, and there are no cases", line, c.Key)
		}
		calls = append(calls, c)
	}
	return calls, ok, nil
}

func gradeCall(s ast.Stmt) (*ast.CallExpr, bool) {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil, false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "Grade" {
		return nil, false
	}
	x, ok := f.X.(*ast.Ident)
	return call, ok && x.Name == "lesson"
}

// inputs are all that the student's process learns about the cases.
func (c *Call) inputs() string {
	list := [][]json.RawMessage{}
	for _, k := range c.Cases[c.Lesson:] {
		list = append(list, k.In)
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // it was read as JSON
	}
	return string(text)
}

// code is the cell that has the student's function answer.
func (c *Call) code() string {
	return fmt.Sprintf("lesson.Answers(%q, %s, %q)", c.Key, c.Func, c.inputs())
}

// A Verdict is what a test gives.
type Verdict struct {
	Points, Of int
	Parts      []Part
}

// A Part is the result of one call to lesson.Grade.
type Part struct {
	Key        string
	Hidden     bool
	Points, Of int
	Categories []Category
	Problem    string // why the function couldn't be called
	First      string // the first case that fails, unless it is hidden
}

// A Category is a kind of case.
type Category struct {
	Name       string
	Points, Of int
}

const noAnswer = "there is no answer: the function ended the program"

// compare gives points for answers.
func (c *Call) compare(answers map[int]lesson.Answer, problem string) Part {
	p := Part{Key: c.Key, Hidden: c.Hidden, Of: c.Worth()}
	if all, ok := answers[-1]; ok {
		problem = all.Problem
	}
	if len(answers) == 0 && problem == "" {
		problem = noAnswer
	}
	todo := 0
	for i := range c.Cases {
		k := &c.Cases[i]
		a, answered := answers[i]
		diff := a.Problem
		switch {
		case !answered:
			diff = problem
			if diff == "" {
				diff = noAnswer
			}
		case diff == "":
			diff = cases.Differs(a.Out, k.Want, k.Tolerance)
		}
		if a.Todo {
			todo++
		}
		points := 0
		if diff == "" {
			points = k.Worth()
		} else if p.First == "" && !c.Hidden {
			p.First = c.describe(i, a, diff)
		}
		p.Points += points
		p.add(k.Category, points, k.Worth())
	}
	if len(answers) == 0 || answers[-1].Problem != "" {
		p.First, p.Problem = "", problem
	}
	if todo == len(c.Cases) {
		p.First, p.Problem = "", "the function is not written yet"
	} else if c.Hidden && p.Problem != "" {
		p.Problem = "the function gave no answers" // why is the student's text, which may contain what it was called with
	}
	return p
}

func (p *Part) add(name string, points, of int) {
	for i := range p.Categories {
		if k := &p.Categories[i]; k.Name == name {
			k.Points, k.Of = k.Points+points, k.Of+of
			return
		}
	}
	p.Categories = append(p.Categories, Category{name, points, of})
}

// describe writes a case that fails, for the student.
func (c *Call) describe(i int, a lesson.Answer, diff string) string {
	k := &c.Cases[i]
	var in []string
	for j, raw := range k.In {
		text := cases.Text([]json.RawMessage{raw})
		if j < len(c.Parameters) {
			text = c.Parameters[j] + " = " + text
		}
		in = append(in, text)
	}
	text := fmt.Sprintf("%s:\n  input   %s\n  wanted  %s\n", k.Category, shorten(strings.Join(in, ", ")), shorten(cases.Text(k.Want)))
	if a.Out == nil {
		return text + "  got     nothing: " + shorten(diff) + "\n"
	}
	text += "  got     " + shorten(cases.Text(a.Out)) + "\n"
	if strings.HasPrefix(diff, "element") || strings.Contains(diff, "length") { // the others are plain to see
		text += "          " + shorten(diff) + "\n"
	}
	return text
}

// String writes the verdict for people.
func (v Verdict) String() string {
	var b strings.Builder
	for _, p := range v.Parts {
		name := "Exercise " + p.Key
		if p.Hidden {
			name = "Hidden cases (" + p.Key + ")"
		}
		fmt.Fprintf(&b, "%s: %d of %s", name, p.Points, humanize.Count(p.Of, "point"))
		if p.Problem != "" {
			fmt.Fprintf(&b, ": %s\n", p.Problem)
		} else {
			b.WriteString(".\n")
		}
		if p.Points < p.Of {
			for _, k := range p.Categories {
				fmt.Fprintf(&b, "  %d of %d  %s\n", k.Points, k.Of, k.Name)
			}
		}
		if p.First != "" {
			fmt.Fprintf(&b, "The first case that fails, %s", p.First)
		}
	}
	return b.String()
}

// shorten keeps a line of a verdict readable.
func shorten(s string) string { return humanize.Shorten(s, 200) }
