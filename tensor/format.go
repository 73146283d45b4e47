package tensor

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// How tensors are printed, as PyTorch does by default.
const (
	printPrecision = 4    // digits after the point
	printThreshold = 1000 // more elements than this are summarised
	printEdge      = 3    // elements shown at each end of a summarised axis
	printWidth     = 80   // characters in a line
)

// String returns the values in PyTorch's layout, aligned and summarised, with
// the dtype where it isn't the usual one:
//
//	tensor([[1., 2., 3.],
//	        [4., 5., 6.]])
func (t *Tensor) String() string {
	if t == nil {
		return "<nil>"
	}
	if t.storage == nil {
		return "<zero Tensor>"
	}
	const prefix = "tensor("
	text, notes := "[]", t.notes()
	switch {
	case t.Len() == 0:
	case t.storage.freed: // who looks for a mistake must be able to print what is left
		text, notes = "freed", append([]string{"size=" + sizeText(t.layout.Shape)}, notes...)
	default:
		text = t.valueText(len(prefix))
	}
	out := prefix + text
	lineLen := len(text) - strings.LastIndexByte(text, '\n') + 1
	for _, note := range notes {
		if lineLen+len(note)+2 > printWidth {
			out += ",\n" + strings.Repeat(" ", len(prefix)) + note
			lineLen = len(prefix) + len(note)
		} else {
			out += ", " + note
			lineLen += len(note) + 2
		}
	}
	return out + ")"
}

// Format prints %v and %s as String does. %+v adds shape, strides, offset and
// version of the storage.
func (t *Tensor) Format(f fmt.State, verb rune) {
	io.WriteString(f, t.String())
	if verb == 'v' && f.Flag('+') && t != nil && t.storage != nil {
		fmt.Fprintf(f, "\n%s", t.details())
	}
}

// details describes everything but the values.
func (t *Tensor) details() string {
	on := ""
	if t.backend() != nil {
		on = " on " + t.Device().String()
	}
	return fmt.Sprintf("%s%s, shape %v, strides %v, offset %d, storage of %d bytes, version %d",
		t.dtype, on, t.layout.Shape, t.layout.Strides, t.layout.Offset, t.storage.size, t.Version())
}

// sizeText writes a shape as Python does.
func sizeText(shape []int) string { return strings.ReplaceAll(fmt.Sprint(shape), " ", ", ") }

// notes returns what is said after the values.
func (t *Tensor) notes() []string {
	var notes []string
	if t.Len() == 0 && t.Dim() != 1 {
		notes = append(notes, "size="+sizeText(t.layout.Shape))
	}
	if t.backend() != nil {
		notes = append(notes, "device='"+t.Device().String()+"'")
	}
	usual := t.dtype == Float32 || t.Len() > 0 && (t.dtype == Int64 || t.dtype == Bool)
	if !usual {
		notes = append(notes, "dtype="+t.dtype.String())
	}
	switch {
	case !t.RequiresGrad():
	case t.IsLeaf():
		notes = append(notes, "requires_grad=True")
	default:
		notes = append(notes, "grad_fn=<"+t.graph().Function().Name()+">")
	}
	return notes
}

// valueText writes the elements in nested brackets; indent is the column of
// the first one.
func (t *Tensor) valueText(indent int) string {
	p := printer{t: t.shownHere(), summarise: t.Len() > printThreshold}
	p.chooseStyle()
	if t.Dim() == 0 {
		return p.aligned(nil)
	}
	return p.text(nil, indent)
}

// shownHere returns t outside the graph, and a small tensor of another device in
// one copy; of a large one only the elements that are shown will be fetched.
func (t *Tensor) shownHere() *Tensor {
	if t.Len() > printThreshold {
		return t.Detach()
	}
	return t.Detach().onHost()
}

// printer writes one tensor.
type printer struct {
	t         *Tensor
	style     numberStyle
	summarise bool
}

// edges returns the positions shown of an axis; -1 stands for those left out.
func (p *printer) edges(size int) []int {
	cut := p.summarise && size > 2*printEdge
	var shown []int
	for i := 0; i < size; i++ {
		if cut && i == printEdge {
			shown = append(shown, -1)
			i = size - printEdge
		}
		shown = append(shown, i)
	}
	return shown
}

// shown collects the indices of the elements that will be printed.
func (p *printer) shown(index []int, all [][]int) [][]int {
	axis := len(index)
	if axis == p.t.Dim() {
		return append(all, index)
	}
	for _, i := range p.edges(p.t.layout.Shape[axis]) {
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
		values = append(values, p.t.At(index...))
	}
	p.style = newNumberStyle(p.t.dtype, values)
	if !p.t.dtype.IsFloat() {
		for _, index := range all {
			p.style.width = max(p.style.width, len(p.digits(index)))
		}
	}
	return values
}

// digits writes one element without padding. Whole numbers don't go by way of
// float64, which has not all of them.
func (p *printer) digits(index []int) string {
	switch {
	case p.t.dtype.IsFloat():
		return p.style.digits(p.t.At(index...))
	case p.t.dtype != Bool:
		return strconv.FormatInt(p.t.AtInt(index...), 10)
	case p.t.AtInt(index...) != 0:
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
	last := axis == p.t.Dim()-1
	var parts []string
	for _, i := range p.edges(p.t.layout.Shape[axis]) {
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
		gap := "," + strings.Repeat("\n", p.t.Dim()-axis-1)
		return "[" + strings.Join(parts, gap+margin) + "]"
	}
	perLine := max(1, (printWidth-indent)/(p.style.width+2))
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
func newNumberStyle(dtype Dtype, values []float64) numberStyle {
	s := numberStyle{whole: true, width: 1}
	if !dtype.IsFloat() {
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
		return strconv.FormatFloat(v, 'e', printPrecision, 64)
	case s.whole:
		return strconv.FormatFloat(v, 'f', 0, 64) + "."
	}
	return strconv.FormatFloat(v, 'f', printPrecision, 64)
}
