package command

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
)

var (
	ansi = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	// How GoNB names a line of a cell in a traceback ("Cell[3]: Line 2") and in the trace of a panic ("[[ Cell [3]
	// Line 2 ]]").
	cellLine = regexp.MustCompile(`Cell ?(?:\[(\d+)\]:?)? ?Line (\d+)`)
	// How our kernel names the place of an error: "line 3, column 5: undefined: y", "index out of range (cell [2],
	// line 3)".
	placeBefore = regexp.MustCompile(`^(?:cell \[(\d+)\], )?line (\d+)(?:, column \d+)?: (.*)$`)
	placeBehind = regexp.MustCompile(`^(.*) \((?:cell \[(\d+)\], )?line (\d+)(?:, column \d+)?\)$`)
	// An error of the compiler: a file of GoNB's, line and column, the text.
	compiled = regexp.MustCompile(`(?m)^\S*main(?:_test)?\.go:\d+(?::\d+)?: (.+)$`)
	// What our kernel suggests.
	hint = regexp.MustCompile(`(?m)^\s*hint: (.+)$`)
	// The first line of what a Go program says when it gives up.
	gaveUp = regexp.MustCompile(`(?m)^((?:panic|fatal error): .+)$`)
)

// explain finds, in the outputs of a cell that ended in an error, the one line that says what happened, and the line of
// the cell where it did.
func explain(c *notebook.Cell, r jupyter.Result) *failure {
	f := &failure{}
	var stderr strings.Builder
	for _, o := range c.Outputs {
		if o.Type == "stream" && o.Name == "stderr" {
			stderr.WriteString(o.Text)
		}
	}
	said := ansi.ReplaceAllString(stderr.String(), "")
	value := strings.TrimSpace(ansi.ReplaceAllString(r.EValue, ""))
	trace := ansi.ReplaceAllString(strings.Join(r.Traceback, "\n"), "")
	switch {
	case placeBefore.MatchString(value):
		m := placeBefore.FindStringSubmatch(value)
		f.place(m[3], m[1], m[2], r.Count)
	case placeBehind.MatchString(value):
		m := placeBehind.FindStringSubmatch(value)
		f.place(m[1], m[2], m[3], r.Count)
	case compiled.MatchString(value):
		f.text = compiled.FindStringSubmatch(value)[1]
		f.at(trace, r.Count)
	case gaveUp.MatchString(said):
		f.text = gaveUp.FindStringSubmatch(said)[1]
		_, frames, _ := strings.Cut(said, f.text)
		f.at(frames, r.Count)
	default:
		// A program that called os.Exit, or a magic that failed: its last words, if it had any.
		f.text = value
		for l := range strings.Lines(said) {
			if l = strings.TrimSpace(l); l != "" && l != value {
				f.text = l + " (" + value + ")"
			}
		}
		f.at(trace, r.Count)
	}
	if m := hint.FindStringSubmatch(trace); m != nil {
		f.hint = m[1]
	}
	if r.EName == "panic" {
		f.text = "panic: " + f.text
	}
	if lines := strings.Split(c.Source, "\n"); f.line >= 1 && f.line <= len(lines) {
		f.source = lines[f.line-1]
	} else {
		f.line = 0
	}
	return f
}

// place sets the text and the line; a line of another cell becomes part of the text.
func (f *failure) place(text, cell, line string, count int) {
	f.text = text
	if cell == "" || cell == strconv.Itoa(count) {
		f.line, _ = strconv.Atoi(line)
	} else {
		f.text += " (in cell [" + cell + "], line " + line + ")"
	}
}

// at takes the line from the first place in text that names cell number count.
func (f *failure) at(text string, count int) {
	for _, m := range cellLine.FindAllStringSubmatch(text, -1) {
		if m[1] == "" || m[1] == strconv.Itoa(count) {
			f.line, _ = strconv.Atoi(m[2])
			return
		}
	}
}
