package mathml

import (
	"strings"
	"unicode/utf8"
)

type kind int

const (
	eof     kind = iota
	char         // one character, in text
	command      // \name, the name in text
)

type token struct {
	kind kind
	text string
	off  int // where it starts
	end  int // where the next one starts
}

func (t token) is(text string) bool        { return t.kind == char && t.text == text }
func (t token) isCommand(name string) bool { return t.kind == command && t.text == name }

// String is the token as it was written, for messages.
func (t token) String() string {
	switch t.kind {
	case eof:
		return "the end of the formula"
	case command:
		return `\` + t.text
	}
	return t.text
}

// peek returns the next token after white space without consuming it.
func (p *parser) peek() token {
	i := p.pos
	for i < len(p.src) && strings.IndexByte(" \t\r\n", p.src[i]) >= 0 {
		i++
	}
	if i == len(p.src) {
		return token{eof, "", i, i}
	}
	if p.src[i] != '\\' {
		_, n := utf8.DecodeRuneInString(p.src[i:])
		return token{char, p.src[i : i+n], i, i + n}
	}
	j := i + 1
	for j < len(p.src) && isLetter(p.src[j]) {
		j++
	}
	if j == i+1 { // a control symbol such as \, or \\
		if j == len(p.src) {
			p.fail(i, `a backslash ends the formula`)
		}
		_, n := utf8.DecodeRuneInString(p.src[j:])
		j += n
	}
	return token{command, p.src[i+1 : j], i, j}
}

// next consumes and returns the next token.
func (p *parser) next() token {
	t := p.peek()
	p.pos = t.end
	return t
}

// rawGroup consumes {…} and returns the text inside, with the offset where it
// begins. Braces nest; a backslash hides the character after it.
func (p *parser) rawGroup(of string) (string, int) {
	t := p.next()
	if !t.is("{") {
		p.fail(t.off, "%s needs its text in braces", of)
	}
	depth := 1
	for i := t.end; i < len(p.src); i++ {
		switch p.src[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				p.pos = i + 1
				return p.src[t.end:i], t.end
			}
		}
	}
	p.fail(t.off, "this { of %s is never closed", of)
	return "", 0
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
