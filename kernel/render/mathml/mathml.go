// Package mathml turns LaTeX formulas into MathML Core, the subset of MathML
// that browsers draw without any script or font of ours.
//
// It is strict: a command, environment or character that it does not know is an
// error with its position, never a guess. A formula that converts is therefore
// drawn as it was meant. The known commands are those that a lesson on tensors
// needs: fractions, roots, scripts, sums, Greek letters, relations, accents,
// fonts, delimiters and small tables (aligned, cases and the matrices).
//
// What it leaves out on purpose: macros, colors, \label and \ref, \tag,
// free spacing such as \hspace, and TeX comments.
package mathml

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error says why a formula cannot be converted, and where.
type Error struct {
	Source string // the formula as given
	Offset int    // byte offset of the culprit in Source
	Msg    string // the mistake and what to do, without the position
}

// Error names the line and column (both from 1, the column in characters) and
// quotes the surroundings, so that the place is found in a long cell.
func (e *Error) Error() string {
	line, col := e.Position()
	if strings.Contains(e.Source, "\n") {
		return fmt.Sprintf("%s (formula line %d, column %d, near %q)", e.Msg, line, col, e.near())
	}
	return fmt.Sprintf("%s (column %d of the formula, near %q)", e.Msg, col, e.near())
}

// Position returns the line and the column of the culprit within the formula,
// both counted from 1, the column in characters.
func (e *Error) Position() (line, col int) {
	before := e.Source[:e.Offset]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// near returns up to 12 characters on either side of the culprit.
func (e *Error) near() string {
	from, to := e.Offset, e.Offset
	for i := 0; i < 12 && from > 0; i++ {
		_, n := utf8.DecodeLastRuneInString(e.Source[:from])
		from -= n
	}
	for i := 0; i < 12 && to < len(e.Source); i++ {
		_, n := utf8.DecodeRuneInString(e.Source[to:])
		to += n
	}
	return strings.TrimSpace(e.Source[from:to])
}

// Convert returns the <math> element for a LaTeX formula given without its
// dollar signs. With display the formula stands on its own line, with limits
// above and below sums. The source is kept in the alttext attribute.
// The error is always an *Error.
func Convert(latex string, display bool) (ml string, err error) {
	p := &parser{src: latex}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			ml, err = "", e
		}
	}()
	if !utf8.ValidString(latex) {
		p.fail(invalidAt(latex), "the formula is not valid UTF-8")
	}
	if i := strings.IndexFunc(latex, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f || r == 0xfffe || r == 0xffff
	}); i >= 0 {
		p.fail(i, "there is a control character in the formula")
	}
	body := p.row(stopAtEnd, none)
	switch t := p.next(); {
	case t.kind == eof:
	case t.is("}"):
		p.fail(t.off, "this } closes nothing")
	case t.is("&"):
		p.fail(t.off, `& is outside a table; write \& for the sign`)
	case t.isCommand(`\`):
		p.fail(t.off, `a line break outside a table; wrap the lines in \begin{aligned} … \end{aligned}`)
	default:
		p.fail(t.off, `%s without its beginning`, t)
	}
	if body.ml == "" {
		p.fail(0, "the formula is empty")
	}
	var b strings.Builder
	b.WriteString(`<math`)
	if display {
		b.WriteString(` display="block"`)
	}
	b.WriteString(` alttext="` + escapeAttr(strings.Join(strings.Fields(latex), " ")) + `">`)
	b.WriteString(body.ml)
	b.WriteString(`</math>`)
	return b.String(), nil
}

// invalidAt returns the offset of the first byte that is not UTF-8.
func invalidAt(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return 0
}

var textEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
var attrEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func escapeText(s string) string { return textEscaper.Replace(s) }
func escapeAttr(s string) string { return attrEscaper.Replace(s) }
