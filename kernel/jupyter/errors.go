package jupyter

import (
	"fmt"
	"strings"
	"time"
)

// A DeadError reports that the kernel's process has ended without being asked to.
type DeadError struct {
	State  string // how it ended: "exit status 1", "signal: killed"
	Stderr string // the last lines it wrote to its standard error
}

func (e *DeadError) Error() string {
	s := "the kernel died (" + e.State + ")"
	if t := lastLines(e.Stderr, 3); t != "" {
		s += "; it wrote: " + t
	}
	return s
}

// A TimeoutError reports that code ran for longer than its limit.
type TimeoutError struct {
	Limit time.Duration
	Alive bool // the kernel obeyed an interrupt and can execute more; otherwise it was killed
}

func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("still running after the time limit of %v", e.Limit)
	if e.Alive {
		return s + "; interrupted"
	}
	return s + ", and did not react to an interrupt; the kernel was killed"
}

// An InputError reports that code wants to read from its standard input, but nothing can be typed here.
type InputError struct {
	Prompt string // as the kernel sent it; empty where the code just reads
}

func (e *InputError) Error() string {
	s := "it waits for input on stdin"
	if p := strings.TrimSpace(e.Prompt); p != "" {
		s += fmt.Sprintf(" (prompt %q)", p)
	}
	return s + ", and nobody is there to type"
}

// lastLines returns the last n lines of s that are not blank, joined by " | ".
func lastLines(s string, n int) string {
	var lines []string
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
