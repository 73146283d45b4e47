package rewrite

import (
	"slices"
	"testing"
)

// TestLongWorkIsDrawn: a program that uses a library which says how far it is gets what draws it, even if its cell
// shows nothing. A program for a reader does without.
func TestLongWorkIsDrawn(t *testing.T) {
	const cell = "import \"github.com/lectern-go/lectern/nn/train\"\n_, err := train.Run(nil, train.Config{})\nif err != nil { panic(err) }"
	r := newNotebook(t).run(cell)
	if len(r.Errors) > 0 || !slices.Contains(r.Imports, showPath) {
		t.Errorf("imports %v (%v)", r.Imports, r.Errors)
	}
	if r := newNotebook(t).run("x := 1\n_ = x"); slices.Contains(r.Imports, showPath) {
		t.Errorf("a cell that is done at once imports %v", r.Imports)
	}
}
