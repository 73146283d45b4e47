package render

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// set makes a set of the words of a string.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

var (
	// What raw HTML in Markdown may use.
	markdownElements = set(`a abbr b bdi bdo blockquote br caption center cite code col colgroup dd del details dfn div dl dt em figcaption figure
		h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary sup table tbody td tfoot th thead
		time tr tt u ul var wbr svg g path rect circle ellipse line polyline polygon text tspan defs marker title desc lineargradient radialgradient stop clippath`)

	// What would change the page around an output, or load something for it.
	pageElements = set("html head body base meta link frameset frame plaintext noframes")

	voidElements = set("area base br col embed frame hr img input link meta param source track wbr")

	// Elements whose end tag may be left out; browsers close them by themselves.
	optionalEnd = set("p li dt dd tr td th thead tbody tfoot colgroup caption option optgroup rp rt")

	rawElements = set("script style textarea title xmp iframe noembed noscript")

	urlAttributes = set("href xlink:href src action formaction data poster background cite longdesc values to from by")
	loadingURLs   = set("src srcset poster data background")
)

// filter rewrites HTML of a cell.
type filter struct {
	markdown bool                                  // from Markdown, else from an output
	strict   bool                                  // from a stranger's notebook: what would pass in Markdown passes, without classes and with its own ids
	ours     bool                                  // strict HTML keeps the classes that begin with lectern-
	ids      string                                // put before the ids of strict HTML, so that they differ from the page's
	dropped  func(element string)                  // is told what a strict output lost; may be nil
	resolve  func(tag, attr, url string) string    // maps a link or a resource; may be nil
	check    func(t *htmlToken)                    // sees every start tag that is kept; may be nil
	raw      func(name, content string) string     // rewrites the content of <style>; may be nil
	rewrite  func(t *htmlToken, depthSVG int) bool // may change a start tag's attributes; reports whether it did
}

// run returns src with dangerous links cut and, in Markdown, all but harmless
// elements shown as text; from a stranger's outputs they are left out. It does
// not balance tags.
func (f *filter) run(src string) string {
	var b strings.Builder
	s := scan(src)
	svg := 0
	raw, drop := "", false // the element whose raw content comes next, and whether that is left out
	for {
		s.foreign(svg > 0)
		inside := s.raw
		t, ok := s.next()
		if inside && ok && t.kind == html.TextToken {
			if !drop {
				b.WriteString(f.content(raw, t.raw))
			}
			continue
		}
		if !ok {
			if raw != "" && !drop { // it would swallow the rest of the page
				b.WriteString("</" + raw + ">")
			}
			return b.String()
		}
		raw = ""
		switch t.kind {
		case html.TextToken:
			b.WriteString(t.raw)
		case html.EndTagToken:
			if t.name == "svg" {
				svg = max(0, svg-1)
			}
			switch {
			case f.markdown && !markdownElements[t.name]:
				b.WriteString(html.EscapeString(t.raw))
			case f.strict && !markdownElements[t.name]:
			case !pageElements[t.name]:
				b.WriteString("</" + t.originalName() + ">")
			}
		case html.StartTagToken:
			if t.name == "svg" && !t.void {
				svg++
			}
			if svg > 0 && (t.void || t.name != "script" && t.name != "style") {
				s.markup()
			}
			switch {
			case f.markdown && !markdownElements[t.name]:
				s.markup()
				b.WriteString(html.EscapeString(t.raw))
				continue
			case f.strict && !markdownElements[t.name]:
				drop = true
				if f.dropped != nil {
					f.dropped(t.name)
				}
			case pageElements[t.name]:
				continue
			default:
				drop = false
				f.start(&b, &t, svg)
			}
			if s.raw {
				raw = t.originalName()
			}
		}
	}
}

// start writes a start tag.
func (f *filter) start(b *strings.Builder, t *htmlToken, svg int) {
	changed := f.attributes(t)
	if f.check != nil {
		f.check(t)
	}
	if f.rewrite != nil && f.rewrite(t, svg) {
		changed = true
	}
	if _, ok := t.attr("src"); !ok && t.name == "img" && changed { // it lost its picture; its words stay
		if alt, _ := t.attr("alt"); alt != "" {
			b.WriteString("<em>" + html.EscapeString(alt) + "</em>")
		}
		return
	}
	if changed || f.markdown || f.strict {
		b.WriteString(t.source())
	} else {
		b.WriteString(t.raw)
	}
}

// content rewrites the content of an element of raw text.
func (f *filter) content(name, text string) string {
	if f.raw != nil && strings.EqualFold(name, "style") {
		text = f.raw(name, text)
	}
	if f.markdown || f.strict { // of a title: the same text, whether it is read as HTML or as SVG, where it could hold elements
		text = strings.ReplaceAll(text, "<", "&lt;")
	}
	return text
}

