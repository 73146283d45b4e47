package cellstate_test

import (
	"fmt"
	"testing"

	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/kernel/persist/celltest"
)

func TestNotesAreSaidOnce(t *testing.T) {
	notes := celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		cellstate.Note("one")
		cellstate.Note("two")
		cellstate.Note("one")
	}, func(t *testing.T) {
		defer celltest.Begin()()
		cellstate.Note("two")
		cellstate.Note("three")
		for i := range 98 {
			cellstate.Note(fmt.Sprint(i))
		}
	}, func(t *testing.T) {
		defer celltest.Begin()()
		cellstate.Note("three")
		cellstate.Note("one") // so many others came between that it may be said again
	})
	if want := "note: one\nnote: two\n"; notes[0] != want {
		t.Errorf("the first cell said %q", notes[0])
	}
	if want := "note: three\nnote: 0\n"; len(notes[1]) < len(want) || notes[1][:len(want)] != want {
		t.Errorf("the second cell said %q", notes[1])
	}
	if notes[2] != "note: one\n" {
		t.Errorf("the third cell said %q", notes[2])
	}
}
