package render

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"github.com/lectern-go/lectern/internal/humanize"
)

// image draws an image of Markdown, with the picture inside the page.
func (r nodes) image(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	n := node.(*ast.Image)
	alt := strings.TrimSpace(plainText(n, source))
	dest := string(n.Destination)
	if alt == "" {
		r.p.missingAlt("the image %q has no alternative text: write ![what it shows](…)", shorten(dest))
	}
	if external(dest) {
		r.p.warn(0, "the image %q is on another host, from which pages load nothing; it became a link", shorten(dest))
		fmt.Fprintf(w, `<a href="%s">%s</a>`, html.EscapeString(dest), html.EscapeString(alt))
		return ast.WalkSkipChildren, nil
	}
	src := r.p.image(dest)
	if src == "" {
		fmt.Fprintf(w, `<em>%s</em>`, html.EscapeString(alt))
		return ast.WalkSkipChildren, nil
	}
	title := ""
	if len(n.Title) > 0 {
		title = ` title="` + html.EscapeString(string(n.Title)) + `"`
	}
	fmt.Fprintf(w, `<img src="%s" alt="%s"%s>`, html.EscapeString(src), html.EscapeString(alt), title)
	return ast.WalkSkipChildren, nil
}

// shorten cuts what a message quotes.
func shorten(s string) string { return humanize.Shorten(s, 60) }

// checkAlt looks at pictures in raw HTML.
func (p *page) checkAlt(t *htmlToken) {
	switch t.name {
	case "img":
		if _, ok := t.attr("alt"); !ok {
			p.missingAlt(`an <img> has no alt="…" (alt="" for decoration)`)
		}
	case "svg":
		_, label := t.attr("aria-label")
		_, by := t.attr("aria-labelledby")
		hidden, _ := t.attr("aria-hidden")
		role, _ := t.attr("role")
		if !label && !by && hidden != "true" && role != "presentation" && role != "none" {
			p.unlabeled = true // until a <title> follows
		}
	case "title":
		p.unlabeled = false
	}
}

// figure wraps a picture that a cell showed. The caption links to the cell.
func (p *page) figure(alt, body string) string {
	p.figures++
	caption := ""
	if len([]rune(alt)) <= 140 {
		caption = " " + html.EscapeString(alt)
	}
	if p.prefix != "" { // the page's own figures are numbered
		return "<figure>" + body + "<figcaption>" + strings.TrimSpace(caption) + "</figcaption></figure>"
	}
	return fmt.Sprintf(`<figure id="figure-%d">%s<figcaption><a href="#cell-%s">%s</a>%s</figcaption></figure>`,
		p.figures, body, p.cell.ID, p.site.say("Figure %d", p.figures), caption)
}

var (
	svgPrologue = regexp.MustCompile(`(?is)^\s*(<\?xml.*?\?>|<!DOCTYPE[^>\[]*(\[[^\]]*\])?[^>]*>|<!--.*?-->|\s+)*`)
	svgTitle    = regexp.MustCompile(`(?is)<svg[^>]*>\s*(?:<(?:desc|metadata)[^>]*>.*?</(?:desc|metadata)>\s*|<!--.*?-->\s*)*<title[^>]*>(.*?)</title>`)
	urlRef      = regexp.MustCompile(`url\(\s*(['"]?)#([^'")]+)(['"]?)\s*\)`)
	idRef       = regexp.MustCompile(`#([A-Za-z_][\w.:-]*)`)
	number      = regexp.MustCompile(`^\s*([0-9.]+)(px|pt)?\s*$`)
)

// svgText returns the SVG without its XML prologue and the text that its author
// gave it, if any.
func svgText(src string) (svg, alt string) {
	svg = svgPrologue.ReplaceAllString(src, "")
	if t, ok := scan(svg).next(); ok && t.name == "svg" {
		alt, _ = t.attr("aria-label")
	}
	if m := svgTitle.FindStringSubmatch(svg); alt == "" && m != nil {
		alt = html.UnescapeString(m[1])
	}
	return svg, strings.Join(strings.Fields(alt), " ")
}