// attributes cuts what must not pass and reports whether anything changed.
func (f *filter) attributes(t *htmlToken) bool {
	changed := false
	kept := t.attrs[:0]
	for _, a := range t.attrs {
		name := a.Key
		if (f.markdown || f.strict) && !f.harmless(name, &a.Val) {
			changed = true
			continue
		}
		if urlAttributes[name] && dangerous(a.Val) {
			a.Val, changed = "#", true
		} else if f.strict && strings.HasPrefix(a.Val, "#") && name == "href" && t.name != "a" {
			a.Val = "#" + f.ids + a.Val[1:]
		} else if f.resolve != nil && (name == "href" || name == "xlink:href" || loadingURLs[name]) && a.Val != "" {
			if v := f.resolve(t.name, name, a.Val); v != a.Val {
				a.Val, changed = v, true
			}
			if a.Val == "" && loadingURLs[name] { // a browser would ask for the page itself
				continue
			}
		}
		kept = append(kept, a)
	}
	t.attrs = kept
	return changed
}

// harmless reports whether an attribute may pass whose author the page doesn't trust with scripts. It may
// change the value.
func (f *filter) harmless(name string, value *string) bool {
	if strings.HasPrefix(name, "aria-") && !strings.ContainsAny(name, "\"'<`=") {
		if f.strict && (name == "aria-labelledby" || name == "aria-describedby") {
			*value = f.prefixed(*value)
		}
		return true
	}
	switch {
	case name == "xlink:href":
		return true
	case !htmlAttributes[name] && svgSpelling[name] == "":
		return false
	case name == "style" && f.strict:
		*value = f.ownRefs(plainStyle(*value))
		return *value != ""
	case name == "style":
		return !strings.ContainsAny(*value, `(\@`)
	case name == "id" && f.strict, name == "headers" && f.strict:
		*value = f.prefixed(*value)
		return true
	case name == "id":
		return !strings.HasPrefix(*value, "lectern-")
	case f.strict && f.ours && name == "class":
		*value = strings.Join(slices.DeleteFunc(strings.Fields(*value), func(c string) bool { return !strings.HasPrefix(c, "lectern-") }), " ")
		return *value != ""
	case f.strict && (name == "class" || name == "name" || name == "tabindex" || name == "hidden"):
		return false
	case !htmlAttributes[name]: // of SVG, where a color may be the address of one
		if !loadsNothing(*value) {
			return false
		}
		if f.strict {
			*value = f.ownRefs(*value)
		}
	}
	return true
}

// ownRefs makes url() refer to the output's own ids.
func (f *filter) ownRefs(value string) string {
	return urlRef.ReplaceAllString(value, "url(#"+f.ids+"$2)")
}

// prefixed makes ids unique to the output.
func (f *filter) prefixed(ids string) string {
	words := strings.Fields(ids)
	for i := range words {
		words[i] = f.ids + words[i]
	}
	return strings.Join(words, " ")
}

// dangerous reports whether a browser would run a URL as a script, wherever in a
// list of values it stands. Browsers ignore control characters and white space
// in schemes.
func dangerous(url string) bool {
	for _, u := range strings.Split(url, ";") {
		u = strings.Map(func(r rune) rune {
			if r <= ' ' || r == 0x7f || r == 0xa0 || r == 0x200b || r == 0xfeff {
				return -1
			}
			return r
		}, strings.ToLower(u))
		for _, scheme := range []string{"javascript:", "vbscript:", "livescript:", "data:text/html", "data:application/xhtml", "data:text/xml", "data:application/xml"} {
			if strings.HasPrefix(u, scheme) {
				return true
			}
		}
	}
	return false
}

// external reports whether loading a URL would ask another host.
func external(url string) bool {
	u := strings.ToLower(strings.TrimSpace(url))
	return strings.HasPrefix(u, "http:") || strings.HasPrefix(u, "https:") || strings.HasPrefix(u, "//") || strings.HasPrefix(u, "ftp:")
}

// balance drops end tags without a beginning and closes elements that are left open, so that a fragment stays inside
// the element that it is put into. It doesn't parse and serialize again as a browser would: valid HTML stays as it was
// written, byte for byte.
func balance(src string) string {
	var b strings.Builder
	var open []string
	count := map[string]int{} // of each element among them
	shut := func(from int, ends bool) {
		for k := len(open) - 1; k >= from; k-- {
			if ends || k > from {
				b.WriteString("</" + open[k] + ">")
			}
			count[open[k]]--
		}
		open = open[:from]
	}
	b.Grow(len(src))
	s := scan(src)
	s.names = true
	for {
		foreign := count["svg"]+count["math"] > 0
		s.foreign(foreign)
		t, ok := s.next()
		if !ok {
			break
		}
		switch {
		case t.kind == html.StartTagToken:
			foreign = foreign || t.name == "svg" || t.name == "math"
			if foreign && (t.void || t.name != "script" && t.name != "style") {
				s.markup()
			}
			if !voidElements[t.name] && !optionalEnd[t.name] && !(foreign && t.void) {
				open = append(open, t.name)
				count[t.name]++
			}
		case t.kind == html.EndTagToken && !optionalEnd[t.name]:
			if count[t.name] == 0 {
				continue
			}
			i := len(open) - 1
			for open[i] != t.name {
				i--
			}
			shut(i, false)
		}
		b.WriteString(t.raw)
	}
	shut(0, true)
	return b.String()
}
