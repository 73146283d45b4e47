// Package printed writes arrays of numbers for people: as PyTorch prints them, and as HTML tables. It knows
// nothing of tensors, only functions that return each element.
package printed

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// How arrays are printed, as PyTorch does by default.
const (
	precision = 4    // digits after the point
	Threshold = 1000 // more elements than this are summarized
	edge      = 3    // elements shown at each end of a summarized axis
	Width     = 80   // characters in a line
)

// An Array is the visible part of a tensor. At and Whole return the element at an index, which has an entry for each
// axis. Integers don't go through float64, which can't hold all of them.
type Array struct {
	Shape       []int
	Float, Bool bool // else integers
	At          func(index ...int) float64
	Whole       func(index ...int) int64
}

func (a Array) len() int {
	n := 1
	for _, size := range a.Shape {
		n *= size
	}
	return n
}

// Text writes the elements in nested brackets, aligned, leaving out those in the middle if there are many; indent is
// the column of the first one.
func (a Array) Text(indent int) string {
	p := printer{Array: a, summarize: a.len() > Threshold}
	p.chooseStyle()
	if len(a.Shape) == 0 {
		return p.aligned(nil)
	}
	return p.text(nil, indent)
}

// Line writes the elements as Text does, on one line. If that is too long, it writes some from the beginning and the
// last few, in at most limit bytes, which are more than 20.
func (a Array) Line(limit int) string {
	p := printer{Array: a, summarize: a.len() > Threshold}
	p.chooseStyle()
	if len(a.Shape) == 0 {
		return p.digits(nil)
	}
	const gap, tail, both = " … ", 12, 20 // bytes
	var line strings.Builder
	if p.pieces(nil, false, func(s string) bool { line.WriteString(s); return line.Len() <= limit }) {
		return line.String()
	}
	end := ""
	p.pieces(nil, true, func(s string) bool { end = s + end; return len(end) < tail })
	return line.String()[:limit-both] + gap + end[len(end)-tail:]
}

// pieces calls visit for each piece of the line at an index, until it returns false; from the
// end of the line, if back.
func (p *printer) pieces(index []int, back bool, visit func(string) bool) bool {
	axis := len(index)
	edges, first, last := p.edges(p.Shape[axis]), "[", "]"
	if back {
		first, last = last, first
	}
	if !visit(first) {
		return false
	}
	for k := range edges {
		i := edges[k]
		if back {
			i = edges[len(edges)-1-k]
		}
		if k > 0 && !visit(", ") {
			return false
		}
		at := append(index[:axis:axis], i)
		switch {
		case i < 0:
			if !visit("...") {
				return false
			}
		case axis < len(p.Shape)-1:
			if !p.pieces(at, back, visit) {
				return false
			}
		default:
			text := p.digits(at)
			if i == 0 && len(text) < p.style.width { // it is aligned with those below
				text = " " + text
			}
			if !visit(text) {
				return false
			}
		}
	}
	return visit(last)
}

// Elements writes each element of an array with one axis by itself, without padding.
func (a Array) Elements() []string {
	p := printer{Array: a}
	p.chooseStyle()
	all := make([]string, a.Shape[0])
	for i := range all {
		all[i] = p.digits([]int{i})
	}
	return all
}

// printer writes one array.
type printer struct {
	Array
	style     numberStyle
	summarize bool
	known     [][]int // edges, by the last
}

// edges returns the positions of an axis that are shown; -1 stands for those left out.
func (p *printer) edges(size int) []int {
	i := slices.IndexFunc(p.known, func(e []int) bool { return e[len(e)-1] == size-1 })
	if size > 0 && i >= 0 {
		return p.known[i]
	}
	cut := p.summarize && size > 2*edge
	var shown []int
	for i := 0; i < size; i++ {
		if cut && i == edge {
			shown = append(shown, -1)
			i = size - edge
		}
		shown = append(shown, i)
	}
	if size > 0 {
		p.known = append(p.known, shown)
	}
	return shown
}

// Shown calls visit with the index of each element that Text writes. The slice is valid until visit returns.
func (a Array) Shown(visit func(index []int)) {
	p := printer{Array: a, summarize: a.len() > Threshold}
	p.each(visit)
}

// each is Shown for any printer.
func (p *printer) each(visit func(index []int)) {
	index := make([]int, len(p.Shape))
	var along func(axis int)
	along = func(axis int) {
		if axis == len(index) {
			visit(index)
			return
		}
		for _, i := range p.edges(p.Shape[axis]) {
			if index[axis] = i; i >= 0 {
				along(axis + 1)
			}
		}
	}
	along(0)
}

