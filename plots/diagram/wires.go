package diagram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/internal/humanize"
)

// Einops draws what a pattern does to the axes of its tensors: a column of boxes for
// the operands and for the result of each step, a box for each axis, and a colored
// wire for each name, which splits from a group, changes its place, or ends where its
// axis is reduced. Products of an einsum are drawn as one step.
func Einops(e *einops.Explanation) *Figure {
	return fitted(func(phone bool) *Figure { return drawEinops(e, phone) })
}

func drawEinops(e *einops.Explanation, phone bool) *Figure {
	w := &wiring{Figure: &Figure{}, colour: map[string]string{}, sums: e.Op == "einsum", phone: phone}
	for i, s := range e.Sizes {
		w.colour[s.Name] = wireColours[i%len(wireColours)]
	}
	var columns []axisColumn
	if e.Op == "einsum" {
		var all axisColumn
		for i, axes := range e.InputAxes {
			all = append(all, axisGroup{fmt.Sprintf("x%d", i), "", axes, e.Inputs[i]})
		}
		note := "new memory"
		if !e.Copies {
			note = "a view"
		}
		if e.FLOPs > 0 {
			note += fmt.Sprintf(", %s FLOPs", humanize.Thousands(int(e.FLOPs)))
		}
		columns = append(columns, all, axisColumn{{"result", note, e.Axes, e.Shape}})
	} else {
		columns = append(columns, axisColumn{{"x", "", e.InputAxes[0], e.Inputs[0]}})
		for _, s := range e.Steps {
			note := "a view"
			if s.Copies {
				note = "new memory"
			}
			columns = append(columns, axisColumn{{s.Op, note, s.Axes, s.Shape}})
		}
	}
	w.draw(e.Pattern, columns)
	w.title = fmt.Sprintf("%s %s: %v become %v", e.Op, e.Pattern, e.Inputs, e.Shape)
	if len(e.Inputs) == 1 {
		w.title = fmt.Sprintf("%s %s: %v becomes %v", e.Op, e.Pattern, e.Inputs[0], e.Shape)
	}
	var ops []string
	for _, s := range e.Steps {
		text := s.Op
		if len(s.Summed) > 0 {
			text += " over " + strings.Join(s.Summed, " ")
		}
		ops = append(ops, text)
	}
	if len(ops) > 0 {
		w.title += " by " + strings.Join(ops, ", ")
	}
	return w.Figure
}

// wireColours can be told apart by color-blind readers, and keep a contrast of 3 to 1
// on white and on black.
var wireColours = []string{lineBlue, "#d55e00", "#009e73", "#c06590", "#b07d00", "#808080"}

// An axisGroup holds the axes of one tensor, and a column the tensors of one moment.
type (
	axisGroup struct {
		name, note string
		axes       []string
		shape      []int
	}
	axisColumn []axisGroup
)

// axisBox is an axis as drawn.
type axisBox struct {
	x, y, w float64
	names   []string // one, or those of a group
}

type wiring struct {
	*Figure
	colour map[string]string
	sums   bool // axes that end are summed
	phone  bool // the figure is drawn for a phone
}

const (
	axisH   = 30.
	axisGap = 12.
)

