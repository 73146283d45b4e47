package translate

import (
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A comment is what follows // or # on a line of code.
type comment struct {
	line   int // counted from 0
	column int // of its first character after the mark and a space, in bytes
	alone  bool
}

// goComments finds the comments of Go code that say something: those with a space after the mark. Others are
// directives, or code that was taken out.
func goComments(source string) (list []comment) {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(source))
	lines := strings.Split(source, "\n")
	var s scanner.Scanner
	s.Init(file, []byte(source), func(token.Position, string) {}, scanner.ScanComments) // magics are not Go
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return list
		}
		if tok != token.COMMENT || !strings.HasPrefix(text, "// ") {
			continue
		}
		at := set.Position(pos)
		before := lines[at.Line-1][:at.Column-1]
		list = append(list, comment{at.Line - 1, at.Column + 2, strings.TrimSpace(before) == ""})
	}
}

// pythonComments finds those of Python, or of a shell.
func pythonComments(lines []string) (list []comment) {
	for n, line := range lines {
		var quote byte
		for i := 0; i < len(line); i++ {
			switch c := line[i]; {
			case quote != 0 && c == '\\':
				i++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '#' && strings.HasPrefix(line[i:], "# ") && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
				list = append(list, comment{n, i + 2, strings.TrimSpace(line[:i]) == ""})
				i = len(line)
			}
		}
	}
	return list
}

var laidOut = regexp.MustCompile(`\S(\s{2,}|\t)\S|^\s`) // in columns

// comments replaces the texts of comments. Neighboring lines of nothing but comments are one text, which takes as many
// lines afterwards: recorded steps depend on line numbers.
func comments(lines []string, language string, put put) []string {
	var list []comment
	switch language {
	case "go":
		list = goComments(strings.Join(lines, "\n"))
	case "python", "py", "sh", "shell", "bash":
		list = pythonComments(lines)
	}
	out := append([]string(nil), lines...)
	for i := 0; i < len(list); {
		c := list[i]
		text := func(c comment) string { return strings.TrimRight(lines[c.line][c.column:], " \t") }
		joined, n := text(c), 1
		for c.alone && i+n < len(list) && !laidOut.MatchString(joined) {
			next := list[i+n]
			if !next.alone || next.line != c.line+n || next.column != c.column || laidOut.MatchString(text(next)) {
				break
			}
			joined += " " + text(next)
			n++
		}
		i += n
		joined = strings.TrimSpace(joined)
		if !HasProse(joined) {
			continue
		}
		if now, _ := put("comment in code", joined); now != joined {
			for k, part := range broken(now, n) {
				out[c.line+k] = lines[c.line+k][:c.column] + part
			}
		}
	}
	return out
}

// broken cuts a text into n lines of about the same width, between words or after a character that is as wide as two.
func broken(text string, n int) []string {
	total := width(text)
	parts := make([]string, 0, n)
	for ; n > 1; n-- {
		aim := (total + n - 1) / n
		at, w := 0, 0
		for i, r := range text {
			wide := w
			w += runeWidth(r)
			next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			if r == ' ' || runeWidth(r) == 2 && !strings.ContainsRune("，。；：、？！）”》", next) && r != '（' && r != '“' {
				if at > 0 && wide > aim {
					break
				}
				at = i + utf8.RuneLen(r)
				if w >= aim {
					break
				}
			}
		}
		if at == 0 {
			at = len(text)
		}
		part := strings.TrimSpace(text[:at])
		parts = append(parts, part)
		text = strings.TrimSpace(text[at:])
		total = width(text)
	}
	return append(parts, text)
}

func width(s string) (w int) {
	for _, r := range s {
		w += runeWidth(r)
	}
	return w
}

// runeWidth is how many columns a character takes where all are of one width.
func runeWidth(r rune) int {
	if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 || r >= 0x20000 && r <= 0x3fffd) {
		return 2
	}
	return 1
}
