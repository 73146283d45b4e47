package diagram

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// A Labeled tensor is one row of a [Storage] figure.
type Labelled struct {
	label string
	t     *tensor.Tensor
}

// View labels a tensor, usually with the expression that made it.
func View(label string, t *tensor.Tensor) Labelled { return Labelled{label, t} }

// maxCells is how many elements of a storage are drawn.
const maxCells = 32

// Storage draws for each tensor the strip of memory behind it, tinted where the tensor
// has elements, an arrow for each of its strides, and the tensor as its reader sees
// it. Tensors that share a storage show the same strip, so that you see that a view is
// another walk through the same memory. Strips are cut off after 32 elements, and
// tensors with more than two axes show only their strip.
func Storage(views ...Labelled) *Figure {
	return fitted(func(phone bool) *Figure { return drawStorage(views, phone) })
}

func drawStorage(views []Labelled, phone bool) *Figure {
	f := &storageFigure{Figure: &Figure{}, cell: cell, cells: maxCells, columns: maxColumns}
	if phone { // 16 elements and 7 columns fit
		f.phone, f.cell, f.cells, f.columns, f.small = true, phoneWidth/16., 16, 7, []string{`font-size="11"`}
	}
	var said []string
	y := 0.
	for i, v := range views {
		if i > 0 {
			y = f.height + 36
		}
		note := ""
		if i > 0 && tensor.SameStorage(v.t, views[0].t) {
			note = "same storage as " + views[0].label
		} else if i > 0 {
			note = "a storage of its own"
		}
		f.storageRow(y, v, note)
		said = append(said, fmt.Sprintf("%s has shape %v and strides %v", v.label, v.t.Shape(), v.t.Strides()))
		if note != "" {
			said[i] += ", " + note
		}
	}
	f.title = "Storage and strides: " + strings.Join(said, "; ")
	return f.Figure
}

// A storageFigure is a figure of storage on a page or on a phone.
type storageFigure struct {
	*Figure
	phone          bool
	cell           float64  // side of a cell of the strip
	cells, columns int      // that are drawn at most
	small          []string // how numbers in the strip are written
}

const (
	cell       = 30.
	maxColumns = 16
	gridX      = 0.
	gapRow     = 16.
)

// strideColours are those of the first axes.
var strideColours = []string{blue, red, green, purple}

func (f *storageFigure) storageRow(y float64, v Labelled, note string) {
	cell := f.cell
	t := v.t
	values := t.Storage()
	title := fmt.Sprintf("shape %v · strides %v", t.Shape(), t.Strides())
	if t.StorageOffset() > 0 {
		title += fmt.Sprintf(" · offset %d", t.StorageOffset())
	}
	f.label(0, y+12, "start", v.label, bold, mono)
	if f.phone {
		y += 18
		f.label(0, y+12, "start", title)
		if note != "" {
			y += 16
			f.label(0, y+12, "start", note, faint)
		}
	} else {
		f.label(textWidth(v.label)*1.12+16, y+12, "start", title)
		if note != "" {
			f.label(textWidth(v.label)*1.12+textWidth(title)+40, y+12, "start", note, faint)
		}
	}

	strip := y + 24 + f.arcHeight(t)
	used := map[int]bool{}
	eachIndex(t.Shape(), func(index []int) { used[position(t, index)] = true })
	shown := min(len(values), f.cells)
	for i := range shown {
		fill := plain
		if used[i] {
			fill = orange
		}
		x := float64(i) * cell
		f.box(x, strip, cell, cell, fill)
		f.label(x+cell/2, strip+cell/2+4, "middle", short(values[i], t.Dtype()), f.small...)
		f.label(x+cell/2, strip+cell+12, "middle", strconv.Itoa(i), faint)
	}
	f.strides(t, strip, shown)
	if rest := fmt.Sprintf("… %d in all", len(values)); shown < len(values) && f.phone {
		strip += 18
		f.label(0, strip+cell+12, "start", rest)
	} else if shown < len(values) {
		f.label(float64(shown)*cell+8, strip+cell/2+4, "start", rest)
	}
	f.include(0, strip+cell+14)
	if t.Dim() == 1 || t.Dim() == 2 {
		f.grid(t, strip+cell+14+gapRow)
	}
}

