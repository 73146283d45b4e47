package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/tensor/layout"
)

// cells is how many numbers lie in the memory: enough for shapes of two and three axes, and not too many for a phone.
const cells = 24

// strides lets the reader make views of a strip of memory.
type strides struct {
	shape string // as typed
	views []view // what was done, the first a View of the whole memory
	pick  []int  // the element that is looked at
	axis  int    // for the operations that take one
	err   error
	wrong bool // what is typed is no shape of the memory
}

// A view is a layout, and the call that gave it, at an offset from which the reader may have moved it.
type view struct {
	call   string
	layout layout.Layout
	given  int
}

func (v view) String() string {
	if v.layout.Offset != v.given {
		return fmt.Sprintf("%s /* moved to %d */", v.call, v.layout.Offset)
	}
	return v.call
}

func newStrides() *strides {
	x := &strides{}
	x.set("shape", "4 6")
	x.set("do", "inner")
	x.set("pick", "1 2")
	return x
}

// numbers reads integers with anything between them.
func numbers(s string) (list []int, ok bool) {
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !strings.ContainsRune("-0123456789", r) }) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}

func (x *strides) now() layout.Layout { return x.views[len(x.views)-1].layout }

// do applies a method of the layout. What it refuses is shown, and changes nothing.
func (x *strides) do(call string, l layout.Layout, err error) {
	x.err = err
	switch {
	case err != nil:
	case len(l.Shape) > 3 || l.Len() > 60:
		x.err = errors.New(phrase("that is more than can be drawn here: at most three axes and 60 elements"))
	default:
		x.views = append(x.views, view{call, l, l.Offset})
		x.pick = make([]int, len(l.Shape))
	}
}

func (x *strides) set(control, value string) {
	var l layout.Layout
	if len(x.views) > 0 {
		l = x.now()
	}
	axis := min(x.axis, max(len(l.Shape)-1, 0))
	size := 1
	if axis < len(l.Shape) {
		size = l.Shape[axis]
	}
	switch control {
	case "shape":
		x.shape = value
		shape, ok := numbers(value)
		if !ok || len(shape) == 0 {
			x.err, x.wrong = errors.New(phrase("a shape is a few integers, such as 4 6")), true
			return
		}
		before := x.views
		x.views = nil
		whole, err := layout.Contiguous(cells).View(shape...)
		x.do(call("View", shape...), whole, err)
		if x.wrong = x.err != nil; x.wrong {
			x.views = before
		}
	case "pick":
		if index, ok := numbers(value); ok {
			if _, err := l.Position(index); err == nil {
				x.pick = index
			}
		}
	case "axis":
		if i, ok := chosen(value, len(l.Shape)); ok {
			x.axis = i
		}
	case "offset":
		if at, err := strconv.Atoi(value); err == nil && l.Len() > 0 {
			last := &x.views[len(x.views)-1]
			last.layout.Offset = max(0, min(at, cells-reach(l)))
			x.err = nil
		}
	case "undo":
		if len(x.views) > 1 {
			x.views = x.views[:len(x.views)-1]
			x.pick = make([]int, len(x.now().Shape))
		}
		x.err = nil
	case "do":
		switch value {
		case "transpose":
			y, err := l.Transpose(-2, -1)
			x.do("Transpose(-2, -1)", y, err)
		case "every":
			y, err := l.Slice(axis, 0, size, 2)
			x.do(call("Slice", axis, 0, size, 2), y, err)
		case "inner":
			y, err := l.Slice(axis, 1, size-1, 1)
			x.do(call("Slice", axis, 1, size-1, 1), y, err)
		case "select":
			y, err := l.Select(axis, size/2)
			x.do(call("Select", axis, size/2), y, err)
		case "flat":
			y, err := l.View(-1)
			x.do("View(-1)", y, err)
		case "diagonal":
			y, err := l.Diagonal(0, -2, -1)
			x.do("Diagonal(0, -2, -1)", y, err)
		case "windows":
			y, err := l.Unfold(axis, 3, 1)
			x.do(call("Unfold", axis, 3, 1), y, err)
		}
	}
}

// call writes a call to a method.
func call(method string, args ...int) string {
	return method + "(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(args), " ", ", "), "[]") + ")"
}

// reach is how many places lie between the first and the last element of a layout, both counted.
func reach(l layout.Layout) int {
	n := 1
	for i, size := range l.Shape {
		n += (size - 1) * l.Strides[i]
	}
	return n
}

// indices lists the elements of a layout in the order in which they are read.
func indices(shape []int) [][]int {
	list := [][]int{{}}
	for _, size := range shape {
		var longer [][]int
		for _, index := range list {
			for i := range size {
				longer = append(longer, append(slices.Clone(index), i))
			}
		}
		list = longer
	}
	return list
}

