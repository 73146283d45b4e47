//go:build unix

package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/kernel/front/internal/rewrite"
)

// A failure is why a cell failed, in the words of Jupyter's error messages.
type failure struct {
	name  string   // ename
	value string   // evalue: one line
	lines []string // traceback

	rolledBack bool // GoNB did not accept the cell
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

// outcome says how a cell that GoNB has run ended; nil is well.
func (e *execution) outcome(g *child) *failure {
	e.mu.Lock()
	reply, gone, interrupted := e.gonb, e.gone, e.interrupted
	e.mu.Unlock()
	value, _ := reply["evalue"].(string)
	switch {
	case gone:
		text := "the kernel's GoNB ended while the cell ran"
		return &failure{name: "kernel died", value: text, lines: []string{red + text + reset, "Jupyter starts the kernel again; its variables are gone."}}
	case reply["status"] != "error":
		e.err.flush()
		return nil
	case e.own != nil:
		e.own.lines = []string{red + e.own.value + reset}
		return e.own
	case interrupted:
		text := "the cell was interrupted"
		lines := []string{red + text + reset}
		if e.r.Keeps {
			lines = append(lines, "Variables have the values that they had at that moment.")
		}
		return &failure{name: "interrupted", value: text, lines: lines}
	case strings.HasPrefix(value, "exit status ") || strings.HasPrefix(value, "signal: "):
		if f := e.err.failure(e); f != nil {
			return f
		}
		return ended(value)
	}
	return e.compileError(g, reply, value)
}

// ended describes a program that ended without a panic.
func ended(state string) *failure {
	text := state
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

var (
	compilerLine = regexp.MustCompile(`^.*main(?:_test)?\.go:(\d+):(\d+): (.*)$`)
	cellLine     = regexp.MustCompile(`Cell\[(\d+)\]: Line (\d+)`)
)

// compileError reports what GoNB could not compile, at the user's place. The front's own check lets hardly anything through to here: cgo, tests, files of the user's.
func (e *execution) compileError(g *child, reply map[string]any, value string) *failure {
	f := &failure{name: "error", rolledBack: true}
	tb, _ := reply["traceback"].([]any)
	texts := strings.Split(value, "\n")
	for i, line := range texts {
		m := compilerLine.FindStringSubmatch(line)
		if m == nil {
			if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, "#") {
				f.lines = append(f.lines, s)
			}
			continue
		}
		head, col := m[3], 0
		var p rewrite.Pos
		if i < len(tb) {
			s, _ := tb[i].(string)
			if c := cellLine.FindStringSubmatch(s); c != nil {
				n, _ := strconv.Atoi(c[1])
				l, _ := strconv.Atoi(c[2])
				col, _ = strconv.Atoi(m[2])
				p = e.k.place(n, l, col)
			}
		}
		if w := placeText(p, e.cell); w != "" {
			head = w + ": " + head
		}
		if f.value == "" {
			f.value = head
		}
		f.lines = append(f.lines, red+head+reset)
		f.lines = append(f.lines, excerpt(e.r.Next.Source(p.Cell), p, 0)...)
	}
	if f.value == "" {
		f.value, _, _ = strings.Cut(strings.TrimSpace(value), "\n")
	}
	return f
}

// place turns a line of one of GoNB's cells, and a byte column if it is not 0, into a user's place.
func (k *kernel) place(gonbCell, line, col int) rewrite.Pos {
	c, ok := k.ran[gonbCell]
	if !ok || line < 1 {
		return rewrite.Pos{}
	}
	if c.lines == nil || line > len(c.lines) {
		return rewrite.Pos{}
	}
	p := c.lines[line-1]
	for l := line - 1; p.Line == 0 && l > 0; l-- { // code of ours belongs to the line before it
		p = c.lines[l-1]
	}
	p.Col = 0
	if col > 0 && c.text != nil {
		off := 0
		for range line - 1 {
			i := strings.IndexByte(c.text.String()[off:], '\n')
			if i < 0 {
				return p
			}
			off += i + 1
		}
		if src, at, exact := c.text.Locate(off + col - 1); exact {
			return src.Pos(at)
		}
	}
	return p
}
