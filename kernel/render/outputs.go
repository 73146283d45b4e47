package render

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// Outputs draws the outputs of a cell that runs in a page. They look as on the pages of a course, and like those of a
// notebook that is not trusted they run nothing in the page, load nothing and cover nothing: somebody may have
// pasted the cell from anywhere.
type Outputs struct{ page *page }

// NewOutputs begins a cell. The ids in its outputs begin with a prefix, which no other cell of the page has.
func NewOutputs(prefix string) *Outputs {
	p := newPage(&site{options: Options{Untrusted: true, AllowMissingAlt: true}}, "", &notebook.Notebook{})
	p.cell, p.prefix = &notebook.Cell{ID: strings.TrimSuffix(prefix, "-")}, prefix
	return &Outputs{p}
}

// Output returns an output as HTML, one element or none at all.
func (d *Outputs) Output(o *notebook.Output) string {
	d.page.site.warnings, d.page.site.problems = nil, nil
	if _, ok := o.Data[notebook.GuessType]; ok { // the page has asked already
		return ""
	}
	if s, ok := o.Data["text/html"].(string); ok && strings.Contains(s, "<script") {
		return frame(balance(s))
	}
	return strings.TrimSpace(d.page.output(o))
}

// active reports whether HTML or SVG holds scripts of its own.
func active(src string) bool {
	tokens := html.NewTokenizer(strings.NewReader(src))
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return false
		case html.StartTagToken, html.SelfClosingTagToken:
			t := tokens.Token()
			tokens.NextIsNotRawText() // in SVG other names hold elements than in HTML: here all do
			if t.Data == "script" || slices.ContainsFunc(t.Attr, func(a html.Attribute) bool { return strings.HasPrefix(a.Key, "on") }) {
				return true
			}
		}
	}
}

// frame draws HTML with scripts of its own as a document of its own, which the browser keeps apart from the page: it
// can't read or change the page, nor lead it elsewhere. It tells the page how high it is.
func frame(content string) string {
	document := `<!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><style>body{margin:0;font:16px/1.6 system-ui,sans-serif}table{border-collapse:collapse}td,th{padding:.2rem .7rem;border-bottom:1px solid #8886}</style>` +
		content + `<script>new ResizeObserver(() => parent.postMessage({ lecternHeight: document.documentElement.offsetHeight }, "*")).observe(document.documentElement)</script>`
	return `<iframe class="apart" title="Output" sandbox="allow-scripts" srcdoc="` + html.EscapeString(document) + `"></iframe>`
}
