package diagram

import (
	"fmt"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// Matmul draws the product of two tensors whose leading axes, such as batch and
// sequence, only say how many matrices there are: a small matrix for each, the first
// of them large with its sizes, and the same for the result. axes names the leading
// axes. It multiplies the tensors, and panics where Matmul does.
func Matmul(a, b *tensor.Tensor, axes ...string) *Figure {
	return fitted(func(phone bool) *Figure { return drawMatmul(a, b, axes, phone) })
}

func drawMatmul(a, b *tensor.Tensor, axes []string, phone bool) *Figure {
	var c *tensor.Tensor
	tensor.NoGrad(func() { c = a.Detach().Matmul(b.Detach()) })
	m, k := matrixSize(a.Shape(), true)
	_, n := matrixSize(b.Shape(), false)
	unit, between, back := 110/float64(max(m, k, n)), 34., 12.
	if phone {
		unit, between, back = 46/float64(max(m, k, n)), 30, 10.5
	}
	small := 34 / float64(max(m, k, n))
	side := func(size int) float64 { return max(float64(size)*unit, 12) }

	f := &Figure{}
	leadA, leadB, leadC := leading(a.Shape()), leading(b.Shape()), c.Shape()
	if a.Dim() > 1 {
		leadC = leadC[:max(len(leadC)-1, 0)]
	}
	if b.Dim() > 1 {
		leadC = leadC[:max(len(leadC)-1, 0)]
	}
	top := 26.
	type operand struct {
		name        string
		lead        []int
		rows, cols  int
		colour, ops string
	}
	x, tallest := 0., 0.
	operands := []operand{
		{fmt.Sprint(a.Shape()), leadA, m, k, blue, "@"},
		{fmt.Sprint(b.Shape()), leadB, k, n, orange, "="},
		{fmt.Sprint(c.Shape()), leadC, m, n, green, ""},
	}
	right := make([]float64, len(operands))
	y := 0.
	for i, o := range operands {
		if len(leadC) == 0 {
			break // there is only one
		}
		if phone { // one below the other
			f.label(0, top-16, "start", o.name, mono, bold)
			_, h := f.stack(0, top, o.lead, o.rows, o.cols, small, o.colour, axes)
			if top += h; o.ops != "" {
				f.label(0, top+26, "start", o.ops, `font-size="22"`)
				top += 64
			}
			continue
		}
		f.label(x, 10, "start", o.name, mono, bold)
		w, h := f.stack(x, top, o.lead, o.rows, o.cols, small, o.colour, axes)
		right[i] = x + max(w, textWidth(o.name)*1.15)
		tallest = max(tallest, h)
		x = right[i] + 60
	}
	if len(leadC) > 0 && phone {
		y = top + 26
	} else if len(leadC) > 0 {
		for i, o := range operands[:2] {
			f.label(right[i]+30, top+tallest/2+6, "middle", o.ops, `font-size="22"`)
		}
		y = top + tallest + 44
	}

	// The first of the matrices, large.
	count := 1
	for _, s := range leadC {
		count *= s
	}
	text, products := "one product of two matrices", "one product"
	if count > 1 {
		text, products = fmt.Sprintf("each of the %s products", humanize.Thousands(count)), humanize.Thousands(count)+" products"
	}
	flops := 2 * count * m * k * n
	text += fmt.Sprintf(": 2 · %d · %d · %d FLOPs", m, k, n)
	if count > 1 {
		text += "; all together " + humanize.Thousands(flops)
	} else {
		text += " = " + humanize.Thousands(flops)
	}
	if phone {
		y = f.paragraph(0, y+10, phoneWidth, 18, text) + 12
	} else {
		f.label(0, y+10, "start", text)
		y += 40
	}
	x = 26
	for _, o := range operands {
		w, h := side(o.cols), side(o.rows)
		f.box(x, y, w, h, o.colour)
		f.label(x+w/2, y-6, "middle", fmt.Sprint(o.cols), faint)
		f.label(x-6, y+h/2+4, "end", fmt.Sprint(o.rows), faint)
		x += w + between
		if o.ops != "" {
			f.label(x-back, y+side(max(m, k))/2+6, "middle", o.ops, `font-size="22"`)
			x += between
		}
	}
	f.title = fmt.Sprintf("Matrix product: %v times %v is %v, %s of [%d %d] by [%d %d], %s FLOPs",
		a.Shape(), b.Shape(), c.Shape(), products, m, k, k, n, humanize.Thousands(flops))
	return f
}

// matrixSize returns the sizes of the matrices in a tensor; a vector is a row on
// the left of a product and a column on its right.
func matrixSize(shape []int, isLeft bool) (rows, cols int) {
	switch d := len(shape); {
	case d >= 2:
		return shape[d-2], shape[d-1]
	case isLeft:
		return 1, shape[0]
	default:
		return shape[0], 1
	}
}

// leading returns the axes in front of the matrices.
func leading(shape []int) []int { return shape[:max(len(shape)-2, 0)] }

// stack draws the matrices of one operand as a grid of small boxes, with the first one
// highlighted, and returns its size. The last leading axis runs to the right, and the
// others, merged, run downwards.
func (f *Figure) stack(x, y float64, lead []int, rows, cols int, unit float64, colour string, axes []string) (width, height float64) {
	const maxAcross, maxDown, gap = 12, 6, 5.
	w, h := max(float64(cols)*unit, 6), max(float64(rows)*unit, 6)
	across, down := 1, 1
	if n := len(lead); n > 0 {
		across = lead[n-1]
		for _, s := range lead[:n-1] {
			down *= s
		}
	}
	name := func(i int) string {
		if i >= 0 && i < len(axes) {
			return axes[i]
		}
		return fmt.Sprintf("axis %d", i)
	}
	x0, y0 := x, y
	if len(lead) > 0 {
		y0 += 18
		f.label(x0, y+10, "start", fmt.Sprintf("%s %d →", name(len(lead)-1), across), faint)
	}
	showAcross, showDown := min(across, maxAcross), min(down, maxDown)
	for r := range showDown {
		for c := range showAcross {
			fill := plain
			if r == 0 && c == 0 {
				fill = colour
			}
			f.box(x0+float64(c)*(w+gap), y0+float64(r)*(h+gap), w, h, fill)
		}
	}
	width = float64(showAcross)*(w+gap) - gap
	height = y0 - y + float64(showDown)*(h+gap) - gap
	if showAcross < across {
		f.label(x0+width+4, y0+h/2+4, "start", "…")
		width += 16
	}
	if len(lead) > 1 {
		text := fmt.Sprintf("↓ %s %d", name(0), lead[0])
		for i, s := range lead[1 : len(lead)-1] {
			text += fmt.Sprintf(" × %s %d", name(i+1), s)
		}
		if showDown < down {
			text += ", cut"
		}
		f.label(x0, y+height+15, "start", text, faint)
		height += 18
		width = max(width, textWidth(text)*0.85)
	}
	if len(lead) > 0 {
		width = max(width, textWidth(name(len(lead)-1)+" 00 →")*0.85)
	}
	return width, height
}
