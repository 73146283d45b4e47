// Package report puts into words why a cell failed: what its program, the compiler or a panic says, at the place in
// the student's own text.
//
// It is the same for a kernel and for a web page that runs cells by itself.
package report

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/translate"
)

// A Failure is why a cell failed, in the words of Jupyter's error messages.
type Failure struct {
	Name  string   // ename
	Value string   // evalue: one line
	Lines []string // traceback

	NotRun bool // the cell did not get as far as running
	Line   int  // of the cell, where it panicked; 0 if it did not
}

// Said is a failure in one sentence.
func Said(name, text string) *Failure {
	first, _, _ := strings.Cut(text, "\n")
	return &Failure{Name: name, Value: first, Lines: []string{red + text + reset}}
}

// Content is the failure as the content of an error message.
func (f *Failure) Content() map[string]any {
	lines := f.Lines
	if lines == nil {
		lines = []string{}
	}
	return map[string]any{"ename": f.Name, "evalue": f.Value, "traceback": lines}
}

// message is what a line of a traceback says after its place or the name of the package that panicked.
var message = regexp.MustCompile("^(?:" + regexp.QuoteMeta(red) + `(?:(?:cell \[\d+\], )?line \d+(?:, column \d+)?: |panic: (?:[a-z]+: )?|fatal error: )?` + "|  " +
	regexp.QuoteMeta(bold) + "hint:" + regexp.QuoteMeta(reset) + ` )([^\n\x1b]*)`)

// In adds what the messages mean in a language, each after its message, as far as that is known.
func (f *Failure) In(language *translate.Errors) *Failure {
	if language == nil {
		return f
	}
	var lines []string
	for _, line := range f.Lines {
		lines = append(lines, line)
		if m := message.FindStringSubmatch(line); m != nil {
			if text := language.Text(m[1]); text != "" {
				lines = append(lines, "  "+text)
			}
		}
	}
	f.Lines = lines
	return f
}

const (
	red   = "\x1b[31m"
	dim   = "\x1b[2m"
	bold  = "\x1b[1m"
	reset = "\x1b[0m"
)

// A Place is where a cell's texts are looked up.
type Place struct {
	Cell   int                       // the current one
	Source func(int) *rewrite.Source // of a cell
	Root   string                    // of the checkout, from which files are named; may be empty
}

// Mistakes reports the errors that were found before anything ran.
func Mistakes(r *rewrite.Result) *Failure {
	f := &Failure{Name: "error"}
	for i, e := range r.Errors {
		if i == rewrite.MaxExplained {
			f.Lines = append(f.Lines, fmt.Sprintf("and %d more", len(r.Errors)-i))
			break
		}
		where := placeText(e.Pos, r.Next.Current())
		head := e.Msg
		if where != "" {
			head = where + ": " + e.Msg
		}
		if i == 0 {
			f.Value = head
		}
		f.Lines = append(f.Lines, red+head+reset)
		f.Lines = append(f.Lines, excerpt(r.Next.Source(e.Pos.Cell), e.Pos, e.End)...)
		if e.Hint != "" {
			f.Lines = append(f.Lines, "  "+bold+"hint:"+reset+" "+e.Hint)
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

// EndedEarly is the note below a cell whose program called os.Exit(0), perhaps in a function that the cell uses.
// Without it, such a cell would look like one that prints nothing.
const EndedEarly = "os.Exit(0) ended the cell before its last line"

// NotKept begins the note below a cell that ended before its program saved its variables.
const NotKept = "the cell ended before its values were kept"

// Ended describes a program that ended without a panic, by the state of its process.
func Ended(state string) *Failure {
	var text string
	switch {
	case strings.HasPrefix(state, "exit status "):
		text = fmt.Sprintf("the cell ended with %s: os.Exit or log.Fatal was called", state)
	case state == "signal: killed":
		text = "the cell was killed: usually because the machine ran out of memory"
	default:
		text = "the cell was ended by a " + state
	}
	return Said("exit", text)
}

// Compiler reports what the compiler or the linker has said, at the user's place. The check before lets hardly any
// mistake through to them.
func (at Place) Compiler(text string) *Failure {
	f := &Failure{Name: "error"}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		p, ok := rewrite.CellPos(line)
		if !ok {
			f.Lines = append(f.Lines, line)
			continue
		}
		src := at.Source(p.Cell)
		if src != nil && p.Col > 0 { // in bytes
			l := src.Line(p.Line)
			p.Col = utf8.RuneCountInString(l[:min(len(l), p.Col-1)]) + 1
		}
		_, head, _ := strings.Cut(line, ": ")
		var where []string
		if src == nil || src.Line(p.Line) != "" { // else it is about code that the kernel adds after the cell
			head = placeText(p, at.Cell) + ": " + head
			where = excerpt(src, p, 0)
		}
		if f.Value == "" {
			f.Value = head
		}
		f.Lines = append(append(f.Lines, red+head+reset), where...)
	}
	if f.Value == "" {
		f.Value, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	}
	return f
}
