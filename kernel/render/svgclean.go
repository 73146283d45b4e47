package render

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
)

// svgElements are those of a picture: what draws, what is drawn with, and what moves it. What runs, links or holds
// another document is not among them.
var svgElements = set(`svg g defs symbol use switch path rect circle ellipse line polyline polygon text tspan textPath title desc linearGradient radialGradient stop clipPath mask
	pattern marker image style filter feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight
	feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile
	feTurbulence animate animateTransform animateMotion mpath set view`)

const (
	svgSpace   = "http://www.w3.org/2000/svg"
	xlinkSpace = "http://www.w3.org/1999/xlink"
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"
)

// svgDepth is how deep elements may be nested: more than any drawing needs, and less than what makes a browser give up.
const svgDepth = 200

// cleanSVG parses a picture and rewrites it, with nothing in it that runs, loads or leads elsewhere. cut names what
// was left out, except for the notes that drawing programs keep for themselves; a long list ends with "and more". The
// error says why it is not an SVG.
func cleanSVG(src string) (clean string, cut []string, err error) {
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(src, "\ufeff")))
	d.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("it is written in %s; save it as UTF-8", charset)
	}
	var b, css strings.Builder
	drop := func(what string) { cut = noted(cut, what) }
	var open []string // elements as they were written
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) && b.Len() > 0 {
			return b.String(), cut, nil
		}
		if err != nil {
			return "", nil, fmt.Errorf("it is not XML: %w", err)
		}
		inStyle := len(open) > 0 && open[len(open)-1] == "style"
		switch t := t.(type) {
		case xml.StartElement:
			name, ours := t.Name.Local, t.Name.Space == svgSpace || t.Name.Space == ""
			switch {
			case len(open) == 0 && (name != "svg" || !ours || b.Len() > 0):
				return "", nil, fmt.Errorf("its element is <%s>, not <svg>", name)
			case len(open) == svgDepth:
				return "", nil, fmt.Errorf("its elements are nested more than %d deep", svgDepth)
			case ours && name == "a": // what it holds is part of the drawing
				name = "g"
			case !ours || !svgElements[name] || inStyle || animatesReference(t):
				if ours && name != "metadata" {
					drop("<" + name + ">")
				}
				if err := d.Skip(); err != nil {
					return "", nil, fmt.Errorf("it is not XML: %w", err)
				}
				continue
			}
			b.WriteString("<" + name)
			if len(open) == 0 {
				b.WriteString(` xmlns="` + svgSpace + `"`)
			}
			seen := map[string]bool{}
			for _, a := range t.Attr {
				key, ok := svgAttribute(t.Name.Local, a)
				switch {
				case key == "": // a namespace, or a drawing program's own
				case !ok:
					drop(key + `="` + shorten(a.Value) + `"`)
				case !seen[key]:
					seen[key] = true
					b.WriteString(" " + key + `="` + html.EscapeString(a.Value) + `"`)
				}
			}
			b.WriteString(">")
			open = append(open, name)
			css.Reset()
		case xml.EndElement:
			if inStyle && loadsNothing(css.String()) {
				b.WriteString(html.EscapeString(css.String()))
			} else if inStyle {
				drop("<style>")
			}
			b.WriteString("</" + open[len(open)-1] + ">")
			open = open[:len(open)-1]
		case xml.CharData:
			switch {
			case inStyle:
				css.Write(t)
			case len(open) > 0:
				b.WriteString(html.EscapeString(string(t)))
			case strings.TrimSpace(string(t)) != "":
				return "", nil, errors.New("there is text around its <svg>")
			}
		}
	}
}

// noted adds what was cut to a list for a message, once each, and no more than a message can hold.
func noted(list []string, what string) []string {
	switch {
	case slices.Contains(list, what) || len(list) > 8:
	case len(list) == 8:
		list = append(list, "and more")
	default:
		list = append(list, what)
	}
	return list
}

// svgAttribute is the name that an attribute gets, "" if it says nothing about the drawing, and whether it may pass.
func svgAttribute(element string, a xml.Attr) (name string, ok bool) {
	name = a.Name.Local
	switch a.Name.Space {
	case "":
		if name == "xmlns" || strings.HasPrefix(name, "data-") {
			return "", false
		}
	case xlinkSpace, "xlink": // the second, where the prefix is used and not declared
		if name != "href" {
			return "", false
		}
	case xmlSpace, "xml":
		return "xml:" + name, name == "space" || name == "lang"
	default:
		return "", false
	}
	switch {
	case name == "href" && element == "image":
		return name, embeddedRaster(a.Value)
	case name == "href" && element == "a":
		return "", false
	case name == "href":
		return name, strings.HasPrefix(a.Value, "#")
	case strings.HasPrefix(name, "aria-"):
		return name, true
	}
	return name, svgAttributes[name] && loadsNothing(a.Value)
}

// animatesReference reports whether an animation changes what an element refers to, which need not look like an
// address anywhere in the file.
func animatesReference(t xml.StartElement) bool {
	for _, a := range t.Attr {
		if a.Name.Local == "attributeName" && !svgAttributes[a.Value] || a.Name.Local == "attributeName" && (a.Value == "href" || a.Value == "style" || a.Value == "class") {
			return true
		}
	}
	return false
}
