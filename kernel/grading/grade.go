package grading

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

// A Report is the result of grading one submission.
type Report struct {
	Student    string
	Points, Of int
	Tests      []Result           // in the order of the source
	Notes      []string           // what the teacher and the student should know
	Problem    string             // why it could not be graded; then there are no points
	Notebook   *notebook.Notebook // as it was graded, with outputs and without hidden tests; nil with a Problem

	tests map[string]*notebook.Cell // of the notebook, by their IDs
}

// A Result is what a test of the assignment gives.
type Result struct {
	Test    *Test
	Verdict Verdict
}

// Grade runs a submission, whose other files are in work; "" means that there are none.
//
// It runs twice where there are hidden cases: once as its student sees it, without them, and then in another kernel
// with another disk, of which only the points are kept. So a function may remember what hidden cases call it with, but
// no cell can show it.
func (s *Source) Grade(ctx context.Context, o Options, submission *notebook.Notebook, work string) (*Report, error) {
	merged, notes := s.merge(submission)
	report := &Report{Of: s.Points(), Notes: notes, Notebook: &notebook.Notebook{Metadata: notebook.Object{}}}
	r, err := Start(ctx, o, work)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	verdicts, err := s.run(ctx, r, merged, report)
	if err != nil {
		return nil, err
	}
	if s.hides() {
		r.Close()
		again, err := Start(ctx, o, work)
		if err != nil {
			return nil, err
		}
		defer again.Close()
		again.until = r.until
		hidden, err := s.run(ctx, again, merged, nil)
		if err != nil {
			return nil, err
		}
		if note := "nothing more ran: " + r.late(); time.Now().After(r.until) && !slices.Contains(report.Notes, note) {
			report.Notes = append(report.Notes, note)
		}
		for id, v := range verdicts {
			for i := range v.Parts {
				if v.Parts[i].Hidden {
					v.Parts[i] = hidden[id].Parts[i]
				}
			}
		}
	}
	for i := range s.Tests {
		t := &s.Tests[i]
		v := Verdict{Of: t.Points}
		if got := verdicts[t.ID]; got != nil {
			v = *got
		}
		for _, p := range v.Parts {
			v.Points += p.Points
		}
		report.Points += v.Points
		report.Tests = append(report.Tests, Result{t, v})
		if c := report.tests[t.ID]; c != nil {
			c.Outputs = []*notebook.Output{{Type: "stream", Name: "stdout", Text: v.String()}}
		}
	}
	return report, nil
}

// hides reports whether the assignment has hidden cases.
func (s *Source) hides() bool {
	return slices.ContainsFunc(s.Tests, func(t Test) bool {
		return slices.ContainsFunc(t.Calls, func(c Call) bool { return c.Hidden })
	})
}

// run runs the cells of a submission and returns what its tests give, part by part. What cells show goes into the
// report, and then no hidden case runs. Without a report, hidden cases run, and nothing is kept but points.
func (s *Source) run(ctx context.Context, r *Runner, merged []mergedCell, report *Report) (map[string]*Verdict, error) {
	verdicts := map[string]*Verdict{}
	tests := map[string]*Test{}
	for i := range s.Tests {
		tests[s.Tests[i].ID] = &s.Tests[i]
	}
	var rec notebook.Recorder
	gone, kept := "", 0 // why nothing runs any more, and how many bytes of outputs there are
	for _, c := range merged {
		shown := *c.Cell
		shown.Outputs, shown.Count = nil, 0
		if report != nil {
			report.Notebook.Cells = append(report.Notebook.Cells, &shown)
		}
		if c.Type != "code" || strings.TrimSpace(c.Source) == "" {
			continue
		}
		rec.Begin(&shown)
		if t := tests[c.id]; t != nil {
			v := &Verdict{Of: t.Points}
			for i := range t.Calls {
				call, problem := &t.Calls[i], gone
				var answers map[int]lesson.Answer
				if call.Hidden && report != nil {
					problem = notYet
				} else if gone == "" {
					var err error
					if answers, problem, err = r.answers(ctx, call); err != nil {
						return nil, err
					}
				}
				v.Parts = append(v.Parts, call.compare(answers, problem))
			}
			verdicts[c.id] = v
			if report != nil {
				shown.Source = releasedSource(c.Cell)
				report.mark(c.id, &shown)
			}
			continue
		}
		if gone != "" {
			continue
		}
		result, err := r.Cell(ctx, c.Source, func(m *jupyter.Message) {
			if report == nil {
				return
			}
			if kept += m.Size(); kept <= outputTotal {
				rec.Add(m.Header.Type, m.Content)
			}
		})
		if kept > outputTotal {
			shown.Outputs = append(shown.Outputs, &notebook.Output{Type: "error", EName: "limit",
				EValue: fmt.Sprintf("outputs are left out: the submission printed more than %s", humanize.Bytes(outputTotal))})
		}
		var limit *LimitError
		switch {
		case errors.As(err, &limit):
			shown.Outputs = append(shown.Outputs, &notebook.Output{Type: "error", EName: "limit", EValue: limit.Reason})
			if gone = r.isOver(limit.Reason); gone != "" && report != nil {
				report.Notes = append(report.Notes, gone)
			}
		case err != nil:
			return nil, err
		case result.Status != "ok" && c.id != "" && report != nil:
			report.Notes = append(report.Notes, fmt.Sprintf("cell %s ended with an error: %s", c.id, result.EValue))
		}
	}
	return verdicts, nil
}

// notYet stands for the answers of hidden cases until they have run.
const notYet = "it has not run"

// mark remembers the cell of a test.
func (r *Report) mark(id string, c *notebook.Cell) {
	if r.tests == nil {
		r.tests = map[string]*notebook.Cell{}
	}
	r.tests[id] = c
}

// A mergedCell is a cell that will run.
type mergedCell struct {
	*notebook.Cell
	id string // in the source; "" for a cell of the student's own
}

// merge restores the assignment's own cells, and says what it found. Cells keep the order that the
// student has given them.
func (s *Source) merge(submission *notebook.Notebook) (cells []mergedCell, notes []string) {
	seen := map[string]bool{}
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for _, c := range submission.Cells {
		m, _ := marksOf(c)
		source := s.cells[m.ID]
		switch {
		case source == nil:
			cells = append(cells, mergedCell{c, ""})
			continue
		case seen[m.ID]:
			note("cell %s is there twice: the second is treated as a cell of the student's own", m.ID)
			cells = append(cells, mergedCell{c, ""})
			continue
		}
		seen[m.ID] = true
		wanted, _ := marksOf(source)
		if wanted.Locked {
			if strings.TrimSpace(c.Source) != strings.TrimSpace(releasedSource(source)) || c.Type != source.Type {
				note("cell %s was changed and is graded as it was given out", m.ID)
			}
			cells = append(cells, mergedCell{source, m.ID})
			continue
		}
		answer := *c
		answer.Type = source.Type
		cells = append(cells, mergedCell{&answer, m.ID})
	}
	for _, c := range s.Notebook.Cells {
		m, ok := marksOf(c)
		switch {
		case !ok || seen[m.ID]:
		case m.Locked:
			note("cell %s is missing and was put back", m.ID)
			cells = append(cells, mergedCell{c, m.ID})
		default:
			note("cell %s is missing, and so is what it should define", m.ID)
		}
	}
	return cells, notes
}
