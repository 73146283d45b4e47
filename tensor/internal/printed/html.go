package printed

import (
	"fmt"
	"slices"
	"strings"
)

// maxCells is how many elements a table shows before it leaves out those in the middle.
const maxCells = 400

// HTML writes an array of one to four axes: one or two make a table, a third one puts tables side by side, and a fourth
// rows of them under each other.
func (a Array) HTML() string {
	p := tables{printer{Array: a, summarize: a.len() > maxCells}}
	p.chooseStyle()
	var b strings.Builder
	p.nested(&b, nil)
	return b.String()
}

// tables writes an array as HTML.
type tables struct{ printer }

// nested writes the part at an index: a table, or boxes that hold the next axis.
func (p *tables) nested(b *strings.Builder, index []int) {
	axis := len(index)
	if len(p.Shape)-axis <= 2 {
		p.matrix(b, index)
		return
	}
	outer := len(p.Shape)-axis == 4
	switch {
	case outer:
		b.WriteString(`<div style="display:grid;gap:.8em">`)
	case len(p.Shape) == 4: // columns of tables stay below each other
		b.WriteString(`<div style="display:flex;gap:1.2em">`)
	default:
		b.WriteString(`<div style="display:flex;flex-wrap:wrap;gap:.4em 1.2em">`)
	}
	for _, i := range p.edges(p.Shape[axis]) {
		if i < 0 {
			b.WriteString(`<div style="align-self:center">…</div>`)
			continue
		}
		at := append(slices.Clone(index), i)
		if outer { // the tables of the next axis say where they are
			p.nested(b, at)
			continue
		}
		fmt.Fprintf(b, `<div><div style="font-size:80%%;opacity:.75">%v</div>`, at)
		p.nested(b, at)
		b.WriteString(`</div>`)
	}
	b.WriteString(`</div>`)
}

// matrix writes the last two axes, or the only one, as a table.
func (p *tables) matrix(b *strings.Builder, index []int) {
	rows := []int{0}
	if len(p.Shape) > 1 {
		rows = p.edges(p.Shape[len(p.Shape)-2])
	}
	b.WriteString(`<table style="border-collapse:collapse;font-family:monospace;font-size:90%">`)
	for _, i := range rows {
		b.WriteString("<tr>")
		for _, j := range p.edges(p.Shape[len(p.Shape)-1]) {
			if i < 0 || j < 0 {
				b.WriteString(`<td style="text-align:center;padding:1px 8px">…</td>`)
				continue
			}
			at := append(slices.Clone(index), i, j)
			if len(p.Shape) == 1 {
				at = []int{j}
			}
			fmt.Fprintf(b, `<td style="text-align:right;padding:1px 8px">%s</td>`, p.digits(at))
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table>")
}

// A Field is a part of a number's code.
type Field struct {
	Name, Colour string
	Value        uint64
	Width        int // in bits
}

// Boxes draws the bits of a code, each field in its own color, followed by a text.
func Boxes(text string, fields ...Field) string {
	var s strings.Builder
	s.WriteString(`<div class="lectern-bits" style="font-family:monospace;line-height:1.8">`)
	for _, f := range fields {
		for i := f.Width - 1; i >= 0; i-- {
			fmt.Fprintf(&s, `<span title="%s" style="display:inline-block;width:1.3em;text-align:center;`+
				`border:1px solid #777;color:#000;background:%s">%d</span>`, f.Name, f.Colour, f.Value>>i&1)
		}
	}
	s.WriteString(" " + text + "</div>")
	return s.String()
}
