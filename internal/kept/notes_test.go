package kept_test

import (
	"fmt"
	"testing"

	"github.com/lectern-go/lectern/internal/celltest"
	"github.com/lectern-go/lectern/internal/kept"
)

func TestNotesAreSaidOnce(t *testing.T) {
	notes := celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		kept.Note("one")
		kept.Note("two")
		kept.Note("one")
	}, func(t *testing.T) {
		defer celltest.Begin()()
		kept.Note("two")
		kept.Note("three")
		for i := range 98 {
			kept.Note(fmt.Sprint(i))
		}
	}, func(t *testing.T) {
		defer celltest.Begin()()
		kept.Note("three")
		kept.Note("one") // so many others came between that it may be said again
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
