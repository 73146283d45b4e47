package display

import (
	"encoding/base64"
	"fmt"
	"html"
	"regexp"
	"strings"
)

// A Fold gathers outputs into one, as HTML and as text. The zero value is empty.
type Fold struct {
	html, plain strings.Builder
	text        strings.Builder // printed since the last display
}

var terminalCodes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Print takes printed text.
func (f *Fold) Print(text string) {
	f.text.WriteString(terminalCodes.ReplaceAllString(text, ""))
}

// flush moves printed text in front of what comes next.
func (f *Fold) flush() {
	if f.text.Len() > 0 {
		f.addText(f.text.String())
		f.text.Reset()
	}
}

func (f *Fold) addText(text string) {
	fmt.Fprintf(&f.html, "<pre>%s</pre>\n", html.EscapeString(text))
	f.plain.WriteString(strings.TrimSuffix(text, "\n") + "\n")
}

// Add takes a display, and reports whether it can be folded: a question and what runs scripts can't.
func (f *Fold) Add(data map[string]any) bool {
	of := func(mime string) string { s, _ := data[mime].(string); return s }
	plain := of("text/plain")
	var shown string
	for _, mime := range []string{"image/png", "image/jpeg", "image/gif"} {
		if s := of(mime); s != "" && shown == "" {
			shown = fmt.Sprintf(`<img src="data:%s;base64,%s" alt="%s">`, mime, s, html.EscapeString(plain))
		}
	}
	if s := of("image/svg+xml"); s != "" {
		shown = fmt.Sprintf(`<img src="data:image/svg+xml;base64,%s" alt="%s">`, base64.StdEncoding.EncodeToString([]byte(s)), html.EscapeString(plain))
	}
	if s := of("text/html"); s != "" {
		shown = s
	}
	switch {
	case strings.Contains(strings.ToLower(shown), "<script"):
		return false
	case shown != "":
		f.flush()
		f.html.WriteString(shown + "\n")
		if plain != "" {
			f.plain.WriteString(plain + "\n")
		}
	case plain != "" && len(data) == 1:
		f.flush()
		f.addText(plain)
	default:
		return false
	}
	return true
}

// Forms is what has been gathered, as HTML and as text; both are empty if nothing has been.
func (f *Fold) Forms() (html, plain string) {
	f.flush()
	return f.html.String(), f.plain.String()
}
