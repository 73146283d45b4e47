package runner

import (
	"fmt"
	"os"
	"sync"

	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/persist"
)

// A Session is what lasts from cell to cell: what cells have declared, and the values that they have kept.
type Session struct {
	Dir string // of kept values

	mu  sync.Mutex
	now *rewrite.Session
}

// Current is the present state. Nothing changes it afterwards.
func (s *Session) Current() *rewrite.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Set replaces the state.
func (s *Session) Set(now *rewrite.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// Manifest says which values are kept.
func (s *Session) Manifest() *persist.Manifest {
	m, err := persist.ReadManifest(s.Dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lectern:", err)
	}
	return m
}

// End settles what later cells know after a cell whose program has run. lost are the variables that must be defined
// again; saved reports whether the program has saved its values.
func (s *Session) End(c *Cell) (lost []string, saved bool) {
	if c.made {
		c.Result.Next.KeepWidgets(c.Number)
	}
	lost = c.Result.Next.Settle()
	s.Set(c.Result.Next)
	return lost, s.Manifest().Saves != c.saves
}

// Event returns the program that a change of a widget asks for, or says why there is none. cell has made the widget.
func (s *Session) Event(cell int) (*rewrite.Result, *report.Failure) {
	const again = "run the cell that made it once more"
	r := s.Current().Event(cell)
	switch {
	case r == nil:
		return nil, report.Said("widget", "what this widget calls is no longer known: "+again)
	case len(r.Errors) > 0:
		return nil, report.Said("widget", "what this widget calls no longer compiles: "+r.Errors[0].Msg+"; "+again)
	}
	return r, nil
}

// EndEvent takes over what the program of a widget has changed.
func (s *Session) EndEvent() {
	next := s.Current().Keeping(s.Manifest)
	next.Settle()
	s.Set(next)
}

// ForgetWidgets drops the state of the widgets of a cell.
func (s *Session) ForgetWidgets(cell int) {
	next := s.Current().Keeping(s.Manifest)
	persist.Forget(s.Dir, next.ForgetWidgets(cell))
	s.Set(next)
}
