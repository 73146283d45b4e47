//go:build unix

package main

import (
	"encoding/base64"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// copiesVar names the folder of the working copies. There a guess comes before the look: what a cell shows after a
// question that has no guess yet lies behind a line that the student opens. Elsewhere outputs are left as they are,
// since pages hide them by themselves.
const copiesVar = "LECTERN_COPIES"

// foldsIn reports whether cells that run in dir fold what gives an answer away.
func foldsIn(dir string) bool {
	copies := os.Getenv(copiesVar)
	if copies == "" {
		return false
	}
	rel, err := filepath.Rel(copies, dir)
	return err == nil && filepath.IsLocal(rel)
}

// A fold gathers the outputs behind one line.
type fold struct {
	summary     string
	html, plain strings.Builder
	text        strings.Builder // printed since the last display
}

var terminalCodes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// print takes printed text.
func (f *fold) print(text string) {
	f.text.WriteString(terminalCodes.ReplaceAllString(text, ""))
}

// flush moves printed text in front of what comes next.
func (f *fold) flush() {
	if f.text.Len() > 0 {
		f.addText(f.text.String())
		f.text.Reset()
	}
}

func (f *fold) addText(text string) {
	fmt.Fprintf(&f.html, "<pre>%s</pre>\n", html.EscapeString(text))
	f.plain.WriteString(strings.TrimSuffix(text, "\n") + "\n")
}

// add takes a display and reports whether it can be folded: a question, a widget and what runs scripts can't.
func (f *fold) add(data map[string]any) bool {
	of := func(mime string) string { s, _ := data[mime].(string); return s }
	plain := of("text/plain")
	var shown string
	if data[viewType] != nil {
		return false // a widget
	}
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

// display is the fold as one output; nil if nothing is in it.
func (f *fold) display() map[string]any {
	f.flush()
	if f.html.Len() == 0 {
		return nil
	}
	return map[string]any{
		"text/html":  fmt.Sprintf("<details><summary style=\"cursor:pointer\">%s</summary>\n%s</details>", html.EscapeString(f.summary), f.html.String()),
		"text/plain": f.plain.String(),
	}
}
