package lesson_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// The rule by which lessons say how long they take; docs/style.md gives the reason for each number.
const (
	wordsPerMinute       = 150
	linesPerMinute       = 8
	minutesPerGuess      = 1
	minutesPerAnswer     = 5
	minutesPerSentence   = 10
	minutesPerFunction   = 12
	minutesPerRepair     = 8
	minutesPerPrediction = 3
	timeTolerance        = 0.25
)

// An effort is what there is to do in a lesson.
type effort struct{ words, lines, guesses, answers, sentences, functions, repairs, predictions int }

func (e effort) exercises() float64 {
	return float64(minutesPerAnswer*e.answers + minutesPerSentence*e.sentences + minutesPerFunction*e.functions +
		minutesPerRepair*e.repairs + minutesPerPrediction*e.predictions)
}

func (e effort) minutes() float64 {
	return float64(e.words)/wordsPerMinute + float64(e.lines)/linesPerMinute + float64(minutesPerGuess*e.guesses) + e.exercises()
}

func (e effort) String() string {
	return fmt.Sprintf("%d words, %d lines of code, %d guesses, %d answers, %d sentences, %d functions to write, %d to repair and %d predictions",
		e.words, e.lines, e.guesses, e.answers, e.sentences, e.functions, e.repairs, e.predictions)
}

var (
	linkTarget = regexp.MustCompile(`\]\([^)]*\)`)
	aWord      = regexp.MustCompile(`\S*\pL\S*`)
	aSentence  = regexp.MustCompile(`lesson\.Check\("[0-9.]+", "`)
)

// effortOf counts what a reader sees unfolded: no solutions, no sources, no folded code, no figures of an H100, and not
// the same in PyTorch.
func effortOf(n *notebook.Notebook) (e effort) {
	for _, c := range n.Cells {
		has := tags(c)
		switch {
		case slices.Contains(has, "solution"):
			if aSentence.MatchString(c.Source) { // what was counted as an answer is one in words
				e.answers, e.sentences = e.answers-1, e.sentences+1
			}
		case slices.ContainsFunc(has, func(tag string) bool {
			return slices.Contains([]string{"check-only", "pytorch", "recorded", "hide-input"}, tag)
		}):
		case c.Type == "markdown":
			text, _, _ := strings.Cut(c.Source, "**Sources.**")
			if strings.HasPrefix(text, prediction) {
				e.predictions++
			}
			e.words += len(aWord.FindAllString(linkTarget.ReplaceAllString(text, "]"), -1))
		case slices.Contains(has, "exercise"):
			switch {
			case !strings.Contains(c.Source, "lesson.Grade("):
				e.answers++
			case strings.Contains(c.Source, "lesson.Todo"):
				e.functions++
			default:
				e.repairs++
			}
		case c.Type == "code":
			e.guesses += strings.Count(c.Source, "lesson.Guess(")
			for line := range strings.Lines(c.Source) {
				if strings.TrimSpace(line) != "" {
					e.lines++
				}
			}
		}
	}
	return e
}

var times = regexp.MustCompile(`\*\*Time:\*\* about ([0-9]+) minutes, ([0-9]+) of them for the exercises\.`)

// TestTimes compares the times that lessons state with those of the rule. With -update it writes the rule's, rounded to
// five minutes, where they are too far apart.
func TestTimes(t *testing.T) {
	for file, n := range lessons(t) {
		e := effortOf(n)
		first := n.Cells[0]
		stated := times.FindStringSubmatch(first.Source)
		if stated == nil {
			t.Errorf("%s: the first cell says **Time:** about … minutes, … of them for the exercises.", file)
			continue
		}
		off := false
		for i, want := range []float64{e.minutes(), e.exercises()} {
			said, _ := strconv.ParseFloat(stated[i+1], 64)
			off = off || math.Abs(said-want) > timeTolerance*want
		}
		if !off {
			continue
		}
		all, exercises := fives(e.minutes()), fives(e.exercises())
		if !*update {
			t.Errorf("%s: %s are %d minutes, %d of them for the exercises, and it says %s and %s; "+
				"go test ./notebooks/lesson -run TestTimes -update writes them", file, e, all, exercises, stated[1], stated[2])
			continue
		}
		first.Source = strings.Replace(first.Source, stated[0],
			fmt.Sprintf("**Time:** about %d minutes, %d of them for the exercises.", all, exercises), 1)
		about, _ := n.Metadata["lectern"].(notebook.Object)
		about["minutes"] = json.Number(strconv.Itoa(all))
		if err := n.Write(filepath.Join(folder, file)); err != nil {
			t.Error(err)
		}
	}
}

// A lesson that takes longer than longestSitting minutes says where to stop half way.
const longestSitting = 75

// TestLongLessonsSayWhereToStop: the place is between two sections, before the exercises, and says what the rest needs.
func TestLongLessonsSayWhereToStop(t *testing.T) {
	const stop = "**A good place to stop.** "
	for file, n := range lessons(t) {
		about, _ := n.Metadata["lectern"].(notebook.Object)
		minutes, _ := strconv.Atoi(fmt.Sprint(about["minutes"]))
		found := slices.IndexFunc(n.Cells, func(c *notebook.Cell) bool { return strings.HasPrefix(c.Source, stop) })
		switch long := minutes > longestSitting; {
		case long && found < 0:
			t.Errorf("%s: it takes %d minutes, and no cell begins with %q", file, minutes, stop)
		case !long && found >= 0:
			t.Errorf("%s, cell %s: a lesson of %d minutes needs no place to stop", file, n.Cells[found].ID, minutes)
		case long && !strings.HasPrefix(n.Cells[found+1].Source, "## "):
			t.Errorf("%s, cell %s: the place to stop is before a heading", file, n.Cells[found].ID)
		}
	}
}

// fives rounds to five minutes.
func fives(minutes float64) int { return 5 * int(math.Round(minutes/5)) }
