package course

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/po"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// put writes a lesson of one guess and two exercises, with the outputs of the first cells.
func put(t *testing.T, dir, file string, changed time.Time, outputs ...*notebook.Output) {
	t.Helper()
	n := &notebook.Notebook{Minor: 5, Metadata: notebook.Object{"lectern": notebook.Object{"minutes": 30, "needs": []string{"01-one"}, "summary": "How | it [is]."}}}
	n.Cells = []*notebook.Cell{{ID: "title", Type: "markdown", Source: "# The title: and more"}}
	for i, source := range []string{`lesson.Guess("How many?", nil, 3)`, `lesson.Check("1.1", nil)`, `lesson.Grade("1.10", f)`} {
		c := &notebook.Cell{ID: fmt.Sprint("c", i), Type: "code", Source: source}
		if i < len(outputs) && outputs[i] != nil {
			c.Outputs = []*notebook.Output{outputs[i]}
		}
		n.Cells = append(n.Cells, c)
	}
	path := filepath.Join(dir, file)
	if err := n.Write(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, changed, changed); err != nil {
		t.Fatal(err)
	}
}

func guessed(text string) *notebook.Output {
	return &notebook.Output{Type: "display_data", Data: notebook.Object{notebook.GuessType: notebook.Object{"question": "How many?"}, "text/plain": text}}
}

func said(text string) *notebook.Output {
	return &notebook.Output{Type: "stream", Name: "stdout", Text: text + "\n"}
}

