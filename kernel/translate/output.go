package translate

import (
	"html"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// What a figure says changes with what was measured, and the same sentence occurs in many figures: its numbers are
// placeholders, {1} and so on, in the English and in the translation.
var (
	aNumber = regexp.MustCompile(`[-+−]?\d+(?:[,_]\d+)*(?:\.\d+)?(?:[eE][-+]?\d+)?(?:[nµm]?s\b)?`) // and a time as Go writes it
	aPlace  = regexp.MustCompile(`\{(\d+)\}`)
)

// masked takes the numbers out of a text.
func masked(text string) (string, []string) {
	var numbers []string
	var b strings.Builder
	at := 0
	for _, m := range aNumber.FindAllStringIndex(text, -1) {
		before, after := text[:m[0]], text[m[1]:]
		if before != "" && partOfName(before[len(before)-1]) || after != "" && isLetter(after[0]) && after[0] != 'x' { // H100, float32, 2D
			continue
		}
		numbers = append(numbers, text[m[0]:m[1]])
		b.WriteString(text[at:m[0]] + "{" + strconv.Itoa(len(numbers)) + "}")
		at = m[1]
	}
	b.WriteString(text[at:])
	return b.String(), numbers
}

func isLetter(c byte) bool   { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
func partOfName(c byte) bool { return isLetter(c) && c < 0x80 || c >= '0' && c <= '9' || c == '.' }

// filled puts numbers back.
func filled(text string, numbers []string) string {
	return aPlace.ReplaceAllStringFunc(text, func(place string) string {
		if n, _ := strconv.Atoi(place[1 : len(place)-1]); n >= 1 && n <= len(numbers) {
			return numbers[n-1]
		}
		return place
	})
}

// label translates a text with numbers.
func label(kind, text string, put put) string {
	text = strings.TrimSpace(text)
	key, numbers := masked(text)
	if !HasProse(key) && (kind != alternative || !hasWords(key)) {
		return text
	}
	now, _ := put(kind, key)
	return filled(now, numbers)
}

var (
	svgWords   = regexp.MustCompile(`(?s)(<(text|tspan|title|desc)\b[^>]*>)([^<]+)`)
	saidLabel  = regexp.MustCompile(`(<[a-z]+\b[^>]*?\b(?:aria-label|title)=")([^"]*)(")`)
	tableWords = regexp.MustCompile(`(?s)(<(th|td|caption|div|p|summary|b)\b[^>]*>)([^<]+)(</)`)
)

// markup replaces the texts of a figure or a table.
func markup(src string, words *regexp.Regexp, kind string, put put) string {
	return words.ReplaceAllStringFunc(src, func(m string) string {
		parts := words.FindStringSubmatch(m)
		kind := kind
		if parts[2] == "title" || parts[2] == "desc" {
			kind = alternative
		}
		text := html.UnescapeString(parts[3])
		if parts[2] == "td" && len(text) > longestEntry { // what a model wrote, and not what we did
			return m
		}
		now := label(kind, text, put)
		if now == strings.TrimSpace(text) {
			return m
		}
		end := ""
		if len(parts) > 4 {
			end = parts[4]
		}
		return parts[1] + html.EscapeString(now) + end
	})
}

// longestEntry is how many bytes an entry of a table has at most, if it is a few words of ours.
const longestEntry = 40

const alternative = "alternative text"

// output returns what a cell showed with its texts replaced; put doesn't see what programs printed.
func output(o *notebook.Output, put put) *notebook.Output {
	if o.Type != "display_data" && o.Type != "execute_result" {
		return o
	}
	copied := *o
	copied.Data = notebook.Object{}
	for _, mime := range slices.Sorted(maps.Keys(o.Data)) { // in the same order each time
		v := o.Data[mime]
		if s, ok := v.(string); ok {
			v = display(mime, s, put)
		}
		copied.Data[mime] = v
	}
	copied.Metadata = withAlt(o.Metadata, put)
	if q, ok := o.Data[notebook.GuessType].(notebook.Object); ok {
		copied.Data[notebook.GuessType] = question(q, put)
	}
	return &copied
}

func display(mime, s string, put put) string {
	switch {
	case mime == "image/svg+xml", strings.HasSuffix(mime, "+svg"), mime == "text/html" && strings.HasPrefix(strings.TrimSpace(s), "<svg"):
		return labels(markup(s, svgWords, "label of a figure", put), put)
	case mime == "text/html":
		return labels(markup(s, tableWords, "table", put), put)
	case mime == "text/markdown":
		s, _ = markdown(s, put)
	case mime == "text/plain" && strings.HasPrefix(s, figure):
		return figure + label(alternative, strings.TrimPrefix(s, figure), put)
	}
	return s
}

// labels replaces texts that are read out, or shown under the mouse.
func labels(src string, put put) string {
	return saidLabel.ReplaceAllStringFunc(src, func(m string) string {
		parts := saidLabel.FindStringSubmatch(m)
		text := html.UnescapeString(parts[2])
		if now := label(alternative, text, put); now != strings.TrimSpace(text) {
			return parts[1] + html.EscapeString(now) + parts[3]
		}
		return m
	})
}

// figure is how kernel/show begins the text that goes with a picture.
const figure = "figure: "

// withAlt is an output's metadata with its alternative texts replaced.
func withAlt(data notebook.Object, put put) notebook.Object {
	if data == nil {
		return nil
	}
	copied := notebook.Object{}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		v := data[key]
		switch v := v.(type) {
		case string:
			if key == "alt" {
				copied[key] = label(alternative, v, put)
				continue
			}
		case notebook.Object:
			copied[key] = withAlt(v, put)
			continue
		}
		copied[key] = v
	}
	return copied
}

// question is a guess with its texts replaced. What its choices are to the program stays as it is, alongside what they
// are called: a guess is the same in every language.
func question(q notebook.Object, put put) notebook.Object {
	copied := notebook.Object{}
	for key, v := range q {
		copied[key] = v
	}
	text := func(o notebook.Object, key, kind string) {
		if s, ok := o[key].(string); ok && hasWords(s) {
			if now, ours := put(kind, s); ours {
				o[key] = now
			}
		}
	}
	if asked, ok := q["question"].(string); ok {
		text(copied, "question", "question")
		if copied["question"] != asked {
			copied["key"] = asked
		}
	}
	text(copied, "why", "remark")
	if unit, ok := q["unit"].(string); ok {
		text(copied, "unit", "unit")
		if shown, ok := strings.CutSuffix(str(q["shown"]), " "+unit); ok {
			copied["shown"] = shown + " " + str(copied["unit"])
		}
	}
	if choices, ok := q["choices"].([]any); ok {
		labels, changed := make([]any, len(choices)), false
		for i, c := range choices {
			labels[i] = c
			if name := str(c); name != "true" && name != "false" && HasProse(name) {
				labels[i], _ = put("choice", name)
			}
			changed = changed || labels[i] != c
			if q["shown"] == c {
				copied["shown"] = labels[i]
			}
		}
		if changed {
			copied["labels"] = labels
		}
	}
	if mistakes, ok := q["mistakes"].([]any); ok {
		list := make([]any, len(mistakes))
		for i, m := range mistakes {
			list[i] = m
			if m, ok := m.(notebook.Object); ok {
				said := notebook.Object{}
				for key, v := range m {
					said[key] = v
				}
				text(said, "why", "remark")
				list[i] = said
			}
		}
		copied["mistakes"] = list
	}
	return copied
}

func str(v any) string {
	s, _ := v.(string)
	return s
}