func (x *strides) draw(p *page) {
	l := x.now()
	p.add(`<div class="x-row">`)
	p.field("Shape of x", "shape", x.shape, 8, x.wrong)
	var axes []string
	for i, size := range l.Shape {
		axes = append(axes, say("%d, of size %d", i, size))
	}
	if len(axes) > 1 {
		p.choice("Axis", "axis", axes, min(x.axis, len(axes)-1))
	}
	p.add(`</div><div class="x-row" role="group" aria-label="Make a view of it">`)
	for _, b := range [][2]string{{phrase("Transpose"), "transpose"}, {phrase("Every second"), "every"}, {phrase("Without the ends"), "inner"}, {phrase("Just one"), "select"}, {phrase("Diagonal"), "diagonal"}, {phrase("Windows of 3"), "windows"}, {"View(-1)", "flat"}} {
		p.button(b[0], "do", b[1])
	}
	if len(x.views) > 1 {
		p.button("↶ Undo", "undo", "")
	}
	var calls []string
	for _, v := range x.views {
		calls = append(calls, v.String())
	}
	p.add(`</div><p class="x-code"><code>x := tensor.Arange(%d).%s</code>`, cells, calls[0])
	if len(calls) > 1 {
		p.add(`<br><code>y := x.%s</code>`, strings.Join(calls[1:], "."))
	}
	p.add(`</p>`)
	if x.err != nil {
		p.refused(x.err.Error())
	}
	contiguous := say("contiguous")
	if !l.IsContiguous() {
		contiguous = say("not contiguous")
	}
	p.add(`<dl class="x-facts"><div><dt>shape</dt><dd>%s</dd></div><div><dt>strides</dt><dd>%s</dd></div><div><dt>offset</dt><dd>%d</dd></div><div><dt>it is</dt><dd>%s</dd></div></dl>`,
		fmt.Sprint(l.Shape), fmt.Sprint(l.Strides), l.Offset, contiguous)
	if l.Len() == 0 {
		p.says("The view has no elements.")
		return
	}
	x.drawGrids(p, l)
	at, err := l.Position(x.pick)
	if err == nil {
		sum, text := fmt.Sprint(l.Offset), say("offset")
		for i, n := range x.pick {
			sum += fmt.Sprintf(" + %d·%d", n, l.Strides[i])
			text += fmt.Sprintf(" + %c·", "ijk"[i]) + say("stride %d", i)
		}
		p.says(`Element (%s) is at <b>%d</b>: %s = %s`, commas(x.pick), at, text, sum)
	}
	x.drawStrip(p, l, at)
	if free := cells - reach(l); free > 0 {
		p.slider("Drag the view along the memory, or slide it", "offset", 0, free, l.Offset, say("offset %d", l.Offset))
	}
}

func commas(index []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(index), " ", ", "), "[]")
}

// drawGrids draws the elements in rows and columns, a grid for each position of the axes before.
func (x *strides) drawGrids(p *page, l layout.Layout) {
	shape := slices.Clone(l.Shape)
	for len(shape) < 3 {
		shape = slices.Insert(shape, 0, 1)
	}
	p.add(`<div class="x-grids" role="group" aria-label="Elements of the view, by their place in memory" data-arrows="%d">`, shape[2])
	each := shape[1] * shape[2]
	for i, index := range indices(l.Shape) {
		if i%each == 0 {
			p.add(`<div class="x-grid" style="--columns:%d">`, shape[2])
		}
		at, _ := l.Position(index)
		class, pressed := "", slices.Equal(index, x.pick)
		if pressed {
			class = "x-picked"
		}
		p.add(`<button type="button" class="x-cell %s" style="--hue:%d" data-set="pick" data-over="pick" data-value="%s" aria-pressed="%t" aria-label="element %s, at %d">%d</button>`,
			class, hue(at), strings.Trim(fmt.Sprint(index), "[]"), pressed, commas(index), at, at)
		if i%each == each-1 {
			p.add(`</div>`)
		}
	}
	p.add(`</div>`)
}

// hue is the color of a place in memory, so that the eye finds it again in the view.
func hue(at int) int { return 190 + at*140/cells }

// drawStrip draws the memory. What the view reaches can be dragged along it.
func (x *strides) drawStrip(p *page, l layout.Layout, picked int) {
	seen := make([]bool, cells)
	for _, index := range indices(l.Shape) {
		at, _ := l.Position(index)
		seen[at] = true
	}
	p.add(`<div class="x-strip" role="img" aria-label="Memory of %d numbers; the view begins at %d, reaches %d, and reads %d of them" data-drag="offset" data-value="%d">`,
		cells, l.Offset, l.Offset+reach(l)-1, count(seen), l.Offset)
	for at, in := range seen {
		class := "x-cell"
		if !in {
			class += " x-out"
		}
		if at == picked {
			class += " x-picked"
		}
		p.add(`<span class="%s" style="--hue:%d" data-at="%d">%d</span>`, class, hue(at), at, at)
	}
	p.add(`</div>`)
}

func count(list []bool) (n int) {
	for _, x := range list {
		if x {
			n++
		}
	}
	return n
}
