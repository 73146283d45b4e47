package report

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/persist"
)

// Traces takes the report of a panic out of a cell's standard error. Everything else passes through at once.
type Traces struct {
	Print func(string)
	held  strings.Builder // from the first line of a report on
	rest  string          // the beginning of a line that may become one
	mid   bool            // the last line printed has not ended
}

// mostHeld is how many bytes of a report are kept. A cell may print forever after what looks like one.
const mostHeld = 4 << 20

// reports begin like this.
var reportStarts = []string{"panic: ", "fatal error: ", "runtime: goroutine stack exceeds", "SIGSEGV: ", "unexpected fault address"}

// Write takes a piece of standard error.
func (t *Traces) Write(text string) {
	if n := t.held.Len(); n > 0 {
		t.held.WriteString(text[:min(len(text), max(0, mostHeld-n))])
		return
	}
	text = t.rest + text
	t.rest = ""
	for text != "" {
		line, ended := text, false
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, ended = text[:i+1], true
		}
		if !t.mid {
			for _, s := range reportStarts {
				if strings.HasPrefix(line, s) {
					t.held.WriteString(text[:min(len(text), mostHeld)])
					return
				}
				if !ended && strings.HasPrefix(s, line) {
					t.rest = line
					return
				}
			}
		}
		t.Print(line)
		t.mid = !ended
		text = text[len(line):]
	}
}

// Flush prints what was held: it was no report of a panic that ended the cell.
func (t *Traces) Flush() {
	t.Print(t.held.String() + t.rest)
	t.held.Reset()
	t.rest = ""
}

// frame is one call of a stack.
type frame struct {
	fn   string
	pos  rewrite.Pos // in a cell, or
	file string      // elsewhere
	line int
}

var (
	sourceLine = regexp.MustCompile(`^\s+(\S.*?):(\d+)(?: \+0x[0-9a-f]+)?$`)
	goroutine  = regexp.MustCompile(`^goroutine \d+.*\[(.*)\]:$`)
	partName   = regexp.MustCompile(`^` + rewrite.PartName + `\d+`)   // the function of a cell in a [rewrite.Chain]
	againName  = regexp.MustCompile(`^` + rewrite.AgainName + `\d+_`) // a function that one declares again
	ansi       = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// parseTrace reads the report of a panic: its message and the stack of the first goroutine, innermost call first.
func parseTrace(text string) (msg string, frames []frame) {
	lines := strings.Split(ansi.ReplaceAllString(text, ""), "\n")
	var head []string
	i := 0
	for ; i < len(lines) && !goroutine.MatchString(lines[i]); i++ {
		if l := lines[i]; l != "" && !strings.HasPrefix(l, "[signal ") && !strings.HasPrefix(l, "runtime stack:") {
			head = append(head, l)
		}
	}
	for j := range head { // of "fatal error: stack overflow" after its details, the error is the message
		if strings.HasPrefix(head[j], "fatal error: ") {
			head = head[j : j+1]
			break
		}
	}
	msg = strings.Join(head, "\n")
	msg = strings.TrimPrefix(strings.TrimPrefix(msg, "panic: "), "fatal error: ")
	msg = strings.TrimSuffix(strings.TrimSuffix(msg, " [recovered, repanicked]"), " [recovered]")
	for i++; i < len(lines) && lines[i] != ""; i++ {
		fn := lines[i]
		if strings.HasPrefix(fn, "...") || i+1 >= len(lines) {
			continue
		}
		at := lines[i+1]
		f := frame{fn: funcName(fn)}
		m := sourceLine.FindStringSubmatch(at)
		if m == nil {
			continue
		}
		f.file = m[1]
		f.line, _ = strconv.Atoi(m[2])
		f.pos, _ = rewrite.CellPos(m[1] + ":" + m[2])
		i++
		frames = append(frames, f)
	}
	return msg, frames
}

// funcName makes main.(*Model).Fwd(0xc000, …) into (*Model).Fwd.
func funcName(s string) string {
	s = strings.TrimPrefix(s, "created by ")
	if i := strings.LastIndex(s, " in goroutine "); i >= 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '('); i > 0 && !strings.HasSuffix(s[:i], ".") {
		s = s[:i]
	}
	s = strings.Replace(strings.TrimPrefix(s, "main."), rewrite.PlainName, "", 1)
	s = againName.ReplaceAllString(partName.ReplaceAllString(s, "main"), "")
	if s == "lecternMain" { // the user's own func main
		return "main"
	}
	if strings.HasPrefix(s, "lecternInit") {
		return "init"
	}
	if strings.HasPrefix(s, persist.LiteralName) { // a function literal that a cell may keep
		return "main.func"
	}
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		s = s[i+1:]
	}
	return s
}

