package diagram

import (
	"fmt"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// Modules draws how a model is put together, from left to right: the model, its parts, the parts of those,
// and at the end the tensors with their shapes. It uses only the names of the tensors, which are paths
// with dots such as "layers.0.weight". Below each part is the number of elements in all its tensors; a
// tensor with two names counts under each.
//
//	diagram.Modules("Cruncher", nn.StateDict(model))
func Modules(name string, tensors []tensor.NamedTensor) *Figure {
	return fitted(func(phone bool) *Figure { return drawModules(name, tensors, phone) })
}

func drawModules(name string, tensors []tensor.NamedTensor, phone bool) *Figure {
	f := &Figure{}
	root := &module{name: name}
	var said []string
	for _, t := range tensors {
		root.add(strings.Split(t.Name, "."), t.Tensor)
		said = append(said, fmt.Sprint(t.Name, " ", t.Tensor.Shape()))
	}
	var widths []float64
	root.measure(0, &widths, phone)
	root.draw(f, 0, widths, new(float64), 0, phone)
	f.title = fmt.Sprintf("Modules of %s, %s elements", name, humanize.Thousands(root.elements))
	if len(said) > 0 {
		f.title += ": " + strings.Join(said, ", ")
	}
	return f
}

// A module is a node of the tree: a part of a model, or a tensor.
type module struct {
	name     string
	shape    []int // of a tensor
	isTensor bool
	elements int
	parts    []*module
}

// add puts a tensor under the path of its name.
func (m *module) add(path []string, t *tensor.Tensor) {
	m.elements += t.Len()
	if len(path) == 0 {
		m.isTensor, m.shape = true, t.Shape()
		return
	}
	for _, p := range m.parts {
		if p.name == path[0] {
			p.add(path[1:], t)
			return
		}
	}
	part := &module{name: path[0]}
	m.parts = append(m.parts, part)
	part.add(path[1:], t)
}

// small is the text below a name, on a phone in two lines.
func (m *module) small(phone bool) []string {
	text := humanize.Thousands(m.elements)
	switch {
	case m.isTensor && phone:
		return []string{fmt.Sprint(m.shape), "= " + text}
	case m.isTensor:
		return []string{fmt.Sprint(m.shape, " = ", text)}
	}
	return []string{text}
}

// measure finds the width of each column.
func (m *module) measure(depth int, widths *[]float64, phone bool) {
	least, margin := 56., 20.
	if phone {
		least, margin = 34, 12
	}
	if depth == len(*widths) {
		*widths = append(*widths, least)
	}
	(*widths)[depth] = max((*widths)[depth], textWidth(m.name)+margin)
	for _, text := range m.small(phone) {
		(*widths)[depth] = max((*widths)[depth], 0.85*textWidth(text)+8)
	}
	for _, p := range m.parts {
		p.measure(depth+1, widths, phone)
	}
}

// draw draws a module whose column begins at x, and returns the height of its middle. row is
// where the next tensor goes.
func (m *module) draw(f *Figure, depth int, widths []float64, row *float64, x float64, phone bool) float64 {
	const h = 28.
	gapX, rowH := 40., 56.
	if phone {
		gapX, rowH = 22, 72
	}
	w := widths[depth]
	var middles []float64
	for _, p := range m.parts {
		middles = append(middles, p.draw(f, depth+1, widths, row, x+w+gapX, phone))
	}
	y := *row + h/2
	if len(middles) > 0 {
		y = (middles[0] + middles[len(middles)-1]) / 2
	} else {
		*row += rowH
	}
	for _, to := range middles {
		f.wire(x+w, y, x+w+gapX, to, "currentColor")
	}
	fill := blue
	if m.isTensor {
		fill = green
	}
	f.box(x, y-h/2, w, h, fill)
	f.label(x+w/2, y+4, "middle", m.name)
	for i, text := range m.small(phone) {
		f.label(x+w/2, y+h/2+14+14*float64(i), "middle", text, faint)
	}
	return y
}
