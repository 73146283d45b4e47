// Package diagram draws pictures of values as SVG: the bits of a number, a
// tensor's storage with its strides, an einops pattern, the graph behind a
// gradient. It draws boxes and lines by itself, so a notebook cell that shows a
// diagram does not pay for linking a plotting library; charts are in package
// plots.
//
// Lines and text take on the color of the page around them, so that a figure is as
// readable on a dark page as on a light one; fills are translucent colors from Okabe
// and Ito's palette, which people with color blindness can tell apart.
package diagram

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lectern-go/lectern/tensor"
)

// A Figure is a drawing with a title, which is also its description for readers who
// can't see it.
type Figure struct {
	title         string
	width, height float64 // in pixels; grows with what is drawn
	body          strings.Builder
	narrow        *Figure // the same for a phone; nil if this one fits
}

// phoneWidth is how wide a figure may be to fit a phone without being scaled down, so that
// its smallest labels keep their 11 pixels there.
const phoneWidth = 334

// fitted returns a figure drawn for a page and, if that is too wide for a phone, one drawn for a phone with it.
func fitted(draw func(phone bool) *Figure) *Figure {
	f := draw(false)
	if f.width > phoneWidth {
		f.WithNarrow(draw(true))
	}
	return f
}

// The palette. A fill of translucent ink stays legible under text of either
// color.
const (
	blue   = "#0072b2"
	orange = "#e69f00"
	green  = "#009e73"
	red    = "#d55e00"
	purple = "#cc79a7"
	plain  = "none"
)

// Lines need more contrast than fills: these keep 3 to 1 on white and on black.
const lineBlue = "#3289c7"

// NewFigure returns a figure of a given size in pixels, with the SVG elements of its
// body drawn elsewhere. Lines and text of the body should be currentColor.
func NewFigure(title string, width, height float64, body string) *Figure {
	f := &Figure{title: title, width: width, height: height}
	f.body.WriteString(body)
	return f
}

// WithNarrow gives the figure a second drawing for phones, and returns the figure.
func (f *Figure) WithNarrow(narrow *Figure) *Figure {
	narrow.title, f.narrow = f.title, narrow
	return f
}

// String returns the title.
func (f *Figure) String() string { return f.title }

// SVG returns the figure as a separate file.
func (f *Figure) SVG() string {
	return f.element(` xmlns="http://www.w3.org/2000/svg" color="#222" style="background:#fff"`)
}

// HTML returns the figure for a page, whose text color it takes on. It shrinks with
// the page.
func (f *Figure) HTML() string {
	return f.element(` style="max-width:100%;height:auto"`)
}

// Narrow returns the drawing for pages as narrow as a phone's, in the same form as HTML, or
// nothing if there is only one drawing for all.
func (f *Figure) Narrow() string {
	if f.narrow == nil {
		return ""
	}
	return f.narrow.HTML()
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
	if slices.Contains(attributes, mono) {
		width = monoWidth(text)
	} else if slices.Contains(attributes, bold) {
		width *= 1.15
	}
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

// line draws a line through points, given as x and y in turn.
func (f *Figure) line(attributes string, points ...float64) {
	f.body.WriteString(`<path d="M`)
	for i := 0; i+1 < len(points); i += 2 {
		f.include(points[i], points[i+1])
		if i > 0 {
			f.body.WriteByte('L')
		}
		f.body.WriteString(number(points[i]) + " " + number(points[i+1]))
	}
	f.body.WriteString(`" fill="none" ` + attributes + `/>`)
}

// wire draws a curve that leaves one point and reaches another horizontally.
func (f *Figure) wire(x1, y1, x2, y2 float64, colour string) {
	f.include(max(x1, x2), max(y1, y2))
	middle := number((x1 + x2) / 2)
	fmt.Fprintf(&f.body, `<path d="M%s %sC%s %s %s %s %s %s" fill="none" stroke="%s" stroke-width="2"/>`,
		number(x1), number(y1), middle, number(y1), middle, number(y2), number(x2), number(y2), colour)
}

// thin is the style of lines that only guide the eye.
const thin = `stroke="currentColor" stroke-opacity=".3"`

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

// number writes a coordinate with at most one decimal, so that the same figure is the
// same file everywhere.
func number(x float64) string {
	if x = math.Round(x*10) / 10; x == 0 {
		return "0" // never -0
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// lines breaks a text into lines of at most a width, between words.
func lines(text string, width float64) []string {
	var broken []string
	line := ""
	for _, word := range strings.Fields(text) {
		if longer := line + " " + word; line != "" && textWidth(longer) > width {
			broken, line = append(broken, line), word
		} else {
			line = strings.TrimSpace(longer)
		}
	}
	return append(broken, line)
}

// paragraph writes text in lines of at most a width, from the baseline of the first line, and
// returns the baseline of the next.
func (f *Figure) paragraph(x, y, width, leading float64, text string, attributes ...string) float64 {
	for _, line := range lines(text, width) {
		f.label(x, y, "start", line, attributes...)
		y += leading
	}
	return y
}

// textWidth estimates the width of 13-pixel text.
func textWidth(s string) float64 { return 7.3 * float64(utf8.RuneCountInString(s)) }

// monoWidth estimates the width of 13-pixel monospaced text, bold included.
func monoWidth(s string) float64 { return 8.1 * float64(utf8.RuneCountInString(s)) }

// nameColumn is the room for the names at the left of rows, and a gap.
func nameColumn(dtypes []tensor.Dtype) float64 {
	width := 0.
	for _, d := range dtypes {
		width = max(width, monoWidth(d.String()))
	}
	return width + 12
}
