package render

import (
	"html"
	"slices"
	"strings"
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
	ids      string                                // put before the ids of strict HTML, so that they are none of the page's
	dropped  func(element string)                  // hears of what a strict output lost; may be nil
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
	s := scanner{src: src}
	svg := 0
	for {
		t, ok := s.next()
		if !ok {
			return b.String()
		}
		switch t.kind {
		case htmlText:
			if t.raw == "<" {
				b.WriteString("&lt;")
			} else {
				b.WriteString(t.raw)
			}
		case htmlComment: // they carry nothing for the reader
		case htmlEnd:
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
		case htmlStart:
			if t.name == "svg" && !t.selfClosing {
				svg++
			}
			switch {
			case f.markdown && !markdownElements[t.name]:
				b.WriteString(html.EscapeString(t.raw))
				continue
			case f.strict && !markdownElements[t.name]:
				if rawElements[t.name] && !t.selfClosing {
					if _, closed := s.rawText(t.name); !closed {
						s.pos = len(s.src)
					}
				}
				if f.dropped != nil {
					f.dropped(t.name)
				}
				continue
			case pageElements[t.name]:
				continue
			}
			f.start(&b, &s, &t, svg)
		}
	}
}

// start writes a start tag and, for an element of raw text, what is in it.
func (f *filter) start(b *strings.Builder, s *scanner, t *htmlToken, svg int) {
	name := t.originalName()
	t.attrs = dedupe(t.attrs)
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
		b.WriteString(t.source(name))
	} else {
		b.WriteString(t.raw)
	}
	if t.selfClosing && svg > 0 || !rawElements[t.name] || svg > 0 && t.name != "script" && t.name != "style" {
		return
	}
	content, closed := s.rawText(t.name)
	if !closed { // it would swallow the rest of the page
		content = s.src[s.pos:]
		s.pos = len(s.src)
	}
	if f.raw != nil && t.name == "style" {
		content = f.raw(t.name, content)
	}
	if f.markdown || f.strict { // of a title: the same text, whether it is read as HTML or as SVG, where it could hold elements
		content = strings.ReplaceAll(content, "<", "&lt;")
	}
	b.WriteString(content)
	if !closed {
		b.WriteString("</" + name + ">")
	}
}

// attributes cuts what must not pass and reports whether anything changed.
func (f *filter) attributes(t *htmlToken) bool {
	changed := false
	kept := t.attrs[:0]
	for _, a := range t.attrs {
		name := lower(a.name)
		if (f.markdown || f.strict) && !f.harmless(name, &a.value) {
			changed = true
			continue
		}
		if urlAttributes[name] && dangerous(a.value) {
			a.value, a.bare, changed = "#", false, true
		} else if f.strict && strings.HasPrefix(a.value, "#") && name == "href" && t.name != "a" {
			a.value = "#" + f.ids + a.value[1:]
		} else if f.resolve != nil && (name == "href" || name == "xlink:href" || loadingURLs[name]) && !a.bare {
			if v := f.resolve(t.name, name, a.value); v != a.value {
				a.value, changed = v, true
			}
			if a.value == "" && loadingURLs[name] { // a browser would ask for the page itself
				continue
			}
		}
		kept = append(kept, a)
	}
	t.attrs = kept
	return changed
}

// harmless reports whether an attribute may pass that somebody wrote whom the page doesn't trust with scripts. It may change the value.
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
	case !htmlAttributes[name] && !svgLower[name]:
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
	case !htmlAttributes[name]: // of SVG, where a colour may be the address of one
		if !loadsNothing(*value) {
			return false
		}
		if f.strict {
			*value = f.ownRefs(*value)
		}
	}
	return true
}

// ownRefs makes url() name the output's own ids.
func (f *filter) ownRefs(value string) string {
	return urlRef.ReplaceAllString(value, "url(#"+f.ids+"$2)")
}

// prefixed makes ids those of the output alone.
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

// balance drops end tags without a beginning and closes what is left open, so
// that a fragment stays inside the element that it is put into.
func balance(src string) string {
	var b strings.Builder
	var open []string
	s := scanner{src: src}
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		switch {
		case t.kind == htmlText && t.raw == "<":
			b.WriteString("&lt;")
			continue
		case t.kind == htmlStart && !voidElements[t.name] && !optionalEnd[t.name] && !(t.selfClosing && contains(open, "svg", "math") || t.selfClosing && (t.name == "svg" || t.name == "math")):
			inSVG := contains(open, "svg", "math")
			open = append(open, t.name)
			if rawElements[t.name] && (!inSVG || t.name == "script" || t.name == "style") {
				b.WriteString(t.raw)
				content, closed := s.rawText(t.name)
				if !closed {
					content = s.src[s.pos:]
					s.pos = len(s.src)
				}
				b.WriteString(content)
				continue
			}
		case t.kind == htmlEnd && !optionalEnd[t.name]:
			i := len(open) - 1
			for i >= 0 && open[i] != t.name {
				i--
			}
			if i < 0 {
				continue
			}
			for k := len(open) - 1; k > i; k-- {
				b.WriteString("</" + open[k] + ">")
			}
			open = open[:i]
		}
		b.WriteString(t.raw)
	}
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteString("</" + open[i] + ">")
	}
	return b.String()
}

func contains(list []string, names ...string) bool {
	for _, l := range list {
		for _, n := range names {
			if l == n {
				return true
			}
		}
	}
	return false
}
