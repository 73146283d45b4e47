//go:build unix

package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lectern-go/lectern/kernel/front/internal/rewrite"
)

// A failure is why a cell failed, in the words of Jupyter's error messages.
type failure struct {
	name  string   // ename
	value string   // evalue: one line
	lines []string // traceback

	notRun bool // the cell did not get as far as running
}

// said is a failure in one sentence.
func said(name, text string) *failure {
	first, _, _ := strings.Cut(text, "\n")
	return &failure{name: name, value: first, lines: []string{red + text + reset}}
}

func (f *failure) content() map[string]any {
	lines := f.lines
	if lines == nil {
		lines = []string{}
	}
	return map[string]any{"ename": f.name, "evalue": f.value, "traceback": lines}
}

const (
	red   = "\x1b[31m"
	dim   = "\x1b[2m"
	bold  = "\x1b[1m"
	reset = "\x1b[0m"
)

// maxMistakes is how many mistakes are shown at once; most of those after the first few follow from them.
const maxMistakes = 5

// mistakes reports the errors that were found before anything ran.
func mistakes(r *rewrite.Result) *failure {
	f := &failure{name: "error"}
	for i, e := range r.Errors {
		if i == maxMistakes {
			f.lines = append(f.lines, fmt.Sprintf("and %d more", len(r.Errors)-i))
			break
		}
		where := placeText(e.Pos, r.Next.Current())
		head := e.Msg
		if where != "" {
			head = where + ": " + e.Msg
		}
		if i == 0 {
			f.value = head
		}
		f.lines = append(f.lines, red+head+reset)
		f.lines = append(f.lines, excerpt(r.Next.Source(e.Pos.Cell), e.Pos, e.End)...)
		if e.Hint != "" {
			f.lines = append(f.lines, "  "+bold+"hint:"+reset+" "+e.Hint)
		}
	}
	return f
}

// placeText says where something is; the cell is named if it is not the current one.
func placeText(p rewrite.Pos, cell int) string {
	switch {
	case p.Line == 0:
		return ""
	case p.Cell != cell && p.Col > 0:
		return fmt.Sprintf("cell [%d], line %d, column %d", p.Cell, p.Line, p.Col)
	case p.Cell != cell:
		return fmt.Sprintf("cell [%d], line %d", p.Cell, p.Line)
	case p.Col > 0:
		return fmt.Sprintf("line %d, column %d", p.Line, p.Col)
	}
	return fmt.Sprintf("line %d", p.Line)
}

// excerpt shows a line of a cell, with a mark under the columns from p.Col up to end if these are known.
func excerpt(src *rewrite.Source, p rewrite.Pos, end int) []string {
	if src == nil || p.Line == 0 {
		return nil
	}
	text := src.Line(p.Line)
	lines := []string{fmt.Sprintf("%5d | %s", p.Line, strings.ReplaceAll(text, "\t", "    "))}
	if p.Col > 0 {
		pad := 0
		for i, c := range []rune(text) {
			if i >= p.Col-1 {
				break
			}
			pad += width(c)
		}
		lines = append(lines, fmt.Sprintf("      | %s%s%s%s", strings.Repeat(" ", pad), red, strings.Repeat("^", max(1, end-p.Col)), reset))
	}
	return lines
}

// width is how many columns a character takes in a fixed-width face.
func width(r rune) int {
	switch {
	case r == '\t':
		return 4
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	return 1
}

// outcome says how a cell that has run ended, by the state of its process; nil is well.
func (e *execution) outcome(state string) *failure {
	e.outMu.Lock()
	defer e.outMu.Unlock()
	if state == "exit status 0" {
		e.err.flush()
		return nil
	}
	if e.own != nil {
		e.own.lines = []string{red + e.own.value + reset}
		return e.own
	}
	if f := e.wasInterrupted(); f != nil {
		return f
	}
	if f := e.err.failure(e); f != nil {
		return f
	}
	e.err.flush()
	return ended(state)
}

// ended describes a program that ended without a panic.
func ended(state string) *failure {
	var text string
	switch {
	case strings.HasPrefix(state, "exit status "):
		text = fmt.Sprintf("the cell ended with %s: os.Exit or log.Fatal was called", state)
	case state == "signal: killed":
		text = "the cell was killed: most often the machine had no memory left"
	default:
		text = "the cell was ended by a " + state
	}
	return &failure{name: "exit", value: text, lines: []string{red + text + reset}}
}

// compilerSays reports what the compiler or the linker has said, at the user's place. The check before lets hardly anything through to them.
func (e *execution) compilerSays(text string) *failure {
	f := &failure{name: "error"}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		p, ok := rewrite.CellPos(line)
		if !ok {
			f.lines = append(f.lines, line)
			continue
		}
		src := e.r.Next.Source(p.Cell)
		if src != nil && p.Col > 0 { // in bytes
			l := src.Line(p.Line)
			p.Col = utf8.RuneCountInString(l[:min(len(l), p.Col-1)]) + 1
		}
		_, msg, _ := strings.Cut(line, ": ")
		head := placeText(p, e.cell) + ": " + msg
		if f.value == "" {
			f.value = head
		}
		f.lines = append(f.lines, red+head+reset)
		f.lines = append(f.lines, excerpt(src, p, 0)...)
	}
	if f.value == "" {
		f.value, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	}
	return f
}