func TestRead(t *testing.T) {
	dir, monday := t.TempDir(), time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	put(t, dir, "01-one.ipynb", monday, guessed("✓ How many? Right, it is 3."), said("✓ Exercise 1.1 is right."), said("✓ Exercise 1.10: 5 points of 5."))
	put(t, dir, "02-two.ipynb", monday.Add(time.Hour), guessed("? How many? Put your guess"), said("✓ Exercise 1.1 is right."), said("Exercise 1.10: 3 points of 5."))
	put(t, dir, "03-three.ipynb", monday.Add(2*time.Hour))
	put(t, dir, "02-two.newer.ipynb", monday.Add(3*time.Hour), guessed("✓ How many? Right, it is 3."))
	put(t, dir, "02-two-Copy1.ipynb", monday.Add(3*time.Hour), guessed("✓ How many? Right, it is 3."))
	put(t, dir, "notes.ipynb", monday.Add(3*time.Hour), said("✓ Exercise 1.1 is right."))
	if err := os.WriteFile(filepath.Join(dir, "04-damaged.ipynb"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range c {
		got = append(got, fmt.Sprintf("%s %s %d of %d, %d of %d, %t %t", l.Number, l.Title, l.Right, l.Exercises, l.Guessed, l.Guesses, l.Begun(), l.Done()))
	}
	want := []string{"01 The title 2 of 2, 1 of 1, true true", "02 The title 1 of 2, 0 of 1, true false", "03 The title 0 of 2, 0 of 1, false false"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	page := c.Markdown()
	for _, part := range []string{
		"**Continue with [02 The title](02-two.ipynb#cell-id=c2).** You have solved 3 of 6 exercises, and made 1 of 3 guesses.",
		`| [01 The title](01-one.ipynb) | How \| it \[is\]. | 30 |  | 2 of 2 ✓ | 1 of 1 |`,
		"| 30 | [01](01-one.ipynb) | 0 of 2 | 0 of 1 |",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("%q is not in\n%s", part, page)
		}
	}
	t.Setenv("LECTERN_ROOT", filepath.Join("..", ".."))
	t.Setenv(po.LanguageVariable, "zh")
	page = c.Markdown()
	for _, part := range []string{"**继续学 [02 The title](02-two.ipynb#cell-id=c2)。** 你做对的练习：3 / 6，猜过的问题：1 / 3。", "| 课 | ", "| 30 |  | 2 / 2 ✓ | 1 / 1 |"} {
		if !strings.Contains(page, part) {
			t.Errorf("in Chinese, %q is not in\n%s", part, page)
		}
	}
}

func TestNext(t *testing.T) {
	dir, monday := t.TempDir(), time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	solved := []*notebook.Output{nil, said("✓ Exercise 1.1 is right."), said("✓ Exercise 1.10: 5 points of 5.")}
	for _, step := range []struct{ does, want string }{
		{"", "**Begin with [01 "},
		{"02-two.ipynb", "**Go on with [03 "}, // and not with the first, which was passed over
		{"03-three.ipynb", "**Go on with [01 "},
		{"01-one.ipynb", "**Everything is solved.**"},
	} {
		for _, file := range []string{"01-one.ipynb", "02-two.ipynb", "03-three.ipynb"} {
			switch {
			case step.does == "":
				put(t, dir, file, monday)
			case step.does == file:
				put(t, dir, file, monday.Add(time.Hour), solved...)
			}
		}
		monday = monday.Add(time.Hour)
		c, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Markdown(); !strings.HasPrefix(got, step.want) {
			t.Errorf("after %q: %.60s", step.does, got)
		}
	}
}

// Links find files whatever their names are.
func TestLinks(t *testing.T) {
	dir, monday := t.TempDir(), time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for _, file := range []string{"01-one.ipynb", "02-my own (50 %).ipynb"} {
		put(t, dir, file, monday)
	}
	c, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := "](02-my%20own%20%2850%20%25%29.ipynb)"; !strings.Contains(c.Markdown(), want) {
		t.Errorf("there is no link %s in\n%s", want, c.Markdown())
	}
}

// An exercise that a student tries in a further cell is the same exercise.
func TestExerciseInTwoCells(t *testing.T) {
	dir := t.TempDir()
	n := &notebook.Notebook{Minor: 5, Metadata: notebook.Object{}, Cells: []*notebook.Cell{
		{ID: "a", Type: "code", Source: `lesson.Check("1.1", nil)`},
		{ID: "b", Type: "code", Source: `lesson.Check("1.1", 7)`, Outputs: []*notebook.Output{said("✓ Exercise 1.1 is right.")}},
		{ID: "c", Type: "code", Source: `lesson.Check("1.2", nil)`}, {ID: "d", Type: "code", Source: `lesson.Check("1.2", 1)`},
	}}
	if err := n.Write(filepath.Join(dir, "01-one.ipynb")); err != nil {
		t.Fatal(err)
	}
	c, err := Read(dir)
	if err != nil || len(c) != 1 || c[0].Right != 1 || c[0].Exercises != 2 || c[0].next != "c" {
		t.Errorf("got %+v, %v; want 1 of 2 exercises, and to go on with cell c", c[0], err)
	}
}

// Only a line about the exercise says that it is right: numbers stand in other lines with a tick, too.
func TestSolved(t *testing.T) {
	for line, want := range map[string]bool{
		"✓ Exercise 1.1 is right.": true, "✓ Exercise 1.1: 5 points of 5.": true, "✓ Exercise 1.1": true, "✓ Exercise 1.1.": true, "two\n✓ 练习 1.1：得 5 分": true, "✓ Bài tập 1.1 đúng": true,
		"✓ Exercise 1.10 is right.": false, "✓ Exercise 1.1.2 is right.": false, "✓ Exercise 11.1 is right.": false, "Exercise 1.1: 2 points of 5.": false,
		"✓ the mean: 1.1": false, "✓ 3 of 1.1": false, "✗ Exercise 1.1": false, "so ✓ Exercise 1.1": false,
	} {
		if got := solved(&notebook.Cell{Outputs: []*notebook.Output{said(line)}}, "1.1"); got != want {
			t.Errorf("%q: solved is %t", line, got)
		}
	}
	if solved(&notebook.Cell{Outputs: []*notebook.Output{guessed("✓ Is it 1.1? Right, it is 1.1.")}}, "1.1") {
		t.Error("a guess solves an exercise")
	}
}
