// Package stage is how a program that works for another tells it what it does now, on its standard error.
package stage

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// mark begins a line that is meant for the other program.
const mark = "\x1estage "

// Say tells what begins now, and about how long it takes.
func Say(w io.Writer, what string, about time.Duration) {
	fmt.Fprintf(w, "%s%d %s\n", mark, int(about.Seconds()), what)
}

// Parse reads a line that Say has written; ok is false for any other.
func Parse(line string) (what string, about time.Duration, ok bool) {
	text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), mark)
	seconds, what, found := strings.Cut(text, " ")
	n, err := strconv.Atoi(seconds)
	if !ok || !found || err != nil {
		return "", 0, false
	}
	return what, time.Duration(n) * time.Second, true
}
