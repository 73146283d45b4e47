package render

import (
	"html"
	"strings"
)

type htmlKind int

const (
	htmlText htmlKind = iota
	htmlStart
	htmlEnd
	htmlComment // comments, doctypes and processing instructions
)

// htmlToken is a piece of HTML as a browser would see it. raw is its source.
type htmlToken struct {
	kind        htmlKind
	raw         string
	name        string // of a tag, in lower case
	attrs       []htmlAttr
	selfClosing bool
}

type htmlAttr struct {
	name  string // as written
	value string // decoded
	bare  bool   // written without a value
}

// attr returns the value of an attribute and whether it is there.
func (t *htmlToken) attr(name string) (string, bool) {
	for _, a := range t.attrs {
		if strings.EqualFold(a.name, name) {
			return a.value, true
		}
	}
	return "", false
}

// set gives an attribute a value, adding it if need be.
func (t *htmlToken) set(name, value string) {
	for i := range t.attrs {
		if strings.EqualFold(t.attrs[i].name, name) {
			t.attrs[i] = htmlAttr{name: t.attrs[i].name, value: value}
			return
		}
	}
	t.attrs = append(t.attrs, htmlAttr{name: name, value: value})
}

// source writes a start tag anew from its attributes.
func (t *htmlToken) source(name string) string {
	var b strings.Builder
	b.WriteString("<" + name)
	for _, a := range t.attrs {
		b.WriteString(" " + a.name)
		if !a.bare {
			b.WriteString(`="` + html.EscapeString(a.value) + `"`)
		}
	}
	if t.selfClosing {
		b.WriteString("/")
	}
	b.WriteString(">")
	return b.String()
}

// originalName is a tag's name as written; SVG's names have capitals.
func (t *htmlToken) originalName() string {
	s := strings.TrimLeft(t.raw, "</")
	return s[:len(t.name)]
}

// scanner splits HTML into tokens. What is not finished at the end of the text
// is text: an unfinished tag cannot swallow what follows on the page.
type scanner struct {
	src    string
	pos    int
	wasted int // bytes looked at in vain, for tags and comments that never end
}

func (s *scanner) next() (htmlToken, bool) {
	if s.pos >= len(s.src) {
		return htmlToken{}, false
	}
	rest := s.src[s.pos:]
	if rest[0] != '<' || len(rest) == 1 {
		n := strings.IndexByte(rest[1:], '<') + 1
		if n == 0 {
			n = len(rest)
		}
		return s.take(htmlToken{kind: htmlText}, n), true
	}
	if s.wasted > 50*len(s.src)+1<<20 {
		return s.take(htmlToken{kind: htmlText}, 1), true // made to be slow: no more tags
	}
	switch c := rest[1]; {
	case strings.HasPrefix(rest, "<!--"):
		if i := strings.Index(rest[4:], "-->"); i >= 0 && !strings.HasPrefix(rest[4:], ">") && !strings.HasPrefix(rest[4:], "->") {
			return s.take(htmlToken{kind: htmlComment}, 4+i+3), true
		}
	case strings.HasPrefix(rest, "<![CDATA["):
		if i := strings.Index(rest, "]]>"); i >= 0 {
			return s.take(htmlToken{kind: htmlText}, i+3), true
		}
	case c == '!' || c == '?':
		if i := strings.IndexByte(rest, '>'); i >= 0 {
			return s.take(htmlToken{kind: htmlComment}, i+1), true
		}
	case c == '/' && len(rest) > 2 && isAlpha(rest[2]):
		if t, n := scanTag(rest, 2); n > 0 {
			t.kind = htmlEnd
			return s.take(t, n), true
		}
	case isAlpha(c):
		if t, n := scanTag(rest, 1); n > 0 {
			t.kind = htmlStart
			return s.take(t, n), true
		}
	}
	if c := rest[1]; c == '!' || c == '?' || c == '/' || isAlpha(c) {
		s.wasted += len(rest)
	}
	return s.take(htmlToken{kind: htmlText}, 1), true
}

func (s *scanner) take(t htmlToken, n int) htmlToken {
	t.raw = s.src[s.pos : s.pos+n]
	s.pos += n
	return t
}

// rawText consumes the inside of an element such as <script>, up to its end tag.
// It reports whether there is one.
func (s *scanner) rawText(name string) (string, bool) {
	rest := s.src[s.pos:]
	for i := 0; ; {
		k := strings.Index(rest[i:], "</")
		if k < 0 {
			return "", false
		}
		i += k
		end := i + 2 + len(name)
		if end < len(rest) && strings.EqualFold(rest[i+2:end], name) && strings.IndexByte(" \t\n\f\r/>", rest[end]) >= 0 {
			s.pos += i
			return rest[:i], true
		}
		i += 2
	}
}

// scanTag parses a tag whose name begins at offset at and returns how long it
// is, or 0 if it is not finished.
func scanTag(s string, at int) (htmlToken, int) {
	i := at
	for i < len(s) && strings.IndexByte(" \t\n\f\r/>", s[i]) < 0 {
		i++
	}
	t := htmlToken{name: lower(s[at:i])}
	for {
		for i < len(s) && strings.IndexByte(" \t\n\f\r/", s[i]) >= 0 {
			t.selfClosing = s[i] == '/'
			i++
		}
		if i >= len(s) {
			return t, 0
		}
		if s[i] == '>' {
			return t, i + 1
		}
		t.selfClosing = false
		start := i
		if s[i] == '=' {
			i++ // a browser takes it as part of the name
		}
		for i < len(s) && strings.IndexByte(" \t\n\f\r/>=", s[i]) < 0 {
			i++
		}
		a := htmlAttr{name: s[start:i], bare: true}
		j := i
		for j < len(s) && strings.IndexByte(" \t\n\f\r", s[j]) >= 0 {
			j++
		}
		if j < len(s) && s[j] == '=' {
			j++
			for j < len(s) && strings.IndexByte(" \t\n\f\r", s[j]) >= 0 {
				j++
			}
			if j >= len(s) {
				return t, 0
			}
			a.bare = false
			if q := s[j]; q == '"' || q == '\'' {
				k := strings.IndexByte(s[j+1:], q)
				if k < 0 {
					return t, 0
				}
				a.value = html.UnescapeString(s[j+1 : j+1+k])
				i = j + k + 2
			} else {
				k := j
				for k < len(s) && strings.IndexByte(" \t\n\f\r>", s[k]) < 0 {
					k++
				}
				a.value = html.UnescapeString(s[j:k])
				i = k
			}
		}
		t.attrs = append(t.attrs, a)
	}
}

// lower lowers ASCII letters only, as HTML does for names.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// dedupe keeps the first of several attributes of one name, as browsers take it.
func dedupe(attrs []htmlAttr) []htmlAttr {
	seen := map[string]bool{}
	out := attrs[:0]
	for _, a := range attrs {
		if n := strings.ToLower(a.name); !seen[n] {
			seen[n] = true
			out = append(out, a)
		}
	}
	return out
}
