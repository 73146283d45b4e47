//go:build unix

package main

import "github.com/lectern-go/lectern/kernel/internal/report"

// A failure is why a cell failed.
type failure = report.Failure

// said is a failure in one sentence.
func said(name, text string) *failure { return report.Said(name, text) }

// place is where the cell's texts are found.
func (e *execution) place() report.Place {
	return report.Place{Cell: e.cell, Source: e.r.Next.Source, Root: e.k.c.local()}
}

// outcome says how a cell that has run ended, by the state of its process; nil is well.
func (e *execution) outcome(state string) *failure {
	e.outMu.Lock()
	defer e.outMu.Unlock()
	if state == "exit status 0" {
		e.err.Flush()
		return nil
	}
	if e.own != nil {
		f := said(e.own.Name, e.own.Value)
		f.Value = e.own.Value
		return f
	}
	if f := e.wasInterrupted(); f != nil {
		return f
	}
	if f := e.err.Failure(e.place()); f != nil {
		return f
	}
	e.err.Flush()
	if e.r.Race && state == "exit status 66" { // the race detector's own
		return said("race", "the race detector found what is written above: goroutines use a variable at the same time, and one of them writes")
	}
	return report.Ended(state)
}