// Held reports whether there is the report of a panic, or the beginning of one.
func (t *Traces) Held() bool { return t.held.Len() > 0 }

// Failure turns the report, if there was one, into the cell's error.
func (t *Traces) Failure(at Place) *Failure {
	text := t.held.String()
	if text == "" {
		return nil
	}
	msg, frames := parseTrace(text)
	name := "panic"
	if strings.HasPrefix(text, "fatal error: ") || strings.HasPrefix(text, "runtime: ") {
		name = "fatal error"
	}
	f := &Failure{Name: name, Value: msg}
	if i := strings.IndexByte(msg, '\n'); i >= 0 {
		f.Value = msg[:i]
	}
	f.Lines = append(f.Lines, red+name+": "+msg+reset)
	var last string
	repeats, shown := 0, 0
	var library *frame // the call to a library that a cell's code made
	for i, fr := range frames {
		if fr.pos.Line == 0 {
			if fr.file != "" && !inRuntime(fr) {
				library = &frames[i]
			}
			continue
		}
		where := placeText(fr.pos, at.Cell)
		if fr.pos.Cell == at.Cell {
			where = "this cell, " + where
			if f.Line == 0 {
				f.Line = fr.pos.Line
			}
		}
		if shown == 0 {
			f.Value += " (" + placeText(fr.pos, at.Cell) + ")"
		}
		if fn := fr.fn; fn != "main" && !strings.HasPrefix(fn, "main.func") {
			where += ", in " + fn
		}
		lines := append([]string{"  " + bold + where + reset}, excerpt(at.Source(fr.pos.Cell), fr.pos, 0)...)
		if library != nil {
			lines = append(lines, fmt.Sprintf("%s        from %s (%s:%d)%s", dim, library.fn, shortPath(at.Root, library.file), library.line, reset))
			library = nil
		}
		text := strings.Join(lines, "\n")
		if text == last {
			repeats++
			continue
		}
		if repeats > 0 {
			f.Lines = append(f.Lines, repeated(repeats))
			repeats = 0
		}
		if shown++; shown > 12 {
			f.Lines = append(f.Lines, "  …")
			break
		}
		last = text
		f.Lines = append(f.Lines, lines...)
	}
	if shown == 0 && library != nil {
		f.Lines = append(f.Lines, fmt.Sprintf("%s  in %s (%s:%d)%s", dim, library.fn, shortPath(at.Root, library.file), library.line, reset))
	}
	if repeats > 0 {
		f.Lines = append(f.Lines, repeated(repeats))
	}
	if h := panicHint(msg); h != "" {
		f.Lines = append(f.Lines, "  "+bold+"hint:"+reset+" "+h)
	}
	return f
}

// repeated says how often the frame above it is repeated.
func repeated(n int) string {
	if n == 1 {
		return "  … the same call once more"
	}
	return fmt.Sprintf("  … the same call %d more times", n)
}

// inRuntime reports whether a frame tells a user nothing: Go's own machinery and the kernel's.
func inRuntime(f frame) bool {
	for _, p := range []string{"panic", "runtime.", "goPanic", "testing.", "persist.", "show."} {
		if strings.HasPrefix(f.fn, p) {
			return true
		}
	}
	return strings.HasSuffix(f.file, rewrite.StepsFile) || strings.Contains(f.file, "/src/runtime/") || strings.Contains(f.file, "/src/internal/") || strings.Contains(f.file, "_testmain.go")
}

