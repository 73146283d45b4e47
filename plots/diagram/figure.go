// Package diagram draws pictures of values as SVG: a tensor's storage with its
// strides, the graph behind a gradient. It needs nothing but package tensor, so
// a notebook cell that draws a diagram does not pay for linking a plotting
// library.
//
// Lines and text take the colour of the page around them, so that a figure is
// as readable on a dark page as on a light one; fills are translucent colours
// of Okabe and Ito's palette, which people with colour blindness can tell apart.
package diagram

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// A Figure is a drawing with a title, which is also its text for those who
// can't see it.
type Figure struct {
	title         string
	width, height float64 // in pixels; grows with what is drawn
	body          strings.Builder
}

// The palette. A fill of translucent ink stays legible under text of either
// colour.
const (
	blue   = "#0072b2"
	orange = "#e69f00"
	green  = "#009e73"
	red    = "#d55e00"
	purple = "#cc79a7"
	plain  = "none"
)

// String returns the title.
func (f *Figure) String() string { return f.title }

// SVG returns the figure as a file of its own.
func (f *Figure) SVG() string {
	return f.element(` xmlns="http://www.w3.org/2000/svg" color="#222" style="background:#fff"`)
}

// HTML returns the figure for a page whose text colour it takes on. It shrinks
// with the page.
func (f *Figure) HTML() string {
	return f.element(` style="max-width:100%;height:auto"`)
}

func (f *Figure) element(attributes string) string {
	w, h := number(f.width+8), number(f.height+8)
	return `<svg role="img" width="` + w + `" height="` + h + `" viewBox="-4 -4 ` + w + ` ` + h + `" font-family="system-ui, sans-serif" font-size="13"` +
		attributes + `><title>` + html.EscapeString(f.title) + `</title>` + f.body.String() + `</svg>`
}

// include makes the figure large enough for a point.
func (f *Figure) include(x, y float64) {
	f.width, f.height = max(f.width, x), max(f.height, y)
}

// box draws a rectangle.
func (f *Figure) box(x, y, w, h float64, fill string) {
	f.include(x+w, y+h)
	fmt.Fprintf(&f.body, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s" fill-opacity=".3" stroke="currentColor" stroke-opacity=".6"/>`,
		number(x), number(y), number(w), number(h), fill)
}

// label writes text; anchor is "start", "middle" or "end".
func (f *Figure) label(x, y float64, anchor, text string, attributes ...string) {
	width := textWidth(text)
	switch anchor {
	case "middle":
		f.include(x+width/2, y)
	case "end":
		f.include(x, y)
	default:
		f.include(x+width, y)
	}
	fmt.Fprintf(&f.body, `<text x="%s" y="%s" text-anchor="%s" fill="currentColor"%s>%s</text>`,
		number(x), number(y), anchor, attribute(attributes), html.EscapeString(text))
}

// faint and bold are attributes of a label.
const (
	faint = `opacity=".65" font-size="11"`
	bold  = `font-weight="600"`
	mono  = `font-family="ui-monospace, monospace"`
)

func attribute(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return " " + strings.Join(all, " ")
}

// arc draws an arrow that rises from one point of a line to another.
func (f *Figure) arc(x1, x2, y, rise float64, colour string) {
	f.include(max(x1, x2), y)
	fmt.Fprintf(&f.body, `<path d="M%s %s C%s %s %s %s %s %s" fill="none" stroke="%s" stroke-width="2"/>`,
		number(x1), number(y), number(x1), number(y-rise), number(x2), number(y-rise), number(x2), number(y-3), colour)
	f.head(x2, y, math.Pi/2, colour)
}

// arrow draws a straight arrow.
func (f *Figure) arrow(x1, y1, x2, y2 float64, colour string) {
	f.include(max(x1, x2), max(y1, y2))
	angle := math.Atan2(y2-y1, x2-x1)
	fmt.Fprintf(&f.body, `<path d="M%s %s L%s %s" fill="none" stroke="%s" stroke-width="1.5"/>`,
		number(x1), number(y1), number(x2-4*math.Cos(angle)), number(y2-4*math.Sin(angle)), colour)
	f.head(x2, y2, angle, colour)
}

// head draws the tip of an arrow that comes from the direction of angle.
func (f *Figure) head(x, y, angle float64, colour string) {
	const length, spread = 8, 0.45
	ax, ay := x-length*math.Cos(angle-spread), y-length*math.Sin(angle-spread)
	bx, by := x-length*math.Cos(angle+spread), y-length*math.Sin(angle+spread)
	fmt.Fprintf(&f.body, `<path d="M%s %s L%s %s L%s %s Z" fill="%s"/>`,
		number(x), number(y), number(ax), number(ay), number(bx), number(by), colour)
}

// number writes a coordinate with at most one decimal, so that the same figure
// is the same file everywhere.
func number(x float64) string {
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
}

// textWidth estimates the width of 13-pixel text.
func textWidth(s string) float64 { return 6.8 * float64(len([]rune(s))) }