// arcHeight is the room above the strip that the stride arrows need.
func (f *Figure) arcHeight(t *tensor.Tensor) float64 { return 22 * float64(len(arcs(t))) }

// arcs returns the axes along which a step can be drawn, the shortest first.
func arcs(t *tensor.Tensor) []int {
	var axes []int
	if t.Len() == 0 {
		return nil
	}
	for axis := t.Dim() - 1; axis >= 0; axis-- {
		if t.Size(axis) > 1 {
			axes = append(axes, axis)
		}
	}
	slices.SortStableFunc(axes, func(a, b int) int { return t.Stride(a) - t.Stride(b) })
	return axes
}

// strides draws, for each axis, the step from the first element to its neighbor along
// that axis. Its text is beside the arrow's end, or to the right of the longer arrows
// if it does not fit below them.
func (f *storageFigure) strides(t *tensor.Tensor, strip float64, shown int) {
	cell := f.cell
	from, longest := t.StorageOffset(), 0
	var axes []int
	for _, axis := range arcs(t) {
		longest = max(longest, t.Stride(axis))
		if max(from, from+t.Stride(axis)) < shown {
			axes = append(axes, axis)
		}
	}
	start := (float64(from) + 0.5) * cell
	end := start + float64(longest)*cell // of the arrow above
	right := end                         // where the text of the arrow above begins
	for level, axis := range slices.Backward(axes) {
		stride := t.Stride(axis)
		text := fmt.Sprintf("stride(%d) = %d", axis, stride)
		if stride == 0 {
			text += ": every step stays where it is"
		}
		to := start + float64(stride)*cell
		rise := 14 + 22*float64(level)
		x := to
		if to != end && to+24+textWidth(text) > end-8 {
			x = right
		}
		if stride != 0 {
			colour := strideColours[axis%len(strideColours)]
			f.arc(start, to, strip, rise*1.25, colour)
			f.wire(x+8, strip-rise+4, x+19, strip-rise+4, colour)
		}
		f.label(x+24, strip-rise+8, "start", text, faint)
		end, right = to, x
	}
}

// grid draws the tensor as rows and columns, each element with the storage
// index that it comes from.
func (f *storageFigure) grid(t *tensor.Tensor, y float64) {
	m := t.Detach()
	if m.Dim() == 1 {
		m = m.Unsqueeze(0)
	}
	rows, columns := min(m.Size(0), 8), min(m.Size(1), f.columns)
	const w, h = 46., 34.
	for i := range rows {
		for j := range columns {
			x, top := gridX+float64(j)*w, y+float64(i)*h
			f.box(x, top, w, h, orange)
			f.label(x+w/2, top+15, "middle", short(m.At(i, j), m.Dtype()))
			f.label(x+w/2, top+29, "middle", "at "+strconv.Itoa(position(m, []int{i, j})), faint)
		}
	}
	if rows < m.Size(0) || columns < m.Size(1) {
		f.label(gridX+float64(columns)*w+8, y+15, "start", fmt.Sprintf("… of %d × %d", m.Size(0), m.Size(1)), faint)
	}
}

// position returns the storage index of an element.
func position(t *tensor.Tensor, index []int) int {
	at := t.StorageOffset()
	for axis, i := range index {
		at += i * t.Stride(axis)
	}
	return at
}

// eachIndex calls f for every index into a shape, in row-major order.
func eachIndex(shape []int, f func(index []int)) {
	index := make([]int, len(shape))
	for _, size := range shape {
		if size == 0 {
			return
		}
	}
	for {
		f(index)
		axis := len(shape) - 1
		for ; axis >= 0; axis-- {
			if index[axis]++; index[axis] < shape[axis] {
				break
			}
			index[axis] = 0
		}
		if axis < 0 {
			return
		}
	}
}

// short writes a number in at most four characters.
func short(x float64, d tensor.Dtype) string {
	if !d.IsFloat() {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
