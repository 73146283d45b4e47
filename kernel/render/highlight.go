//go:build !js

package render

import (
	"html"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// highlight returns code as HTML with spans for a handful of token classes; the
// style sheet gives each a light and a dark color. An unknown language is
// plain text.
func highlight(language, code string) string {
	lexer := lexers.Get(language)
	if language == "" || lexer == nil {
		return html.EscapeString(code)
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root", EnsureLF: false}, code)
	if err != nil {
		return html.EscapeString(code)
	}
	var b strings.Builder
	rest := code
	for t := tokens(); t != chroma.EOF; t = tokens() {
		if rest == "" && t.Value == "\n" { // some lexers end every text with a line feed
			continue
		}
		value := strings.TrimSuffix(t.Value, "\n")
		if rest != value {
			value = t.Value
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, value); !ok { // a lexer that changes the text is of no use to a reader who copies it
			return html.EscapeString(code)
		}
		class := tokenClass(t.Type)
		if class == "" || strings.TrimSpace(value) == "" {
			b.WriteString(html.EscapeString(value))
			continue
		}
		b.WriteString(`<span class="` + class + `">` + html.EscapeString(value) + `</span>`)
	}
	if rest != "" {
		return html.EscapeString(code)
	}
	return b.String()
}

// tokenClass maps chroma's many kinds of token to the few colors of a page.
func tokenClass(t chroma.TokenType) string {
	switch t {
	case chroma.KeywordType, chroma.NameClass, chroma.NameException:
		return "ht"
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameDecorator:
		return "hf"
	case chroma.NameBuiltin, chroma.NameBuiltinPseudo, chroma.KeywordConstant:
		return "hb"
	case chroma.GenericDeleted:
		return "hd"
	case chroma.GenericInserted:
		return "hs"
	case chroma.OperatorWord:
		return "hk"
	}
	switch {
	case t.InCategory(chroma.Keyword):
		return "hk"
	case t.InSubCategory(chroma.LiteralString):
		return "hs"
	case t.InSubCategory(chroma.LiteralNumber):
		return "hn"
	case t.InCategory(chroma.Comment):
		return "hc"
	}
	return ""
}
