//go:build unix

package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// A browser that gets a million lines hangs for minutes, and a notebook that holds them never opens again. So a cell
// shows the first lines of each of its streams and the last few, and what lies between is counted. It is read and
// dropped, so an endless loop costs no memory.

const (
	outputLines = 10_000 // of a stream, unless %output or this variable says otherwise
	outputVar   = "LECTERN_OUTPUT"
	lineBytes   = 200 // how long a line may be on average: a text of few, long lines ends, too
	displayRows = 10  // a cell may show a display for each of so many lines
	mostLines   = math.MaxInt / lineBytes

	lastLines = 20 // shown of what comes after the limit
	lastBytes = 4096
)

// linesFromEnv is how many lines of a stream a new kernel shows; 0 is all.
func linesFromEnv() int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv(outputVar), strconv.Itoa(outputLines)))
	if err != nil || n < 0 || n > mostLines {
		return outputLines
	}
	return n
}

// An outputLimit keeps what one stream of a cell shows within bounds. Shell lines write both streams at once.
type outputLimit struct {
	lines int          // that are shown; 0 is all
	show  func(string) // takes the text to show

	mu           sync.Mutex
	shown, bytes int
	over         bool   // the limit has been reached
	announced    bool   // the user reads that something is left out here
	last         string // what has come since then and may be among the last lines
	left, size   int    // lines and bytes that are left out
}

// write takes a piece of text.
func (l *outputLimit) write(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines == 0 {
		l.show(text)
		return
	}
	if !l.over {
		n := l.room(text)
		if n > 0 {
			l.show(text[:n])
		}
		text = text[n:]
		if l.over = l.over || text != ""; !l.over {
			return
		}
	}
	l.last += text
	l.leave(tail(l.last))
}

// room returns how much of a text is still shown, and counts that.
func (l *outputLimit) room(text string) int {
	end := max(0, min(len(text), l.lines*lineBytes-l.bytes)) // below 0 once %output has lowered the limit
	for end < len(text) && end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	at := 0
	for l.shown < l.lines {
		i := strings.IndexByte(text[at:end], '\n')
		if i < 0 {
			l.bytes += end
			return end
		}
		at += i + 1
		l.shown++
	}
	l.bytes += at
	return at
}

// tail returns where the last lines of a text begin.
func tail(text string) int {
	low := max(0, len(text)-lastBytes)
	at := len(text)
	for n := 0; at > low; n++ {
		i := strings.LastIndexByte(text[low:at-1], '\n')
		if i < 0 {
			break
		}
		if at = low + i + 1; n+1 == lastLines {
			return at
		}
	}
	if low == 0 {
		return 0
	}
	if at == len(text) { // one long line
		for at = low; at < len(text) && !utf8.RuneStart(text[at]); at++ {
		}
	}
	return at
}

// leave leaves out the first n bytes of what has come last.
func (l *outputLimit) leave(n int) {
	if n == 0 {
		return
	}
	if !l.announced {
		l.announced = true
		l.show("… and more; %output 0 shows all")
	}
	l.left += strings.Count(l.last[:n], "\n")
	l.size += n
	l.last = l.last[n:]
}

// end shows the last lines, and says how much before them is missing.
func (l *outputLimit) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.announced {
		text := humanize.Bytes(l.size)
		switch l.left {
		case 0:
		case 1:
			text = "1 more line, " + text
		default:
			text = humanize.Thousands(l.left) + " more lines, " + text
		}
		l.show(" (" + text + ")\n")
	}
	if l.last != "" {
		l.show(l.last)
	}
	l.announced, l.last, l.left, l.size = false, "", 0, 0
}

// cleared begins again: what has been shown is gone.
func (l *outputLimit) cleared() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shown, l.bytes, l.over, l.announced, l.last, l.left, l.size = 0, 0, false, false, "", 0, 0
}

// limitOutput obeys %output.
func (e commands) limitOutput(c rewrite.Command) *failure {
	n, err := e.k.lines, error(nil)
	if len(c.Args) > 0 {
		n, err = strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(c.Args[0]))
	}
	if err != nil || n < 0 || n > mostLines || len(c.Args) > 1 {
		return said("usage", "write %output and the number of lines that a cell shows, or %output 0 for all of them")
	}
	e.k.lines = n
	for _, l := range e.limits {
		l.mu.Lock()
		l.lines = n
		l.mu.Unlock()
	}
	if n == 0 {
		e.emit("stdout", "cells show everything that they print\n") // what the limit says of itself is not under it
	} else {
		e.emit("stdout", fmt.Sprintf("cells show the first %s lines that they print, and the last ones\n", humanize.Thousands(n)))
	}
	return nil
}
