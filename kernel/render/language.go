package render

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/translate"
)

// A site is in one language. The English one lies in the folder of the pages, each other one in a folder of its own
// there, with pages of the same names, places and ids: a link, a guess or a change of code means the same in all.

// say returns a text of the pages in the site's language, with values in it as fmt has them.
func (s *site) say(english string, values ...any) string {
	english = s.language.Say(english)
	if len(values) == 0 {
		return english
	}
	return fmt.Sprintf(english, values...)
}

// phrase marks a text that is said later.
func phrase(english string) string { return english }

// tag is the language for lang="…".
func (s *site) tag() string {
	if s.language != nil {
		return s.language.Tag
	}
	return "en"
}

// folder is where the pages lie below that of the whole site, with a trailing slash, if it is another.
func (s *site) folder() string {
	if s.language != nil {
		return s.language.Code + "/"
	}
	return ""
}

// up leads from a page to the folder of the whole site.
func (s *site) up() string { return strings.Repeat("../", strings.Count(s.folder(), "/")) }

// minutes is a number of them in words.
func (s *site) minutes(n int) string {
	if s.language == nil {
		return humanize.Count(n, "minute")
	}
	return s.say("%d minutes", n)
}

// switches are links to the same page in the other languages. The page's script keeps the place.
func (s *site) switches(file, root string) string {
	if len(s.options.Languages) == 0 {
		return ""
	}
	var b strings.Builder
	link := func(folder, tag, name string) {
		fmt.Fprintf(&b, `<a class="tool language" lang="%s" hreflang="%s" href="%s">%s</a>`, tag, tag, html.EscapeString(root+folder+url.PathEscape(file)), html.EscapeString(name))
	}
	if s.language != nil {
		link("", "en", "English")
	}
	for _, l := range s.options.Languages {
		if l != s.language {
			link(l.Code+"/", l.Tag, l.Name)
		}
	}
	return b.String()
}

// alternates name a page's addresses in all languages, for search engines.
func (s *site) alternates(file string) string {
	if len(s.options.Languages) == 0 {
		return ""
	}
	var b strings.Builder
	line := func(folder, tag string) {
		fmt.Fprintf(&b, "<link rel=\"alternate\" hreflang=\"%s\" href=\"%s\">\n", tag, html.EscapeString(s.options.URL+folder+pathOf(file)))
	}
	line("", "en")
	for _, l := range s.options.Languages {
		line(l.Code+"/", l.Tag)
	}
	return b.String()
}

// pathOf is the part of an address that names a page.
func pathOf(file string) string {
	if file == "index.html" {
		return ""
	}
	return url.PathEscape(file)
}

// words is what scripts say in the site's language, as JSON for say.js.
func (s *site) words(scripts ...string) string {
	if s.language == nil {
		return ""
	}
	text, err := json.Marshal(s.language.Words(scripts...))
	if err != nil {
		panic(err) // strings alone
	}
	return string(text)
}

// markForeign marks the blocks of a cell that are in another language than the page.
func (p *page) markForeign(doc ast.Node, source []byte) {
	lines := p.foreignLines
	if len(lines) == 0 {
		return
	}
	ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() != ast.TypeBlock || n.Lines().Len() == 0 || !slices.Contains(lines, lineOf(source, n.Lines().At(0).Start)) {
			return ast.WalkContinue, nil
		}
		marked := n
		switch n.Kind() {
		case ast.KindTextBlock, extast.KindTableCell:
			marked = n.Parent()
		case ast.KindParagraph, ast.KindHeading:
		default:
			return ast.WalkContinue, nil
		}
		marked.SetAttributeString("lang", []byte("en"))
		marked.SetAttributeString("class", []byte("english"))
		return ast.WalkContinue, nil
	})
}

// englishHeading is the n-th heading of the current cell in English: that names the place in every language.
func (p *page) englishHeading(n int) (string, bool) {
	if p.original == nil || p.cell == nil {
		return "", false
	}
	list, ok := p.original[p.cell.ID]
	if !ok {
		for _, c := range p.english.Cells {
			if c.ID == p.cell.ID {
				for _, u := range translate.MarkdownUnits(c.Source) {
					if u.Kind == translate.Heading {
						list = append(list, u.Text)
					}
				}
			}
		}
		p.original[p.cell.ID] = list
	}
	if n >= len(list) {
		return "", false
	}
	return list[n], true
}
