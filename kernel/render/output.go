package render

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// preferred are the forms of a display, the richest first.
var preferred = []string{"text/html", "image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp", "text/markdown", "text/latex", "text/plain", "application/json"}

// output draws one output of the current cell.
func (p *page) output(o *notebook.Output) string {
	switch o.Type {
	case "stream":
		if o.Text == "" {
			return ""
		}
		class, label := "stream", ""
		if o.Name == "stderr" {
			class, label = "stream stderr", `<p class="label">stderr</p>`
		}
		return `<div class="` + class + `">` + label + printed(o.Text) + "</div>\n"
	case "error":
		return p.failure(o)
	}
	for _, mime := range preferred {
		v, ok := o.Data[mime]
		if !ok {
			continue
		}
		if s, isText := v.(string); isText && mime != "application/json" {
			if strings.TrimSpace(s) == "" {
				continue
			}
			drawn := p.display(o, mime, s)
			if drawn == "" && p.site.options.Untrusted {
				continue // all of it was a script: a simpler form may be left
			}
			return drawn
		}
		b, err := json.MarshalIndent(v, "", "  ")
		if err == nil {
			return codeBlock("json", string(b)) + "\n"
		}
	}
	if len(o.Data) > 0 {
		p.warn(0, "an output has no form that a page can show")
	}
	return ""
}

// lineFits is how many characters of printed text a page shows in a line, in the fold of a solution, too.
const lineFits = 80

// printed draws text that a cell printed. Its lines stay as they are, since columns are aligned; but where
// one is too long for the page, as the sentence of an error is, the text is broken into lines that can be read without
// scrolling.
func printed(text string) string {
	class := ""
	for line := range strings.Lines(terminalText(text)) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > lineFits {
			class = ` class="wrap"`
			break
		}
	}
	return `<pre` + class + `>` + terminal(strings.TrimRight(text, "\n")) + "</pre>"
}

// failure draws an error that ended a cell.
func (p *page) failure(o *notebook.Output) string {
	text := strings.TrimRight(strings.Join(o.Traceback, "\n"), "\n")
	head := strings.TrimSpace(o.EName + ": " + o.EValue)
	if o.EName == "" || o.EValue == "" {
		head = strings.TrimSpace(o.EName + o.EValue)
	}
	title := ""
	if plain := terminalText(text); o.EValue == "" || !strings.Contains(plain, strings.TrimSpace(terminalText(o.EValue))) {
		title = `<p class="what">` + terminal(head) + "</p>"
	}
	if text != "" {
		text = "<pre>" + terminal(text) + "</pre>"
	}
	return `<div class="error" role="group" aria-label="` + p.site.say("Error") + `"><p class="label">` + p.site.say("Error") + `</p>` + title + text + "</div>\n"
}

// terminalText is what terminal shows, as plain text.
func terminalText(s string) string {
	return html.UnescapeString(anyTag.ReplaceAllString(terminal(s), ""))
}

func (p *page) display(o *notebook.Output, mime, data string) string {
	alt := metadataAlt(o, mime)
	if text, ok := o.Data["text/plain"].(string); ok && alt == "" && strings.HasPrefix(text, "figure: ") { // as kernel/show puts a figure's title into words
		alt = strings.TrimSpace(strings.TrimPrefix(text, "figure: "))
	}
	switch mime {
	case "text/html":
		if loneSVG(data) { // a figure that takes on the page's colors
			return p.display(o, "image/svg+xml", data)
		}
		if p.site.options.Untrusted {
			return p.strangersHTML(data)
		}
		if active(data) {
			return `<div class="rich">` + frame(p.outputHTML(data)) + "</div>\n"
		}
		return `<div class="rich scroll">` + p.outputHTML(data) + "</div>\n"
	case "image/svg+xml":
		svg, own := svgText(data)
		if alt == "" {
			alt = own
		}
		if !strings.HasPrefix(svg, "<svg") {
			p.problem(0, "an image/svg+xml output does not hold an <svg> element")
			return ""
		}
		if alt == "" {
			p.missingAlt(`an SVG figure has no alternative text: give it a <title> or the output's metadata an "alt"`)
		}
		class, drawn := p.drawing(svg, alt, "")
		if drawn == "" {
			return ""
		}
		if narrow, ok := o.Data[narrowType].(string); ok && loneSVG(narrow) {
			if _, second := p.drawing(strings.TrimSpace(narrow), alt, "narrow"); second != "" {
				_, drawn = p.drawing(svg, alt, "wide")
				drawn += second
			}
		}
		return p.figure(alt, `<div class="`+class+`">`+drawn+"</div>") + "\n"
	case "text/markdown":
		return `<div class="text">` + p.markdown(data) + "</div>\n"
	case "text/latex":
		latex := strings.TrimSpace(data)
		for _, fence := range []string{"$$", "$"} {
			if strings.HasPrefix(latex, fence) && strings.HasSuffix(latex, fence) && len(latex) > 2*len(fence) {
				latex = latex[len(fence) : len(latex)-len(fence)]
				break
			}
		}
		return `<div class="display">` + p.formula(latex, true, nil, 0) + "</div>\n"
	case "text/plain":
		return `<div class="stream value">` + printed(data) + "</div>\n"
	}
	if alt == "" {
		p.missingAlt(`an %s figure has no alternative text: give the output's metadata an "alt"`, mime)
	}
	size := ""
	if m, ok := o.Metadata[mime].(map[string]any); ok {
		for _, side := range []string{"width", "height"} {
			if n, ok := m[side].(json.Number); ok {
				size += " " + side + `="` + html.EscapeString(n.String()) + `"`
			}
		}
	}
	src := "data:" + mime + ";base64," + strings.Join(strings.Fields(data), "")
	return p.figure(alt, `<div class="picture paper"><img src="`+html.EscapeString(src)+`" alt="`+html.EscapeString(alt)+`"`+size+"></div>") + "\n"
}

