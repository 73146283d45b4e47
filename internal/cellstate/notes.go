package cellstate

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// notes are the sentences that this cell and earlier ones were told.
var notes struct {
	sync.Mutex
	told []string
}

// mostNotes is how many sentences are remembered; older ones may be repeated.
const mostNotes = 100

func init() {
	Register("cellstate/notes", func() []byte {
		notes.Lock()
		defer notes.Unlock()
		if len(notes.told) == 0 {
			return nil
		}
		return []byte(strings.Join(notes.told, "\n"))
	}, func(state []byte) error {
		notes.Lock()
		defer notes.Unlock()
		notes.told = strings.Split(string(state), "\n")
		return nil
	})
}

// Note tells the user, below the running cell, which part of a value can't be kept: one sentence on one line.
// A sentence that this cell or an earlier one was told is not repeated.
func Note(sentence string) {
	notes.Lock()
	defer notes.Unlock()
	if slices.Contains(notes.told, sentence) {
		return
	}
	if len(notes.told) == mostNotes {
		notes.told = notes.told[1:]
	}
	notes.told = append(notes.told, sentence)
	fmt.Fprintln(os.Stderr, "note: "+sentence)
}
