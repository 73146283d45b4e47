package translate

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/po"
)

// What package lesson prints in a cell is stored in English. Its sentences are known, as formats, and so are most of
// the values in them: hints, names of cases. Other printed text is the program's own and stays as it is.

// LessonFile is the catalogue of what package lesson says.
const LessonFile = "lesson.po"

// A form is a sentence with values in it.
type form struct {
	message *po.Message
	matches *regexp.Regexp
}

var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[-+#0]*[\d.]*([a-zA-Z%])`)

// newForm reads a format; nil if it has no text by which it could be recognized. A line may go on after it, with what
// the expression tail matches.
func newForm(m *po.Message, tail string) *form {
	words := 0
	pattern, at := "^", 0
	for _, v := range verb.FindAllStringSubmatchIndex(m.ID, -1) {
		own := m.ID[at:v[0]]
		words += len(aWord.FindAllString(own, -1))
		pattern += regexp.QuoteMeta(own)
		switch m.ID[v[4]:v[5]] {
		case "%":
			pattern += "%"
		case "d":
			pattern += `(-?\d+)`
		case "q":
			pattern += `("[^"]*")`
		default:
			pattern += `(.*?)`
		}
		at = v[1]
	}
	own := m.ID[at:]
	if words+len(aWord.FindAllString(own, -1)) == 0 {
		return nil
	}
	return &form{m, regexp.MustCompile(pattern + regexp.QuoteMeta(own) + tail)}
}

// filled is the translation with the values of a line, the first of which is at 1, each as put has it.
func (f *form) filled(values []string, put func(string) string) string {
	next := 0
	return verb.ReplaceAllStringFunc(f.message.Str, func(v string) string {
		if strings.HasSuffix(v, "%") {
			return "%"
		}
		if m := verb.FindStringSubmatch(v); m[1] != "" {
			next, _ = strconv.Atoi(m[1])
		} else {
			next++
		}
		if next < 1 || next >= len(values) {
			return v
		}
		return put(values[next])
	})
}

// longestFirst puts "Exercise %s: replace nil …" before "Exercise %s: %s": the form that covers most of a line is the
// right one.
func longestFirst(forms []*form) {
	slices.SortStableFunc(forms, func(a, b *form) int { return len(b.message.ID) - len(a.message.ID) })
}

// said is a line that package lesson has printed in the language; other lines stay as they are.
func (l *Language) said(line string) (string, bool) {
	if text, ok := l.Text(line); ok && l.lesson[line] {
		return text, true
	}
	for _, f := range l.forms {
		values := f.matches.FindStringSubmatch(line)
		if values == nil && strings.HasSuffix(f.message.ID, " %s") { // the last value may be none at all
			values = f.matches.FindStringSubmatch(line + " ")
		}
		if values == nil {
			continue
		}
		text := f.filled(values, func(value string) string {
			if now, ok := l.Text(value); ok {
				return now
			}
			now, _ := l.said(value)
			return now
		})
		return strings.TrimRight(text, " "), true
	}
	return line, false
}

// printed is what a cell has printed, with lesson's lines in the language.
func (l *Language) printed(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		bare := strings.TrimSuffix(line, "\n")
		if now, ok := l.said(bare); ok {
			lines[i] = now + line[len(bare):]
		}
	}
	return strings.Join(lines, "")
}
