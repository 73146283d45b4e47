//go:build unix

package main

import (
	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/translate"
)

// A failure is why a cell failed.
type failure = report.Failure

// said is a failure in one sentence.
func said(name, text string) *failure { return report.Said(name, text) }

// translated is a failure, or nil, with what it means in the student's language beside the English.
func (c config) translated(f *failure) *failure {
	if f == nil {
		return nil
	}
	return f.In(translate.ChosenErrors(c.root))
}
