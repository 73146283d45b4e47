//go:build unix

package main

import "github.com/lectern-go/lectern/kernel/internal/report"

// A failure is why a cell failed.
type failure = report.Failure

// said is a failure in one sentence.
func said(name, text string) *failure { return report.Said(name, text) }
