package show

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/lectern-go/lectern/internal/inspect"
)

// A bundler says itself in which formats it is shown.
type bundler interface{ MIMEBundle() []string }

// formats returns the pairs of MIME type and data for v; the last one is always its text.
func formats(v any) []string {
	var pairs []string
	if _, bundled := v.(bundler); !bundled && !isNil(v) && !hasLook(v) {
		v = inspect.ViewOf(v)
	}
	if m, ok := v.(bundler); ok && !isNil(v) {
		return m.MIMEBundle()
	}
	if pairs := bundleOf(v); pairs != nil {
		return pairs
	}
	rich := func(mime string, method func() string) {
		defer func() {
			if r := recover(); r != nil {
				pairs = append(pairs, "text/html", fmt.Sprintf("<pre>this value's own display panicked: %s</pre>", escape(fmt.Sprint(r))))
			}
		}()
		if s := method(); s != "" {
			pairs = append(pairs, mime, s)
		}
	}
	if !isNil(v) {
		switch v := v.(type) {
		case interface{ HTML() string }:
			rich("text/html", v.HTML)
		case interface{ SVG() string }:
			rich("image/svg+xml", v.SVG)
		case interface{ Markdown() string }:
			rich("text/markdown", v.Markdown)
		}
	}
	if n, ok := v.(interface{ Narrow() string }); ok && len(pairs) == 2 {
		rich(narrowType, n.Narrow)
	}
	text := Format(v)
	if len(pairs) == 2 && !hasText(v) { // a figure's fields tell a reader nothing
		switch pairs[0] {
		case "text/html":
			text = htmlText(pairs[1])
		case "image/svg+xml":
			text = svgText(pairs[1])
		case "text/markdown":
			text = pairs[1]
		}
	}
	return append(pairs, "text/plain", text)
}

// narrowType is the form of a figure for pages as narrow as a phone's, which package render
// looks for; other programs ignore it.
const narrowType = "application/vnd.lectern.narrow+svg"

// hasLook reports whether the type of v says how it looks.
func hasLook(v any) bool {
	switch v.(type) {
	case interface{ HTML() string }, interface{ SVG() string }, interface{ Markdown() string }:
		return true
	}
	return hasText(v)
}

// hasText reports whether v has a text of its own.
func hasText(v any) bool {
	switch v.(type) {
	case fmt.Stringer, error:
		return true
	}
	return false
}

// isNil reports whether v is nil or a nil pointer, map and so on inside an interface, on which methods may panic.
func isNil(v any) bool {
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.Interface:
		return rv.IsNil()
	}
	return false
}

// htmlText is what a reader sees of HTML without its tags: a rough text form, one line for each line of the page.
func htmlText(s string) string {
	var b strings.Builder
	space := func() {
		if t := b.String(); t != "" && !strings.HasSuffix(t, " ") && !strings.HasSuffix(t, "\n") {
			b.WriteByte(' ')
		}
	}
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			i = len(s)
		}
		for j, w := range strings.Fields(s[:i]) {
			if j > 0 || strings.ContainsAny(s[:1], " \t\n") {
				space()
			}
			b.WriteString(w)
		}
		if i > 0 && strings.ContainsAny(s[i-1:i], " \t\n") {
			space()
		}
		if s = s[i:]; s == "" {
			break
		}
		name := strings.ToLower(strings.TrimLeft(s[1:min(len(s), 12)], "/"))
		j := strings.IndexByte(s, '>')
		if j < 0 {
			break
		}
		s = s[j+1:]
		for _, hidden := range []string{"style", "script"} {
			if strings.HasPrefix(name, hidden) {
				if k := strings.Index(strings.ToLower(s), "</"+hidden); k >= 0 {
					s = s[k:]
				}
			}
		}
		switch {
		case strings.HasPrefix(name, "br"), strings.HasPrefix(name, "p"), strings.HasPrefix(name, "tr"), strings.HasPrefix(name, "div"),
			strings.HasPrefix(name, "li"), strings.HasPrefix(name, "h"):
			if t := strings.TrimRight(b.String(), " "); t != "" && !strings.HasSuffix(t, "\n") {
				b.Reset()
				b.WriteString(t + "\n")
			}
		case strings.HasPrefix(name, "td"), strings.HasPrefix(name, "th"):
			space()
		}
	}
	t := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&nbsp;", " ", "&amp;", "&").Replace(b.String())
	if t = strings.TrimSpace(t); t == "" {
		t = "HTML"
	}
	return t
}

// svgText names a figure by its title.
func svgText(s string) string {
	if _, rest, ok := strings.Cut(s, "<title>"); ok {
		if title, _, ok := strings.Cut(rest, "</title>"); ok {
			return "figure: " + htmlText(title)
		}
	}
	return "figure"
}

// escape makes text safe inside HTML.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(s)
}
