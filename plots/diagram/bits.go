package diagram

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// Bits draws one number in several formats, one below the other: its sign, exponent
// and mantissa bit by bit, what they mean, and the number that is stored, which may
// differ from the given one.
func Bits(x float64, dtypes ...tensor.Dtype) *Figure {
	return fitted(func(phone bool) *Figure { return drawBits(x, dtypes, phone) })
}

func drawBits(x float64, dtypes []tensor.Dtype, phone bool) *Figure {
	f := &Figure{}
	const h, gap = 22., 78. - 22 - 35 // of a bit, and between two formats
	left, w, most := nameColumn(dtypes), 15., 64
	for _, d := range dtypes {
		if d.Size() > 4 {
			w = 10.5 // 64 of them fit on a page
		}
	}
	if phone { // names are above, and 64 bits in two rows
		left, w, most = 0, phoneWidth/32., 32
	}
	var said []string
	y := 0.
	for i, d := range dtypes {
		if i > 0 {
			y += gap
		}
		b := d.Bits(x)
		if phone {
			f.label(0, y+12, "start", d.String(), mono, bold)
			y += 20
		} else {
			f.label(left-10, y+15, "end", d.String(), mono)
		}
		at, room := left, most
		var widths []string
		run := func(colour string, value uint64, width int) {
			start := at
			f.box(at, y, float64(width)*w, h, colour)
			var borders, places strings.Builder // of the digits, which are one text
			for bit := range width {
				if bit > 0 {
					fmt.Fprintf(&borders, "M%s %sv%s", number(at), number(y), number(h))
					places.WriteByte(' ')
				}
				places.WriteString(number(at + w/2))
				at += w
			}
			if width > 1 {
				fmt.Fprintf(&f.body, `<path d="%s" stroke="currentColor" stroke-opacity=".35"/>`, borders.String())
			}
			fmt.Fprintf(&f.body, `<text x="%s" y="%s" text-anchor="middle" fill="currentColor" %s>%0*b</text>`, places.String(), number(y+16), mono, width, value)
			f.line(`stroke="`+colour+`" stroke-width="3"`, start+2, y+h+4, at-2, y+h+4)
		}
		field := func(name, colour string, value uint64, width int) {
			if width == 0 {
				return
			}
			widths = append(widths, fmt.Sprintf("%d %s", width, name))
			for width > 0 {
				if room == 0 {
					at, room = left, most
					y += h + 10
				}
				n := min(width, room)
				run(colour, value>>(width-n)&(1<<n-1), n)
				width, room = width-n, room-n
			}
		}
		if b.ExponentWidth > 0 {
			field("sign", red, b.Sign, 1)
			field("exponent", green, b.Exponent, b.ExponentWidth)
			field("mantissa", blue, b.Mantissa, b.MantissaWidth)
		} else {
			field("bits of an integer", blue, b.Mantissa, b.MantissaWidth)
		}
		f.label(left+2, y+h+19, "start", strings.Join(widths, " · "), faint)
		value := b.Formula()
		if stored := plainNumber(b.Value); stored != value {
			value += " = " + stored
		}
		y += h + 35
		if !phone {
			f.label(left+2, y, "start", value, `font-size="12"`)
		} else {
			y = f.paragraph(left+2, y, phoneWidth-2, 16, value, `font-size="12"`) - 16
		}
		said = append(said, fmt.Sprintf("%s %v is %s", d, b, value))
	}
	f.title = fmt.Sprintf("Bits of %s: %s", plainNumber(x), strings.Join(said, "; "))
	return f
}

// plainNumber writes a number with six significant digits.
func plainNumber(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