// chooseStyle sets the style and returns the values to be shown.
func (p *printer) chooseStyle() (values []float64) {
	p.each(func(index []int) { values = append(values, p.At(index...)) })
	p.style = newNumberStyle(p.Float, values)
	if !p.Float {
		p.each(func(index []int) { p.style.width = max(p.style.width, len(p.digits(index))) })
	}
	return values
}

// digits writes one element without padding.
func (p *printer) digits(index []int) string {
	switch {
	case p.Float:
		return p.style.digits(p.At(index...))
	case !p.Bool:
		return strconv.FormatInt(p.Whole(index...), 10)
	case p.Whole(index...) != 0:
		return "True"
	}
	return "False"
}

// aligned writes one element in the common width.
func (p *printer) aligned(index []int) string {
	text := p.digits(index)
	return strings.Repeat(" ", max(0, p.style.width-len(text))) + text
}

func (p *printer) text(index []int, indent int) string {
	axis := len(index)
	last := axis == len(p.Shape)-1
	var parts []string
	for _, i := range p.edges(p.Shape[axis]) {
		at := append(index[:axis:axis], i)
		switch {
		case i < 0 && last:
			parts = append(parts, " ...")
		case i < 0:
			parts = append(parts, "...")
		case last:
			parts = append(parts, p.aligned(at))
		default:
			parts = append(parts, p.text(at, indent+1))
		}
	}
	margin := strings.Repeat(" ", indent+1)
	if !last {
		gap := "," + strings.Repeat("\n", len(p.Shape)-axis-1)
		return "[" + strings.Join(parts, gap+margin) + "]"
	}
	perLine := max(1, (Width-indent)/(p.style.width+2))
	var lines []string
	for len(parts) > perLine {
		lines = append(lines, strings.Join(parts[:perLine], ", "))
		parts = parts[perLine:]
	}
	lines = append(lines, strings.Join(parts, ", "))
	return "[" + strings.Join(lines, ",\n"+margin) + "]"
}

// numberStyle is how the numbers of one tensor are written, so that they align.
type numberStyle struct {
	scientific bool
	whole      bool // all values are integers: "2." instead of "2.0000"
	width      int
}

// newNumberStyle chooses a style for the values to show: scientific if they span more
// than three decades or lie outside [1e-4, 1e8].
func newNumberStyle(float bool, values []float64) numberStyle {
	s := numberStyle{whole: true, width: 1}
	if !float {
		return s
	}
	smallest, largest := math.Inf(1), 0.
	for _, v := range values {
		if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		smallest, largest = min(smallest, math.Abs(v)), max(largest, math.Abs(v))
		s.whole = s.whole && v == math.Trunc(v)
	}
	if largest > 0 {
		s.scientific = largest/smallest > 1000 || largest > 1e8 || !s.whole && smallest < 1e-4
		var ends [2][2]float64 // of positive and negative numbers, the closest to zero and the farthest: no other one is longer
		for _, v := range values {
			if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			e := &ends[0]
			if v < 0 {
				e = &ends[1]
			}
			if e[0] == 0 || math.Abs(v) < math.Abs(e[0]) {
				e[0] = v
			}
			if math.Abs(v) > math.Abs(e[1]) {
				e[1] = v
			}
		}
		for _, v := range []float64{ends[0][0], ends[0][1], ends[1][0], ends[1][1]} {
			if v != 0 {
				s.width = max(s.width, len(s.digits(v)))
			}
		}
	}
	return s
}

// digits writes one floating-point number without padding.
func (s numberStyle) digits(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'f', 0, 64), "+"))
	case s.scientific:
		return strconv.FormatFloat(v, 'e', precision, 64)
	case s.whole:
		return strconv.FormatFloat(v, 'f', 0, 64) + "."
	}
	return strconv.FormatFloat(v, 'f', precision, 64)
}

// Short writes a number with six digits, without trailing zeros, and with an
// exponent where it is far from 1: 65504, 7.8125e-03, 3.40282e+38.
func Short(x float64) string {
	if m := math.Abs(x); m == 0 || m >= 0.01 && m < 1e6 || x-x != 0 {
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', 5, 64), "e")
	return strings.TrimRight(strings.TrimRight(mantissa, "0"), ".") + "e" + exponent
}
