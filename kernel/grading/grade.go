package grading

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// A Report is what becomes of one submission.
type Report struct {
	Student    string
	Points, Of int
	Tests      []Result           // in the order of the source
	Notes      []string           // what the teacher and the student should know
	Problem    string             // why it could not be graded; then there are no points
	Notebook   *notebook.Notebook // as it was graded, with outputs and without hidden tests; nil with a Problem
}

// A Result is what a test of the assignment gives.
type Result struct {
	Test    *Test
	Verdict Verdict
}

// Grade runs a submission in a kernel of its own.
func (s *Source) Grade(ctx context.Context, r *Runner, submission *notebook.Notebook) (*Report, error) {
	merged, notes := s.merge(submission)
	report := &Report{Of: s.Points(), Notes: notes, Notebook: &notebook.Notebook{Metadata: notebook.Object{}}}
	verdicts := map[string]Verdict{}
	tests := map[string]*Test{}
	for i := range s.Tests {
		tests[s.Tests[i].ID] = &s.Tests[i]
	}
	var rec notebook.Recorder
	gone := "" // why nothing runs any more
	for _, c := range merged {
		shown := *c.Cell
		shown.Outputs, shown.Count = nil, 0
		report.Notebook.Cells = append(report.Notebook.Cells, &shown)
		if c.Type != "code" || strings.TrimSpace(c.Source) == "" {
			continue
		}
		rec.Begin(&shown)
		if t := tests[c.id]; t != nil {
			v := Verdict{Of: t.Points}
			if gone == "" {
				var err error
				if v, err = r.Test(ctx, t.Calls); err != nil {
					return nil, err
				}
			} else {
				for k := range t.Calls {
					v.Parts = append(v.Parts, t.Calls[k].compare(nil, gone))
				}
			}
			verdicts[c.id] = v
			shown.Source = releasedSource(c.Cell)
			shown.Outputs = []*notebook.Output{{Type: "stream", Name: "stdout", Text: v.String()}}
			continue
		}
		if gone != "" {
			continue
		}
		result, err := r.Cell(ctx, c.Source, func(m *jupyter.Message) { rec.Add(m.Header.Type, m.Content) })
		var limit *LimitError
		switch {
		case errors.As(err, &limit):
			shown.Outputs = append(shown.Outputs, &notebook.Output{Type: "error", EName: "limit", EValue: limit.Reason})
			if r.ended() {
				gone = "nothing could run any more after a cell of yours: " + limit.Reason
				report.Notes = append(report.Notes, gone)
			}
		case err != nil:
			return nil, err
		case result.Status != "ok" && c.id != "":
			report.Notes = append(report.Notes, fmt.Sprintf("cell %s ended with an error: %s", c.id, result.EValue))
		}
	}
	for i := range s.Tests {
		t := &s.Tests[i]
		v := verdicts[t.ID]
		report.Points += v.Points
		report.Tests = append(report.Tests, Result{t, v})
	}
	return report, nil
}

func (r *Runner) ended() bool {
	select {
	case <-r.kernel.Exited():
		return true
	default:
		return false
	}
}

// A mergedCell is a cell that will run.
type mergedCell struct {
	*notebook.Cell
	id string // in the source; "" for a cell of the student's own
}

// merge puts the assignment's own cells back to what they were, and says what it found. Cells keep the order that the
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
			note("cell %s is there twice: the second is taken for a cell of the student's own", m.ID)
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
			note("cell %s is missing: what it was to define is not there", m.ID)
		}
	}
	return cells, notes
}