// svg draws an SVG output inside the page. Ids are made unique, since two plots
// may both call something "clip", and the size becomes a limit, so that it fits
// a phone. A variant is its class.
func (p *page) svg(src, alt, variant string) string {
	prefix := p.prefix + "f" + strconv.Itoa(p.figures+1) + "-"
	if variant == "narrow" {
		prefix += "n-"
	}
	ids := map[string]bool{}
	scripted, role := false, "img"
	for s := scan(src); ; {
		s.foreign(true)
		t, ok := s.next()
		if !ok {
			break
		}
		if t.name != "script" && t.name != "style" {
			s.markup()
		}
		if id, ok := t.attr("id"); ok {
			ids[id] = true
		}
		scripted = scripted || t.name == "script"
		if t.name == "a" || t.name == "script" {
			role = "group" // what can be used inside must not be hidden behind one name
		}
	}
	if scripted { // its script knows the ids as they are
		clear(ids)
	}
	refs := func(v string) string {
		if !strings.Contains(v, "url(") {
			return v
		}
		return urlRef.ReplaceAllStringFunc(v, func(m string) string {
			if id := urlRef.FindStringSubmatch(m)[2]; ids[id] {
				return "url(#" + prefix + id + ")"
			}
			return m
		})
	}
	first := true
	f := filter{resolve: p.outputResource}
	f.raw = func(name, css string) string {
		return idRef.ReplaceAllStringFunc(css, func(m string) string {
			if ids[m[1:]] {
				return "#" + prefix + m[1:]
			}
			return m
		})
	}
	f.rewrite = func(t *htmlToken, depth int) bool {
		changed := false
		for i, a := range t.attrs {
			v := a.Val
			switch name := a.Key; {
			case name == "id" && ids[v]:
				v = prefix + v
			case (name == "href" || name == "xlink:href") && strings.HasPrefix(v, "#") && ids[v[1:]]:
				v = "#" + prefix + v[1:]
			case name == "aria-labelledby" || name == "aria-describedby":
				words := strings.Fields(v)
				for k, w := range words {
					if ids[w] {
						words[k] = prefix + w
					}
				}
				v = strings.Join(words, " ")
			case name == "begin" || name == "end":
				for id := range ids {
					if strings.HasPrefix(v, id+".") {
						v = prefix + v
						break
					}
				}
			default:
				v = refs(v)
			}
			if v != a.Val {
				t.attrs[i].Val, changed = v, true
			}
		}
		if first && t.name == "svg" {
			first, changed = false, true
			t.set("role", role)
			t.set("aria-label", alt)
			if variant != "" {
				t.set("class", variant)
			}
			fitSVG(t)
		}
		return changed
	}
	return balance(f.run(src))
}

// fitSVG gives an SVG a view box, without which it cannot shrink.
func fitSVG(t *htmlToken) {
	if _, ok := t.attr("viewbox"); ok {
		return
	}
	w, _ := t.attr("width")
	h, _ := t.attr("height")
	mw, mh := number.FindStringSubmatch(w), number.FindStringSubmatch(h)
	if mw == nil || mh == nil {
		return
	}
	scale := func(m []string) string {
		v, _ := strconv.ParseFloat(m[1], 64)
		if m[2] == "pt" {
			v = v * 4 / 3
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	t.set("viewbox", "0 0 "+scale(mw)+" "+scale(mh))
}

// paper reports whether a picture expects a white ground: one that follows the
// page's colors by itself does not.
func paper(svg string) string {
	if strings.Contains(svg, "currentColor") || strings.Contains(svg, "currentcolor") || strings.Contains(svg, "prefers-color-scheme") || strings.Contains(svg, "lectern-") {
		return "picture"
	}
	return "picture paper"
}
