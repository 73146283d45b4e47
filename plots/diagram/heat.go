package diagram

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// Heat draws a matrix as a heat map: the larger an element beside the largest finite one, the darker its cell.
// Cells of zeros, negative numbers and NaN stay empty, and one of +Inf is as dark as that of the largest. Integers are
// written as they are, other numbers with two decimals. what is the title; rows and columns are the names along the
// sides, as many as the matrix has. It panics if m does not have two axes, or if the names don't fit them.
//
//	diagram.Heat("attention", words, words, weights)
func Heat(what string, rows, columns []string, m *tensor.Tensor) *Figure {
	if s := m.Shape(); len(s) != 2 || s[0] != len(rows) || s[1] != len(columns) {
		(&tensor.Error{Package: "diagram", Kind: tensor.ErrShape, Op: "heat",
			Reason: fmt.Sprintf("%v, with %d names for its rows and %d for its columns", s, len(rows), len(columns)),
			Hint:   "give a matrix, and a name for each of its rows and columns"}).Panic()
	}
	return fitted(func(phone bool) *Figure { return drawHeat(what, rows, columns, m.Detach().Floats(), phone) })
}

func drawHeat(what string, rows, columns []string, values []float64, phone bool) *Figure {
	const top, height, numbers = 44., 32., 34. // a cell needs this width for its number
	f := &Figure{}
	left, widest, largest := 0., 0., 0.
	for _, name := range rows {
		left = max(left, textWidth(name)+10)
	}
	for _, name := range columns {
		widest = max(widest, textWidth(name)+8)
	}
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			largest = max(largest, v)
		}
	}
	side := max(widest, 46)
	if phone {
		side = min(side, (phoneWidth-left)/float64(len(columns)))
	}
	format := "%.2f"
	if !slices.ContainsFunc(values, func(v float64) bool { return v != math.Trunc(v) && !math.IsNaN(v) }) {
		format = "%.0f"
	}
	var said []string
	f.label(0, 12, "start", what, bold)
	for j, name := range columns {
		f.label(left+(float64(j)+.5)*side, top-8, "middle", name)
	}
	for i, name := range rows {
		y := top + float64(i)*height
		f.label(left-8, y+height/2+4, "end", name)
		var row []string
		for j := range columns {
			v, x := values[i*len(columns)+j], left+float64(j)*side
			row = append(row, columns[j]+" "+fmt.Sprintf(format, v))
			if v > 0 {
				part := 1.
				if !math.IsInf(v, 1) {
					part = v / largest
				}
				fmt.Fprintf(&f.body, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s" fill-opacity="%.2f"/>`,
					number(x), number(y), number(side), number(height), blue, .08+.57*part)
			}
			f.box(x, y, side, height, plain)
			if side >= numbers && v != 0 {
				f.label(x+side/2, y+height/2+4, "middle", fmt.Sprintf(format, v), `font-size="12"`)
			}
		}
		said = append(said, name+": "+strings.Join(row, ", "))
	}
	f.title = what + ": " + strings.Join(said, "; ")
	return f
}
