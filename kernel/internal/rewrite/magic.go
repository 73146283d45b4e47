package rewrite

import (
	"go/token"
	"regexp"
	"strings"
)

// A line that begins with % or ! is a command for the kernel, unless it stands inside a literal or a comment. Commands
// are taken out of the Go code and obeyed first, in their order, as GoNB does.

// A magicLine is a command for the kernel, with the backslash-continued lines that follow.
type magicLine struct {
	lo, hi int // with the newline
	text   string
	fields []string
}

// name is the command, such as "%env"; "%%" has the name "%%" and a shell line "!".
func (m magicLine) name() string {
	if m.text[0] == '!' {
		return "!"
	}
	if len(m.fields) == 0 {
		return "%"
	}
	return m.fields[0]
}

var questions = regexp.MustCompile(`^(?:\?{1,2}([\pL_][\pL\d_.]*)|([\pL_][\pL\d_.]*)\?{1,2})$`)

// Question returns the name that a cell asks about, as ?name or name?, or "".
func Question(code string) string {
	if m := questions.FindStringSubmatch(strings.TrimSpace(code)); m != nil {
		return m[1] + m[2]
	}
	return ""
}

const commentPrefix = "//gonb:" // lets a magic hide from Go tools

func isMagic(line string) bool {
	line = strings.TrimPrefix(line, commentPrefix)
	return len(line) > 1 && (line[0] == '%' || line[0] == '!')
}

// magics finds the command lines of a cell. Lines inside raw strings and comments are not commands.
func magics(code string) []magicLine {
	inside := longLiterals(code)
	var ms []magicLine
	for at := 0; at < len(code); {
		end := at + lineLen(code[at:])
		line := strings.TrimRight(code[at:end], "\n")
		if !isMagic(line) || within(inside, at) {
			at = end
			continue
		}
		m := magicLine{lo: at}
		text := strings.TrimPrefix(line, commentPrefix)
		for strings.HasSuffix(line, `\`) && end < len(code) {
			n := lineLen(code[end:])
			line = strings.TrimRight(code[end:end+n], "\n")
			text += "\n" + line
			end += n
		}
		m.hi, m.text = end, text
		m.fields = strings.Fields(text)
		ms = append(ms, m)
		at = end
	}
	return ms
}

// lineLen is the length of the first line with its newline.
func lineLen(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

// longLiterals gives the raw strings and comments that reach over lines, as pairs of offsets. Unfinished ones count to
// the end.
func longLiterals(code string) [][2]int {
	if !strings.ContainsAny(code, "`*") {
		return nil
	}
	// Command lines must not confuse the scanner with their quotes, but which lines are commands depends on the
	// literals. Lines are therefore blanked one at a time, from the top: a command line ends before anything that it
	// could open.
	b := []byte(code)
	var found [][2]int
	for {
		found = found[:0]
		for _, t := range tokens(string(b)) {
			if (t.tok == token.STRING || t.tok == token.COMMENT) && strings.Contains(code[t.lo:t.hi], "\n") {
				found = append(found, [2]int{t.lo, t.hi})
			}
		}
		again := false
		for at := 0; at < len(b) && !again; {
			end := at + lineLen(string(b[at:]))
			if isMagic(strings.TrimRight(string(b[at:end]), "\n")) && !within(found, at) {
				for i := at; i < end; i++ {
					if b[i] != '\n' {
						b[i] = ' '
					}
				}
				again = true
			}
			at = end
		}
		if !again {
			return found
		}
	}
}

func within(spans [][2]int, x int) bool {
	for _, s := range spans {
		if x > s[0] && x < s[1] {
			return true
		}
	}
	return false
}
