//go:build unix

package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"

	"github.com/lectern-go/lectern/kernel/internal/display"
)

// copiesVar names the folder of the working copies. There students guess before they look: what a cell shows after a
// question that has no guess yet is hidden behind a line that the student opens. Elsewhere outputs are left as they
// are, since pages hide them by themselves.
const copiesVar = "LECTERN_COPIES"

// foldsIn reports whether cells that run in dir fold what gives an answer away.
func foldsIn(dir string) bool {
	copies := os.Getenv(copiesVar)
	if copies == "" {
		return false
	}
	rel, err := filepath.Rel(copies, dir)
	return err == nil && filepath.IsLocal(rel)
}

// A fold gathers the outputs behind one line.
type fold struct {
	display.Fold
	summary string
}

// display is the fold as one output; nil if nothing is in it.
func (f *fold) display() map[string]any {
	body, plain := f.Forms()
	if body == "" {
		return nil
	}
	return map[string]any{
		"text/html":  fmt.Sprintf("<details><summary style=\"cursor:pointer\">%s</summary>\n%s</details>", html.EscapeString(f.summary), body),
		"text/plain": plain,
	}
}