func (w *wiring) draw(pattern string, columns []axisColumn) {
	const gapGroup = 34.
	top, gapX, margin := 56., 120., 22.
	if w.phone { // the gaps share what the boxes leave
		top = 40 + w.paragraph(0, 12, phoneWidth*0.88, 17, pattern, mono, bold) - 17
		margin = 10
	} else {
		w.label(0, 12, "start", pattern, mono, bold)
	}
	heights, tallest := make([]float64, len(columns)), 0.
	for i, c := range columns {
		for _, g := range c {
			heights[i] += max(float64(len(g.axes)), 1)*(axisH+axisGap) + gapGroup
		}
		tallest = max(tallest, heights[i])
	}
	widths, all := make([]float64, len(columns)), 0.
	for i, c := range columns {
		widths[i] = 58
		for _, g := range c {
			widths[i] = max(widths[i], textWidth(g.name)+8, textWidth(g.note)*0.85+4)
			for k, a := range g.axes {
				widths[i] = max(widths[i], textWidth(axisText(a, g.shape[k]))+margin)
			}
		}
		all += widths[i]
	}
	if w.phone && len(columns) > 1 {
		gapX = min(gapX, max(26, (phoneWidth-all)/float64(len(columns)-1)))
	}
	x := 0.
	var before []axisBox
	for i, c := range columns {
		width := widths[i]
		y := top + (tallest-heights[i])/2
		var boxes []axisBox
		for _, g := range c {
			w.label(x+width/2, y-8, "middle", g.name, bold)
			for k, a := range g.axes {
				b := axisBox{x, y, width, atoms(a)}
				w.axis(b, axisText(a, g.shape[k]))
				boxes = append(boxes, b)
				y += axisH + axisGap
			}
			if len(g.axes) == 0 {
				w.label(x+width/2, y+axisH/2+4, "middle", "one number")
				y += axisH + axisGap
			}
			if g.note != "" {
				w.label(x+width/2, y+3, "middle", g.note, faint)
			}
			y += gapGroup
		}
		if i > 0 {
			w.connect(before, boxes, x-gapX/2)
		}
		before, x = boxes, x+width+gapX
	}
}

// axis draws the box of one axis, in the color of its name; a group has a
// stripe for each.
func (w *wiring) axis(b axisBox, text string) {
	part := b.w / float64(max(len(b.names), 1))
	for i, name := range b.names {
		fmt.Fprintf(&w.body, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s" fill-opacity=".25"/>`,
			number(b.x+float64(i)*part), number(b.y), number(part), number(axisH), w.of(name))
	}
	w.box(b.x, b.y, b.w, axisH, plain)
	w.label(b.x+b.w/2, b.y+axisH/2+4, "middle", text)
}

// connect wires the names that both columns have. Wires that end here meet in a
// circle, and those that begin are marked as new.
func (w *wiring) connect(from, to []axisBox, middle float64) {
	var ends []axisBox // of single names
	for _, b := range from {
		for i, name := range b.names {
			y1 := b.y + b.port(i)
			found := false
			for _, t := range to {
				if k := slices.Index(t.names, name); k >= 0 && !isNumeral(name) {
					w.wire(b.x+b.w, y1, t.x, t.y+t.port(k), w.of(name))
					found = true
				}
			}
			if !found && !isNumeral(name) {
				ends = append(ends, axisBox{b.x + b.w, y1, 0, []string{name}})
			}
		}
	}
	if len(ends) > 0 {
		mean := 0.
		for _, e := range ends {
			mean += e.y / float64(len(ends))
		}
		for _, e := range ends {
			w.wire(e.x, e.y, middle-11, mean, w.of(e.names[0]))
		}
		fmt.Fprintf(&w.body, `<circle cx="%s" cy="%s" r="11" fill="none" stroke="currentColor" stroke-opacity=".6"/>`, number(middle), number(mean))
		if w.sums {
			w.label(middle, mean+5, "middle", "Σ")
		} else { // a maximum, a mean, ...: the pattern does not say
			w.label(middle, mean+26, "middle", "reduced", faint)
		}
		w.include(middle, mean+12)
	}
	for _, t := range to {
		for k, name := range t.names {
			known := slices.ContainsFunc(from, func(b axisBox) bool { return slices.Contains(b.names, name) })
			if !known && !isNumeral(name) {
				y := t.y + t.port(k)
				w.line(fmt.Sprintf(`stroke="%s" stroke-width="2" stroke-dasharray="3 3"`, w.of(name)), t.x-26, y, t.x, y)
				w.label(t.x-30, y+4, "end", "new", faint)
			}
		}
	}
}

// port is how far below the top of the box the wire of its i-th name arrives.
func (b axisBox) port(i int) float64 {
	return axisH * (float64(i) + 1) / float64(len(b.names)+1)
}

func (w *wiring) of(name string) string {
	if c, ok := w.colour[name]; ok {
		return c
	}
	return "#808080"
}

// atoms returns the names in an axis: two in "(h d)".
func atoms(axis string) []string { return strings.Fields(strings.Trim(axis, "()")) }

// axisText is an axis with its size, given only once.
func axisText(axis string, size int) string {
	if isNumeral(axis) {
		return axis
	}
	return fmt.Sprintf("%s %d", axis, size)
}

func isNumeral(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }
