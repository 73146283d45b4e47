package lesson_test

// These tests look at the lessons as they are stored. That they run, and give
// what is stored, is what `go run ./kernel check` tests.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

// folder is where the lessons are.
const folder = ".."

// lessons reads all lessons, by file name.
func lessons(t *testing.T) map[string]*notebook.Notebook {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.ipynb"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no lessons: %v", err)
	}
	all := map[string]*notebook.Notebook{}
	for _, f := range files {
		if all[filepath.Base(f)], err = notebook.Read(f); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func tags(c *notebook.Cell) []string {
	var list []string
	found, _ := c.Metadata["tags"].([]any)
	for _, x := range found {
		list = append(list, fmt.Sprint(x))
	}
	return list
}

var (
	unfolds  = regexp.MustCompile(`<details><summary>([0-9,]+)</summary>((?:<div>[^<]*</div>)+)</details>`)
	lastPart = regexp.MustCompile(`([0-9,]+)</div>`)
)

// TestReportsAddUp adds up what the numbers of reports in lessons unfold into.
func TestReportsAddUp(t *testing.T) {
	number := func(text string) (n int) {
		t.Helper()
		if _, err := fmt.Sscan(strings.ReplaceAll(text, ",", ""), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	reports := 0
	for f, n := range lessons(t) {
		for _, c := range n.Cells {
			for _, o := range c.Outputs {
				html, _ := o.Data["text/html"].(string)
				found := unfolds.FindAllStringSubmatch(html, -1)
				for _, m := range found {
					sum := 0
					for _, part := range lastPart.FindAllStringSubmatch(m[2], -1) {
						sum += number(part[1])
					}
					if sum != number(m[1]) {
						t.Errorf("%s: cell %s: %s unfolds into %d: %s", f, c.ID, m[1], sum, m[2])
					}
				}
				if len(found) > 0 {
					reports++
				} else if text, _ := o.Data["text/plain"].(string); strings.HasPrefix(text, "operation  calls ") || strings.HasPrefix(text, "bytes on cpu ") {
					t.Errorf("%s: no number unfolds in the report of cell %s; go run ./kernel run stores it anew", f, c.ID)
				}
			}
		}
	}
	if reports < 4 {
		t.Errorf("numbers unfold in %d reports", reports)
	}
}

// Whatever program saved a lesson last, it is stored in one form, so that a
// change of a word is a change of a line.
func TestCanonical(t *testing.T) {
	for f, n := range lessons(t) {
		stored, err := os.ReadFile(filepath.Join(folder, f))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(stored, n.Bytes()) {
			t.Errorf("%s is not in canonical form; go run ./kernel run notebooks/%s writes it so", f, f)
		}
	}
}

var (
	fileName = regexp.MustCompile(`^(0|[0-9]{2})-[a-z-]+\.ipynb$`)
	check    = regexp.MustCompile(`lesson\.(?:Check|Grade)\("(([0-9]{1,2})\.[0-9])"`)
	source   = regexp.MustCompile(`\*\*Sources?\.\*\* .{20}`)
)

// folds are the tags of cells that JupyterLab shows folded, too, and how these begin.
var folds = map[string]string{
	"pytorch":     "<details>\n<summary>The same in PyTorch</summary>\n\n",
	"explanation": "<details>\n<summary>What you should have seen</summary>\n\n",
	"recorded":    "<details>\n<summary>On an H100</summary>\n\n",
}

// hidden reports whether JupyterLab shows neither source nor outputs of a cell until one asks for them.
func hidden(c *notebook.Cell) bool {
	m, _ := c.Metadata["jupyter"].(map[string]any)
	return m["source_hidden"] == true && m["outputs_hidden"] == true
}

// TestParts looks for what every lesson has: questions, numbers that are
// asserted, the same in PyTorch, exercises with solutions, an end that says what
// one can do now, and sources.
func TestParts(t *testing.T) {
	for f, n := range lessons(t) {
		name := fileName.FindStringSubmatch(f)
		if name == nil {
			t.Errorf("%s: a lesson's name is two digits (or 0, before the first) and its topic, such as 05-views.ipynb", f)
			continue
		}
		if first := n.Cells[0].Source; !strings.HasPrefix(first, "# ") || !strings.Contains(first, "\n1. ") || !strings.Contains(first, "\n2. ") {
			t.Errorf("%s: the first cell has a title and the questions that the lesson answers", f)
		}
		if last := n.Cells[len(n.Cells)-1].Source; !strings.HasPrefix(last, "## You can now\n") || !source.MatchString(last) {
			t.Errorf("%s: the last cell says what one can do now, and where it is from", f)
		}
		if line := n.About().Summary; len(line) < 30 || len(line) > 120 {
			t.Errorf("%s: the metadata have a line for the index, {\"lectern\": {\"summary\": …}}; it is %q", f, line)
		}
		asserted, pytorch := 0, 0
		var asked, solved []string
		for i, c := range n.Cells {
			asserted += strings.Count(c.Source, "lesson.Expect(")
			has := tags(c)
			if slices.Contains(has, "pytorch") {
				pytorch++
			}
			for tag, fold := range folds {
				if slices.Contains(has, tag) && (!strings.HasPrefix(c.Source, fold) || !strings.HasSuffix(c.Source, "\n\n</details>")) {
					t.Errorf("%s, cell %d: a cell tagged %s is folded for JupyterLab, too: it begins with %q and ends with </details>", f, i, tag, fold)
				}
			}
			if m, _ := c.Metadata["jupyter"].(map[string]any); slices.Contains(has, "hide-input") && m["source_hidden"] != true {
				t.Errorf("%s, cell %s: JupyterLab folds the code, too: {\"jupyter\": {\"source_hidden\": true}} in its metadata", f, c.ID)
			}
			if slices.Contains(has, "solution") && !hidden(c) {
				t.Errorf("%s, cell %d: source and outputs of a solution are hidden in JupyterLab, too", f, i)
			}
			for _, m := range check.FindAllStringSubmatch(c.Source, -1) {
				if m[2] != name[1] {
					t.Errorf("%s, cell %d: exercise %s is that of another lesson", f, i, m[1])
				}
				switch {
				case slices.Contains(has, "exercise"):
					asked = append(asked, m[1])
				case slices.Contains(has, "solution"):
					solved = append(solved, m[1])
				default:
					t.Errorf("%s, cell %d: lesson.Check and lesson.Grade stand in cells tagged exercise or solution", f, i)
				}
			}
			if c.Type == "code" && c.Count == 0 && strings.TrimSpace(c.Source) != "" {
				t.Errorf("%s, cell %d: it was never run: go run ./kernel run notebooks/%s", f, i, f)
			}
		}
		if asserted == 0 {
			t.Errorf("%s: no number is asserted", f)
		}
		if pytorch == 0 {
			t.Errorf("%s: no cell shows the same in PyTorch", f)
		}
		if len(asked) < 3 || len(asked) > 7 || !slices.Equal(asked, solved) {
			t.Errorf("%s: exercises %v with solutions %v; three to seven are wanted, each with its solution", f, asked, solved)
		}
	}
}

// An exercise as it is stored is not answered yet, its solution is right, and no cell shows a remark of the kernel.
func TestOutputs(t *testing.T) {
	for f, n := range lessons(t) {
		for i, c := range n.Cells {
			var said strings.Builder
			for _, o := range c.Outputs {
				said.WriteString(o.Text)
			}
			for _, o := range c.Outputs {
				if o.Type == "stream" && o.Name == "stderr" {
					t.Errorf("%s, cell %d: the kernel has something to say of it: %s", f, i, o.Text)
				}
			}
			has := tags(c)
			open := strings.Contains(said.String(), "replace nil with your answer") || strings.Contains(said.String(), ", then run the cell again.") ||
				strings.Contains(said.String(), "The first case that fails") // a program to repair
			if c.Type == "code" && slices.Contains(has, "exercise") && !open {
				t.Errorf("%s, cell %d: the exercise is stored with an answer: %s", f, i, said.String())
			}
			if slices.Contains(has, "solution") && !strings.Contains(said.String(), "✓ Exercise ") {
				t.Errorf("%s, cell %d: the solution is wrong: %s", f, i, said.String())
			}
		}
	}
}

// prediction begins a text that has readers predict, change and explain.
const prediction = "**Predict, change, explain.**"

// Where readers predict, change and explain, there is a cell to change, then what they should have seen, folded, and
// its numbers are asserted.
func TestPredictions(t *testing.T) {
	want := []string{"code []", "markdown [explanation]", "code [check-only]"}
	for f, n := range lessons(t) {
		for i, c := range n.Cells {
			if !strings.HasPrefix(c.Source, prediction) {
				continue
			}
			var got []string
			for _, next := range n.Cells[i+1 : min(i+4, len(n.Cells))] {
				got = append(got, fmt.Sprint(next.Type, " ", tags(next)))
			}
			if !slices.Equal(got, want) || !strings.Contains(n.Cells[i+3].Source, "lesson.Expect(") {
				t.Errorf("%s, cell %d: %v follow; wanted are %v, the last of them with lesson.Expect", f, i, got, want)
			}
		}
	}
}

// longestBeforeGuess is how many lines of code may stand before a question in its cell.
const longestBeforeGuess = 9

// branch begins a line that takes one of several ways.
var branch = regexp.MustCompile(`(?m)^\s*(if|switch|case) |else`)

// The question stands before the work: what takes more lines is run in a cell before. And no if or switch puts together
// one of the choices, which would show the reader the others: lesson.Largest and its neighbors pick it.
func TestGuessesAskFirst(t *testing.T) {
	for f, n := range lessons(t) {
		for _, c := range n.Cells {
			before, _, asks := strings.Cut(c.Source, "lesson.Guess(")
			if c.Type != "code" || !asks {
				continue
			}
			lines := 0
			for line := range strings.Lines(before) {
				if strings.TrimSpace(line) != "" {
					lines++
				}
			}
			if lines > longestBeforeGuess {
				t.Errorf("%s, cell %s: %d lines stand before its question, at most %d may; run them in a cell before", f, c.ID, lines, longestBeforeGuess)
			}
			if strings.Contains(c.Source, "lesson.Choices(") && branch.MatchString(before) {
				t.Errorf("%s, cell %s: an if or switch finds the choice that is right: see lesson.Pick", f, c.ID)
			}
		}
	}
}

// A guess that has a remark of its own as a mistake is not accepted as right.
func TestMistakesAreWrong(t *testing.T) {
	asked := 0
	for f, n := range lessons(t) {
		for i, c := range n.Cells {
			for _, o := range c.Outputs {
				stored, err := json.Marshal(o.Data[lesson.GuessType])
				if err != nil {
					t.Fatal(err)
				}
				var q struct {
					Question        string
					Answer          any
					Share, Distance float64
					Mistakes        []struct{ Guess any }
				}
				if err := json.Unmarshal(stored, &q); err != nil {
					t.Fatalf("%s, cell %d: %v", f, i, err)
				}
				for _, m := range q.Mistakes {
					asked++
					answer, number := q.Answer.(float64)
					if guess, ok := m.Guess.(float64); ok && number {
						if math.Abs(guess-answer) <= max(q.Distance, q.Share*math.Abs(answer)) {
							t.Errorf("%s, cell %d: %s A guess of %g is a mistake, and right", f, i, q.Question, guess)
						}
					} else if reflect.DeepEqual(m.Guess, q.Answer) {
						t.Errorf("%s, cell %d: %s A guess of %v is a mistake, and right", f, i, q.Question, m.Guess)
					}
				}
			}
		}
	}
	if asked < 100 {
		t.Errorf("%d mistakes are in the lessons: are guesses stored in another form?", asked)
	}
}

// Lines of code, Python's in the texts among them, fit beside the prompt of a page on a small screen, and nobody likes
// to scroll a lesson sideways. Code in a text stands in a fold, with a margin of its own.
func TestNoLongLines(t *testing.T) {
	const limit, fencedLimit = 84, 80
	for f, n := range lessons(t) {
		for _, c := range n.Cells {
			fenced := false
			for line := range strings.Lines(c.Source) {
				if c.Type == "markdown" && strings.HasPrefix(line, "```") {
					fenced = !fenced
				}
				wide := len([]rune(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")))
				if c.Type == "code" && wide > limit || fenced && wide > fencedLimit {
					t.Errorf("%s, cell %s: a line of %d characters, at most %d in code and %d in a text are wanted: %s",
						f, c.ID, wide, limit, fencedLimit, line)
				}
			}
		}
	}
}
