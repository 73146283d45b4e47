//go:build unix

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// TestOurMistake has the kernel panic in a cell: without an index of packages it can't even begin to understand one.
func TestOurMistake(t *testing.T) {
	session := rewrite.NewSession(nil, nil)
	k := &kernel{}
	k.session.Set(session)
	e := newExecution(k, jupyter.NewMessage("test", "execute_request", nil), executeRequest{Code: "1+1"}, 7)
	fail := e.guard(func() *failure {
		k.session.Set(rewrite.NewSession(nil, nil))
		return e.do()
	})
	if fail == nil {
		t.Fatal("the cell did not fail")
	}
	text := strings.Join(fail.Lines, "\n")
	for _, want := range []string{"a bug in Lectern's kernel, not in your cell", "nil pointer", "Please report", "(execution.go:", "go1."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if len(fail.Lines) > 3+reported {
		t.Errorf("the report has %d lines:\n%s", len(fail.Lines), text)
	}
	if k.session.Current() != session {
		t.Error("the session is not what it was before the cell")
	}
	if e.ctx.Err() == nil {
		t.Error("what the cell had begun goes on")
	}
	if fail := e.guard(func() *failure { return nil }); fail != nil {
		t.Error("the next cell fails")
	}
}

// TestOurMistakeOutsideCells has the kernel panic while it handles output.
func TestOurMistakeOutsideCells(t *testing.T) {
	var ended bytes.Buffer
	func() {
		defer ended.WriteString("on")
		defer survive("output")
		panic("broken")
	}()
	if ended.String() != "on" {
		t.Error("it did not go on")
	}
}