// narrowType is the form of a figure for pages as narrow as a phone's.
const narrowType = "application/vnd.lectern.narrow+svg"

// drawing draws an SVG of an output, and says by what class its place in the page goes. A variant is its own class.
// It is empty if the page can't have it.
func (p *page) drawing(svg, alt, variant string) (class, drawn string) {
	if p.prefix != "" {
		if clean, _, err := cleanSVG(svg); err == nil && !strings.Contains(clean, "<style") { // then it draws, in the page's colors, and does nothing else
			return paper(clean), p.svg(clean, alt, variant)
		}
	}
	if p.site.options.Untrusted || active(svg) { // as a picture of its own: its styles are not the page's, and browsers run nothing in it
		src := p.svgPicture(svg, "of an output")
		if src == "" {
			return "", ""
		}
		if variant != "" {
			variant = ` class="` + variant + `"`
		}
		return "picture paper", `<img` + variant + ` src="` + html.EscapeString(src) + `" alt="` + html.EscapeString(alt) + `">`
	}
	return paper(svg), p.svg(svg, alt, variant)
}

// loneSVG reports whether HTML is one <svg> element and nothing else.
func loneSVG(src string) bool {
	depth := 0
	s := scan(strings.TrimSpace(src))
	s.names = true
	for {
		s.foreign(depth > 0)
		t, ok := s.next()
		switch {
		case !ok:
			return false
		case t.kind == html.StartTagToken && t.name == "svg" && !t.void:
			depth++
		case t.kind == html.EndTagToken && t.name == "svg":
			depth--
			if depth == 0 {
				_, more := s.next()
				return !more
			}
		}
		if depth == 0 {
			return false
		}
		if t.name != "script" && t.name != "style" {
			s.markup()
		}
	}
}

// metadataAlt is the text that a display carries for those who do not see it.
func metadataAlt(o *notebook.Output, mime string) string {
	if m, ok := o.Metadata[mime].(map[string]any); ok {
		if s, ok := m["alt"].(string); ok {
			return strings.TrimSpace(s)
		}
	}
	s, _ := o.Metadata["alt"].(string)
	return strings.TrimSpace(s)
}

// outputHTML keeps what a kernel showed, scripts included, except links that run a script.
func (p *page) outputHTML(src string) string {
	f := filter{resolve: p.outputResource, check: p.checkAlt}
	return balance(f.run(src))
}

// strangersHTML keeps of an output what Markdown may hold, too. It is empty if nothing is left to see.
func (p *page) strangersHTML(src string) string {
	p.strange++
	var lost []string
	f := filter{strict: true, ids: p.prefix + "output-" + strconv.Itoa(p.strange) + "-", ours: p.prefix != "", resolve: p.resource, check: p.checkAlt}
	f.dropped = func(element string) { lost = noted(lost, "<"+shorten(element)+">") }
	out := balance(f.run(src))
	if len(lost) > 0 {
		p.warn(0, "an output lost %s: the notebook is not trusted", strings.Join(lost, ", "))
	}
	if strings.TrimSpace(html.UnescapeString(anyTag.ReplaceAllString(out, ""))) == "" && !strings.Contains(out, "<img ") && !strings.Contains(out, "<svg") {
		return ""
	}
	return `<div class="rich scroll">` + out + "</div>\n"
}

// outputResource warns of what the page's policy will not load.
func (p *page) outputResource(tag, attr, url string) string {
	if loadingURLs[attr] && external(url) || (attr == "href" || attr == "xlink:href") && (tag == "image" || tag == "use" || tag == "feimage") && external(url) {
		p.warn(0, "an output loads %q, which a page does not do; the output has to include it", shorten(url))
	}
	return url
}
