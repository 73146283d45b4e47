package rewrite

import (
	"regexp"
	"strings"
)

// A line that begins with % or ! is a command for the kernel, unless it is inside a literal or a comment. Commands
// are taken out of the Go code and obeyed first, in their order, as GoNB does.

// A magicLine is a command for the kernel, with the backslash-continued lines that follow.
type magicLine struct {
	lo, hi int // of the text that is not Go, with the newline
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

// wholeMagic returns the magic that makes all of a cell something other than Go, or "".
func wholeMagic(code string) string {
	if f := strings.Fields(strings.TrimPrefix(code[:lineLen(code)], commentPrefix)); len(f) > 0 && whole[f[0]] {
		return f[0]
	}
	return ""
}

// magics finds the command lines of a cell, and returns it with blanks in their place.
func magics(code string) (ms []magicLine, rest string) {
	b := []byte(code)
	for at := 0; at < len(code); {
		end := at + lineLen(code[at:])
		line := strings.TrimRight(code[at:end], "\n")
		if !isMagic(line) {
			at = nextLine(b, at)
			continue
		}
		m := magicLine{lo: at}
		m.text = strings.TrimPrefix(line, commentPrefix)
		for strings.HasSuffix(line, `\`) && end < len(code) {
			n := lineLen(code[end:])
			line = strings.TrimRight(code[end:end+n], "\n")
			m.text += "\n" + line
			end += n
		}
		m.hi, m.fields = end, strings.Fields(m.text)
		if around[m.name()] != nil { // what follows is Go
			m.hi = m.lo + strings.Index(code[m.lo:], m.name()) + len(m.name())
			end = nextLine(b, m.hi)
		}
		blank(b[m.lo:m.hi])
		ms = append(ms, m)
		at = end
	}
	return ms, string(b)
}

// blank makes code invisible, and leaves all else where it is.
func blank(code []byte) {
	for i, c := range code {
		if c != '\n' {
			code[i] = ' '
		}
	}
}
