package diagram

import (
	"fmt"

	"github.com/lectern-go/lectern/tensor"
)

// Broadcast draws the sum of two tensors: the values of each, repeated in faint copies along the axes that it lacks or
// that have size 1, and the result. It draws only the first matrix of tensors with more than two axes, and the upper
// left corner of large matrices. It adds them, and panics where Add does.
func Broadcast(a, b *tensor.Tensor) *Figure {
	var sum *tensor.Tensor
	tensor.NoGrad(func() { sum = a.Detach().Add(b.Detach()) })
	f := &Figure{}
	shape := sum.Shape()
	said := ""
	x := 0.
	for i, o := range []struct {
		t       *tensor.Tensor
		colour  string
		joined  string // to the next
		spelled string
	}{{a, blue, "+", " plus "}, {b, orange, "=", " is "}, {sum, green, "", ""}} {
		text := fmt.Sprint(o.t.Shape())
		said += text
		note := ""
		if fmt.Sprint(shape) != text {
			note = fmt.Sprintf("repeated to %v", shape)
			said += ", " + note + ","
		}
		said += o.spelled
		f.label(x, 10, "start", text, mono, bold)
		f.label(x, 27, "start", note, faint)
		w, h := f.repeated(x, broadcastTop, o.t, shape, o.colour)
		x += max(w, monoWidth(text), textWidth(note)*0.75)
		if i < 2 {
			f.label(x+broadcastGap/2, broadcastTop+h/2+7, "middle", o.joined, `font-size="22"`)
			x += broadcastGap
		}
	}
	f.title = "Broadcasting: " + said
	return f
}

const (
	broadcastTop  = 38.
	broadcastGap  = 24.
	broadcastCell = 22. // height of a value, and the least width
	maxBroadcast  = 8   // rows and columns that are drawn
)

// repeated draws a tensor as the matrix of values that it stands for in a shape, and returns its size. Real elements
// have a color, and their repetitions have none.
func (f *Figure) repeated(x, y float64, t *tensor.Tensor, shape []int, colour string) (width, height float64) {
	whole := t.Detach().Expand(shape...)
	if whole.Len() == 0 {
		return 0, 0
	}
	for whole.Dim() < 2 {
		whole = whole.Unsqueeze(0)
	}
	for whole.Dim() > 2 {
		whole = whole.Select(0, 0)
	}
	own := append([]int{1, 1}, t.Shape()...)
	own = own[len(own)-2:]
	rows, cols := min(whole.Size(0), maxBroadcast), min(whole.Size(1), maxBroadcast)
	cell := broadcastCell
	for r := range rows {
		for c := range cols {
			cell = max(cell, monoWidth(short(whole.At(r, c), t.Dtype()))+5)
		}
	}
	for r := range rows {
		for c := range cols {
			text := short(whole.At(r, c), t.Dtype())
			left, top := x+float64(c)*cell, y+float64(r)*broadcastCell
			fill, ink := colour, []string{mono}
			if r >= own[0] || c >= own[1] {
				fill, ink = plain, append(ink, `opacity=".65"`)
			}
			f.box(left, top, cell, broadcastCell, fill)
			f.label(left+cell/2, top+broadcastCell/2+4.5, "middle", text, ink...)
		}
	}
	width, height = float64(cols)*cell, float64(rows)*broadcastCell
	if cols < whole.Size(1) || rows < whole.Size(0) {
		f.label(x, y+height+15, "start", "…", faint)
	}
	return width, height
}
