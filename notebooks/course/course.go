// Package course tells how far a student has come in the lessons, from the notebooks that they work in.
package course

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/po"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// HomeFile is the name of the notebook that shows the course, beside the lessons.
const HomeFile = "home.ipynb"

// A Lesson is a notebook of the course, and what a student has done in it.
type Lesson struct {
	File    string // its name, such as 05-storage-strides-views.ipynb
	Number  string // 05, or none
	Title   string
	Summary string
	Minutes int      // that it takes, about
	Needs   []string // names of the notebooks that it builds on

	Exercises, Right int // how many there are, and how many are solved
	Guesses, Guessed int // how many are asked for, and how many were made

	next string    // the cell of the first exercise that is not solved
	at   time.Time // of the last change, if any cell has run
}

// Done reports whether all exercises are solved.
func (l *Lesson) Done() bool { return l.Right == l.Exercises }

// Begun reports whether any cell has run.
func (l *Lesson) Begun() bool { return !l.at.IsZero() }

// A Course is its lessons in order.
type Course []*Lesson

var (
	lessonName  = regexp.MustCompile(`^(\d+)-.*\.ipynb$`)
	furtherCopy = regexp.MustCompile(`(\.newer\d*|-Copy\d+)\.ipynb$`) // made by lab, and by JupyterLab's Duplicate
	exercise    = regexp.MustCompile(`\blesson\.(?:Check|Grade)\(\s*"([^"]+)"`)
	guess       = regexp.MustCompile(`\blesson\.Guess\(`)
)

// Read reads the lessons in a folder: the notebooks whose names begin with a number. A file that can't be read as a
// notebook is left out.
func Read(dir string) (Course, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var c Course
	for _, e := range entries {
		m := lessonName.FindStringSubmatch(e.Name())
		if m == nil || furtherCopy.MatchString(e.Name()) {
			continue
		}
		n, err := notebook.Read(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // it may be just being written
		}
		l := read(n)
		l.File, l.Number = e.Name(), m[1]
		if l.Title == "" {
			l.Title = strings.TrimSuffix(l.File, ".ipynb")
		}
		if info, err := e.Info(); err == nil && begun(n) {
			l.at = info.ModTime()
		}
		c = append(c, l)
	}
	return c, nil
}

// read looks through the cells of a lesson.
func read(n *notebook.Notebook) *Lesson {
	about := n.About()
	l := &Lesson{Title: n.Title(), Summary: about.Summary, Minutes: about.Minutes, Needs: about.Needs}
	type tried struct {
		cell  string // the first that it stands in
		right bool   // in any
	}
	exercises := map[string]*tried{}
	var keys []string
	for _, c := range n.Cells {
		if c.Type != "code" {
			continue
		}
		for _, m := range exercise.FindAllStringSubmatch(c.Source, -1) {
			key := m[1]
			if exercises[key] == nil {
				exercises[key] = &tried{cell: c.ID}
				keys = append(keys, key)
			}
			if solved(c, key) {
				exercises[key].right = true
			}
		}
		l.Guesses += len(guess.FindAllString(c.Source, -1))
		for _, out := range c.Outputs {
			if _, ok := out.Data[notebook.GuessType]; ok && !strings.HasPrefix(out.Plain(), "?") {
				l.Guessed++
			}
		}
	}
	l.Exercises = len(keys)
	for _, key := range keys {
		if x := exercises[key]; x.right {
			l.Right++
		} else {
			l.next = cmp.Or(l.next, x.cell)
		}
	}
	return l
}

// solved reports whether a line of a cell's outputs says that an exercise is right. In every language it begins with a
// tick, the word for an exercise, and its number; what lesson.Expect and lesson.Guess say may have such a number later.
func solved(c *notebook.Cell, key string) bool {
	right := regexp.MustCompile(`(?m)^✓ [\pL\pM ]+ ` + regexp.QuoteMeta(key) + `(?:$|[^\d.]|\.(?:\D|$))`)
	return slices.ContainsFunc(c.Outputs, func(out *notebook.Output) bool {
		_, guess := out.Data[notebook.GuessType]
		return !guess && right.MatchString(out.Plain())
	})
}

// begun reports whether any cell has run.
func begun(n *notebook.Notebook) bool {
	return slices.ContainsFunc(n.Cells, func(c *notebook.Cell) bool { return c.Count > 0 || len(c.Outputs) > 0 })
}

// Next is the lesson to go on with: the one that was worked on last, if something is left of it, else the first after
// it with something left; nil if everything is solved.
func (c Course) Next() *Lesson {
	from := 0
	for i, l := range c {
		if l.at.After(c[from].at) {
			from = i
		}
	}
	for _, l := range slices.Concat(c[from:], c[:from]) {
		if !l.Done() || !l.Begun() {
			return l
		}
	}
	return nil
}

// Markdown is the course as a page: where to go on, and a table of all lessons, in the student's language.
func (c Course) Markdown() string {
	return c.Page(func(english string) string { return po.Say(english) })
}

// Page is the same with the texts that say returns for the English ones.
func (c Course) Page(say func(english string) string) string {
	var b strings.Builder
	right, exercises, guessed, guesses := 0, 0, 0, 0
	for _, l := range c {
		right, exercises = right+l.Right, exercises+l.Exercises
		guessed, guesses = guessed+l.Guessed, guesses+l.Guesses
	}
	switch l := c.Next(); {
	case l == nil:
		b.WriteString(say("**Everything is solved.**"))
	case l.Begun():
		fmt.Fprintf(&b, say("**Continue with %s.**"), l.link(l.next))
	case slices.ContainsFunc(c, (*Lesson).Begun):
		fmt.Fprintf(&b, say("**Go on with %s.**"), l.link(""))
	default:
		fmt.Fprintf(&b, say("**Begin with %s.**"), l.link(""))
	}
	b.WriteString(" ")
	fmt.Fprintf(&b, say("You have solved %d of %d exercises, and made %d of %d guesses."), right, exercises, guessed, guesses)
	b.WriteString("\n\n" + say("| lesson | what it is about | minutes | builds on | exercises | guesses |") + "\n|---|---|--:|---|--:|--:|\n")
	of := say("%d of %d")
	byFile := map[string]*Lesson{}
	for _, l := range c {
		var needs []string
		for _, name := range l.Needs {
			if n := byFile[name]; n != nil {
				needs = append(needs, fmt.Sprintf("[%s](%s)", n.Number, url.PathEscape(n.File)))
			}
		}
		byFile[l.File] = l
		mark := ""
		if l.Begun() && l.Done() {
			mark = " ✓"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s | "+of+"%s | "+of+" |\n", l.link(""), cell(l.Summary), l.Minutes, strings.Join(needs, ", "), l.Right, l.Exercises, mark, l.Guessed, l.Guesses)
	}
	return b.String()
}

// link leads to the lesson, or to a cell of it.
func (l *Lesson) link(id string) string {
	if id != "" {
		id = "#cell-id=" + id
	}
	return fmt.Sprintf("[%s %s](%s%s)", l.Number, cell(l.Title), url.PathEscape(l.File), id)
}

// cell is a text that can stand in a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "[", `\[`, "]", `\]`, "\n", " ").Replace(text)
}