// shortPath names a file relative to the module, or to Go's own sources.
func shortPath(root, file string) string {
	if r, err := filepath.Rel(root, file); err == nil && !strings.HasPrefix(r, "..") {
		return r
	}
	for _, mark := range []string{"/pkg/mod/", "/src/"} {
		if i := strings.LastIndex(file, mark); i >= 0 {
			return file[i+len(mark):]
		}
	}
	return filepath.Base(file)
}

var (
	indexRange  = regexp.MustCompile(`index out of range \[(-?\d+)\](?: with length (\d+))?`)
	sliceRange  = regexp.MustCompile(`slice bounds out of range \[:(\d+)\] with (length|capacity) (\d+)`)
	heldType    = regexp.MustCompile(`interface conversion: (?:interface(?: \{.*\})?|\S+) is (\S+), not (\S+)`)
	missingPart = regexp.MustCompile(`interface conversion: (\S+) is not (\S+): missing method (\w+)`)
)

// panicHint says in words for students what Go's message means.
func panicHint(msg string) string {
	if m := indexRange.FindStringSubmatch(msg); m != nil {
		switch {
		case strings.HasPrefix(m[1], "-"):
			return "an index counts from the beginning: the last element is xs[len(xs)-1]"
		case m[2] == "0":
			return "it is empty: it has no elements"
		}
		n, _ := strconv.Atoi(m[2])
		return fmt.Sprintf("with %s the last index is %d", humanize.Count(n, "element"), n-1)
	}
	if m := sliceRange.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("the upper bound can be at most the %s, %s", m[2], m[3])
	}
	if m := heldType.FindStringSubmatch(msg); m != nil {
		if m[1] == "nil" {
			return fmt.Sprintf("the value is nil and holds no %s: use v, ok := x.(%s) to ask first", m[2], m[2])
		}
		return fmt.Sprintf("the value holds %s: use v, ok := x.(%s) to ask first", m[1], m[2])
	}
	if m := missingPart.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("%s has no method %s, which %s asks for", m[1], m[3], m[2])
	}
	for _, h := range []struct{ part, hint string }{
		{"invalid memory address or nil pointer dereference", "a pointer (or a value that holds one) is nil here, so it has no fields and most methods fail: set it first, as in p := &T{}"},
		{"assignment to entry in nil map", "make the map before you write to it: m := map[K]V{} or make(map[K]V)"},
		{"integer divide by zero", "check the divisor; with floating-point numbers the result would be an infinity"},
		{"all goroutines are asleep - deadlock", "everything waits for something that never happens: a channel without a reader or writer, a lock, a WaitGroup"},
		{"no goroutines (main called runtime.Goexit)", "runtime.Goexit ended the cell, and nothing else is left to run"},
		{"stack overflow", "a function calls itself endlessly: look at the case in which it should stop"},
		{"interface conversion", "the value has another type: use v, ok := x.(T) to ask first"},
		{"slice bounds out of range", "the bounds must lie between 0 and the capacity, the lower one first"},
		{"makeslice: len out of range", "a slice can't have this many elements: look at the number given to make"},
		{"makeslice: cap out of range", "a slice can't have this capacity: look at the numbers given to make"},
		{"negative shift amount", "a shift count can't be negative: shift the other way"},
		{"hash of unhashable type", "slices, maps and functions can't be keys of a map: use a string, a number, an array or a struct of those"},
		{"comparing uncomparable type", "slices, maps and functions can't be compared with ==: slices.Equal and maps.Equal do that"},
		{"concurrent map", "several goroutines use one map at once: guard it with a sync.Mutex"},
		{"send on closed channel", "only the sender may close a channel, and only after its last send"},
		{"close of closed channel", "a channel is closed once, by its sender"},
		{"close of nil channel", "make the channel first: c := make(chan int)"},
		{"negative WaitGroup counter", "Done was called more often than Add has announced"},
		{"unlock of unlocked", "each Unlock needs a Lock before it: defer mu.Unlock() right after mu.Lock() keeps the two together"},
		{"cannot allocate memory", "the values need more memory than the machine has"},
		{"out of memory", "the values need more memory than the machine has"},
	} {
		if strings.Contains(msg, h.part) {
			return h.hint
		}
	}
	return ""
}
