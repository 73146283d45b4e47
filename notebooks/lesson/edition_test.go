package lesson_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

var (
	graded     = regexp.MustCompile(`lesson\.Grade\("([0-9]{1,2}\.[0-9])"`)
	linked     = regexp.MustCompile(`\]\(https://[^)\s]+\)`)
	timeStated = regexp.MustCompile(`\*\*Time:\*\* about ([0-9]+) minutes`)
)

// TestSecondEdition holds all lessons to the rules of the second edition: readers guess and write functions instead of
// reading what came out, nothing is asserted in their sight, and each source has a link.
func TestSecondEdition(t *testing.T) {
	all := lessons(t)
	title := func(file string) string {
		line, _, _ := strings.Cut(all[file].Cells[0].Source, "\n")
		return strings.TrimPrefix(line, "# ")
	}
	for f, n := range all {
		about, _ := n.Metadata["lectern"].(notebook.Object)
		if about["edition"] == nil {
			t.Errorf("%s: its metadata does not say that it is of the second edition", f)
			continue
		}
		first, last := n.Cells[0].Source, n.Cells[len(n.Cells)-1].Source
		stated := timeStated.FindStringSubmatch(first)
		if stated == nil || stated[1] != fmt.Sprint(n.About().Minutes) || !strings.Contains(first, "**Before this:**") {
			t.Errorf("%s: the first cell says how long it takes, as the index does (%d minutes), and what to read before", f, n.About().Minutes)
		}
		for _, file := range n.About().Needs {
			if all[file] == nil || !strings.Contains(first, "["+title(file)+"]("+file+")") {
				t.Errorf("%s: it needs %s, which is no lesson that the first cell links by its title", f, file)
			}
		}
		_, sources, _ := strings.Cut(last, "**Sources.** ")
		for _, source := range strings.Split(sources, " · ") {
			if !linked.MatchString(source) {
				t.Errorf("%s: a source without a link: %s", f, source)
			}
		}
		if !strings.Contains(sources, "cs336") {
			t.Errorf("%s: the course is linked", f)
		}
		guesses := 0
		var asked, solved []string
		for i, c := range n.Cells {
			has := tags(c)
			if c.Type != "code" {
				continue
			}
			hidden := slices.Contains(has, "check-only")
			guesses += strings.Count(c.Source, "lesson.Guess(")
			if strings.Contains(c.Source, "lesson.Expect(") && !hidden {
				t.Errorf("%s, cell %d: lesson.Expect stands in cells tagged check-only", f, i)
			}
			if strings.Contains(c.Source, "lesson.Guess(") && !strings.Contains(c.Source, ", nil,") {
				t.Errorf("%s, cell %d: the guess is stored with an answer", f, i)
			}
			if lines := strings.Count(strings.TrimSpace(c.Source), "\n") + 1; lines > 25 && !hidden && !slices.Contains(has, "hide-input") {
				t.Errorf("%s, cell %d: %d lines, at most 25 are wanted", f, i, lines)
			}
			for _, m := range graded.FindAllStringSubmatch(c.Source, -1) {
				if slices.Contains(has, "exercise") {
					asked = append(asked, m[1])
					kept := slices.ContainsFunc(lesson.KeptFunctions(), func(k lesson.Kept) bool { return k.Key == m[1] })
					if write := strings.Contains(c.Source, "lesson.Todo"); write != kept {
						t.Errorf("%s, cell %d: exercise %s is a function to write: %t; package mine keeps it: %t", f, i, m[1], write, kept)
					}
				} else if slices.Contains(has, "solution") {
					solved = append(solved, m[1])
				}
			}
		}
		if guesses < 3 {
			t.Errorf("%s: %d guesses, at least three are wanted", f, guesses)
		}
		if len(asked) < 2 || !slices.Equal(asked, solved) {
			t.Errorf("%s: exercises in code %v with solutions %v; at least two are wanted, each with its solution", f, asked, solved)
		}
	}
}
