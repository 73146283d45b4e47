//go:build unix

package main

import (
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// passOn passes what comes from r to print, in pieces that cut no character in two, until r ends.
func passOn(r io.Reader, print func(string)) {
	buf := make([]byte, 64<<10)
	begun := 0 // bytes of a character that has only begun
	for {
		n, err := r.Read(buf[begun:])
		n += begun
		whole := n
		if err == nil {
			whole = wholeRunes(buf[:n])
		}
		if whole > 0 {
			print(string(buf[:whole]))
		}
		begun = copy(buf, buf[whole:n])
		if err != nil {
			return
		}
	}
}

// wholeRunes returns how much of b is left if a character that has only begun is left off.
func wholeRunes(b []byte) int {
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return len(b) - i
			}
			break
		}
	}
	return len(b)
}

// A joiner joins pieces of text that follow each other quickly into one message: a browser that gets a message for each
// of 100,000 lines hangs for minutes. The first lines after a rest go out at once. One that has not ended waits a
// moment, since it may be what the user is asked.
type joiner struct {
	send func(stream, text string)

	mu     sync.Mutex
	stream string
	text   strings.Builder
	sent   time.Time
	timer  *time.Timer
}

const (
	joinFor  = 50 * time.Millisecond
	joinSize = 256 << 10
)

// write takes a piece.
func (j *joiner) write(stream, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if stream != j.stream {
		j.flushLocked()
		j.stream = stream
	}
	j.text.WriteString(text)
	wait := joinFor - time.Since(j.sent)
	if j.text.Len() >= joinSize {
		j.flushLocked()
	} else if wait <= 0 {
		j.flushLines()
		wait = joinFor
	}
	if j.timer == nil && j.text.Len() > 0 {
		j.timer = time.AfterFunc(wait, j.flush)
	}
}

// flushLines sends the lines that wait, and leaves one that has not ended.
func (j *joiner) flushLines() {
	if s := j.text.String(); s != "" {
		n := strings.LastIndexByte(s, '\n') + 1
		j.text.Reset()
		j.text.WriteString(s[:n])
		j.flushLocked()
		j.text.WriteString(s[n:])
	}
}

// prompt sends what waits, except for a line that has not ended if none of it has been sent: it returns that line.
func (j *joiner) prompt(line string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flushLines()
	s := j.text.String()
	if j.stream != "stdout" || s != line {
		j.flushLocked()
		return ""
	}
	j.text.Reset()
	j.flushLocked() // the timer
	return s
}

// flush sends what waits.
func (j *joiner) flush() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flushLocked()
}

func (j *joiner) flushLocked() {
	if j.timer != nil {
		j.timer.Stop()
		j.timer = nil
	}
	if j.text.Len() > 0 {
		j.sent = time.Now()
		j.send(j.stream, j.text.String())
		j.text.Reset()
	}
}
