// Package printed writes arrays of numbers for people: as PyTorch prints them, and as tables of HTML. It knows no
// tensors, but what to ask for each element.
package printed

import (
	"math"
	"strconv"
	"strings"
)

// How arrays are printed, as PyTorch does by default.
const (
	precision = 4    // digits after the point
	Threshold = 1000 // more elements than this are summarised
	edge      = 3    // elements shown at each end of a summarised axis
	Width     = 80   // characters in a line
)

// An Array is what is seen of a tensor. At and Whole return the element at an index, which has an entry for each axis.
// Whole numbers don't go by way of float64, which has not all of them.
type Array struct {
	Shape       []int
	Float, Bool bool // else whole numbers
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

// Text writes the elements in nested brackets, aligned, those in the middle left out if they are many; indent is the
// column of the first one.
func (a Array) Text(indent int) string {
	p := printer{Array: a, summarise: a.len() > Threshold}
	p.chooseStyle()
	if len(a.Shape) == 0 {
		return p.aligned(nil)
	}
	return p.text(nil, indent)
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
	summarise bool
}

// edges returns the positions shown of an axis; -1 stands for those left out.
func (p *printer) edges(size int) []int {
	cut := p.summarise && size > 2*edge
	var shown []int
	for i := 0; i < size; i++ {
		if cut && i == edge {
			shown = append(shown, -1)
			i = size - edge
		}
		shown = append(shown, i)
	}
	return shown
}

// shown collects the indices of the elements that will be printed.
func (p *printer) shown(index []int, all [][]int) [][]int {
	axis := len(index)
	if axis == len(p.Shape) {
		return append(all, index)
	}
	for _, i := range p.edges(p.Shape[axis]) {
		if i >= 0 {
			all = p.shown(append(index[:axis:axis], i), all)
		}
	}
	return all
}

// chooseStyle sets the style and returns the values to be shown.
func (p *printer) chooseStyle() (values []float64) {
	all := p.shown(nil, nil)
	for _, index := range all {
		values = append(values, p.At(index...))
	}
	p.style = newNumberStyle(p.Float, values)
	if !p.Float {
		for _, index := range all {
			p.style.width = max(p.style.width, len(p.digits(index)))
		}
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

// aligned writes one element in the width of all.
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
	whole      bool // all values are whole: "2." instead of "2.0000"
	width      int
}

// newNumberStyle chooses a style from the values to be shown: scientific if
// they span more than three decades or lie outside [1e-4, 1e8].
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
		for _, v := range values {
			if v != 0 && !math.IsNaN(v) && !math.IsInf(v, 0) {
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
