package render

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// htmlToken is a piece of HTML as a browser sees it. raw is its source; its attributes have names in lower case and
// decoded values, and of several of one name the first is left.
type htmlToken struct {
	kind  html.TokenType // text, a start tag, which may close itself, an end tag, a comment or a doctype
	raw   string
	name  string // of a tag, in lower case
	attrs []html.Attribute
	void  bool // the tag ends with />, which means something in SVG and MathML alone
}

// scanner splits HTML into tokens. A token that is not finished at the end of the text is text: an unfinished tag can't
// swallow what follows on the page. We look at tokens and not at a parsed document, since goldmark hands us inline HTML
// one tag at a time, and a trusted output should stay as it was written.
type scanner struct {
	tokens *html.Tokenizer
	raw    bool // text comes next, whatever it looks like: a <script> or the like has just begun
	names  bool // of tags only the names are asked for, not the attributes
}

func scan(src string) *scanner {
	return &scanner{tokens: html.NewTokenizer(strings.NewReader(src))}
}

// markup says that the start tag just read has elements inside, even if its name is one of those whose content is
// plain text in HTML. SVG's <title> is no <title>, and what a dropped tag held is looked at like the rest.
func (s *scanner) markup() {
	s.raw = false
	s.tokens.NextIsNotRawText()
}

// foreign says whether the next token is in SVG or MathML, where <![CDATA[ begins text. In HTML it begins a
// comment, which ends at the next >.
func (s *scanner) foreign(yes bool) { s.tokens.AllowCDATA(yes) }

func (s *scanner) next() (t htmlToken, ok bool) {
	wasRaw := s.raw
	s.raw = false
	t.kind = s.tokens.Next()
	t.raw = string(s.tokens.Raw()) // before the name is asked for: that lowers it in place
	switch t.kind {
	case html.ErrorToken:
		t.kind = html.TextToken
		t.raw = strings.ReplaceAll(t.raw, "<", "&lt;")
		return t, t.raw != ""
	case html.TextToken:
		switch {
		case wasRaw:
		case strings.HasPrefix(t.raw, "<![CDATA["):
			t.raw = html.EscapeString(strings.TrimSuffix(strings.TrimPrefix(t.raw, "<![CDATA["), "]]>"))
		default:
			t.raw = strings.ReplaceAll(t.raw, "<", "&lt;")
		}
	case html.CommentToken, html.DoctypeToken:
		if !strings.HasSuffix(t.raw, ">") || strings.HasPrefix(t.raw, "<!--") && !strings.HasSuffix(t.raw, "-->") && !strings.HasSuffix(t.raw, "--!>") {
			t.kind = html.TextToken
			t.raw = strings.ReplaceAll(t.raw, "<", "&lt;")
		}
	case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
		t.void = t.kind == html.SelfClosingTagToken
		name, more := s.tokens.TagName()
		t.name = string(name)
		for more && t.kind != html.EndTagToken && !s.names {
			var key, value []byte
			key, value, more = s.tokens.TagAttr()
			t.attrs = append(t.attrs, html.Attribute{Key: string(key), Val: string(value)})
		}
		if t.void {
			t.kind = html.StartTagToken
		}
		if t.kind == html.StartTagToken {
			if s.raw = rawElements[t.name]; !s.raw {
				s.markup()
			}
		}
	}
	return t, true
}

// attr returns the value of an attribute and whether it is there.
func (t *htmlToken) attr(name string) (string, bool) {
	i := slices.IndexFunc(t.attrs, func(a html.Attribute) bool { return a.Key == name })
	if i < 0 {
		return "", false
	}
	return t.attrs[i].Val, true
}

// set gives an attribute a value, adding it if need be.
func (t *htmlToken) set(name, value string) {
	i := slices.IndexFunc(t.attrs, func(a html.Attribute) bool { return a.Key == name })
	if i < 0 {
		i = len(t.attrs)
		t.attrs = append(t.attrs, html.Attribute{Key: name})
	}
	t.attrs[i].Val = value
}

// source rewrites a start tag from its attributes.
func (t *htmlToken) source() string {
	var b strings.Builder
	b.WriteString("<" + t.originalName())
	for _, a := range t.attrs {
		name := a.Key
		if written, ok := svgSpelling[name]; ok {
			name = written
		}
		b.WriteString(" " + name)
		if a.Val != "" || !switches[name] {
			b.WriteString(`="` + html.EscapeString(a.Val) + `"`)
		}
	}
	if t.void {
		b.WriteString("/")
	}
	b.WriteString(">")
	return b.String()
}

// switches are attributes whose presence alone says something.
var switches = set("checked compact disabled hidden loop multiple muted open readonly required reversed selected")

// originalName is a tag's name as written; SVG's names have capitals.
func (t *htmlToken) originalName() string {
	name := strings.TrimLeft(t.raw, "</")
	return name[:strings.IndexAny(name, " \t\n\f\r/>")]
}
