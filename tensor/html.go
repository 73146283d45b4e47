package tensor

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
)

// HTML returns the tensor for a notebook: its values above a line with shape,
// dtype, strides and storage. One or two axes are a table, a third one sets
// tables side by side, a fourth sets rows of them under each other.
func (t *Tensor) HTML() string { return t.html(false) }

// HeatHTML is HTML with a ground behind each number that grows stronger with its
// distance from zero: blue for positive numbers, orange for negative ones.
func (t *Tensor) HeatHTML() string { return t.html(true) }

func (t *Tensor) html(heat bool) string {
	var b strings.Builder
	b.WriteString(`<div class="lectern-tensor">`)
	if t == nil || t.storage == nil {
		fmt.Fprintf(&b, `<pre style="margin:0">%s</pre></div>`, html.EscapeString(t.String()))
		return b.String()
	}
	caption := t.caption()
	if t.Dim() == 0 || t.Dim() > 4 || t.Len() == 0 || t.storage.freed {
		fmt.Fprintf(&b, `<pre style="margin:0">%s</pre>`, html.EscapeString(t.String()))
	} else {
		p := tables{printer: printer{t: t.shownHere(), summarise: t.Len() > 400}}
		values := p.chooseStyle()
		if heat {
			for _, v := range values {
				if !math.IsNaN(v) && !math.IsInf(v, 0) {
					p.hottest = max(p.hottest, math.Abs(v))
				}
			}
			caption += " · strongest at ±" + strconv.FormatFloat(p.hottest, 'g', 3, 64)
		}
		p.nested(&b, nil)
	}
	fmt.Fprintf(&b, `<div style="font-size:85%%;opacity:.75">%s</div></div>`, html.EscapeString(caption))
	return b.String()
}

// tables writes a tensor as HTML.
type tables struct {
	printer
	hottest float64 // the value with the darkest ground; 0 for none
}

// nested writes what is at an index: a table, or boxes that hold the next axis.
func (p *tables) nested(b *strings.Builder, index []int) {
	axis := len(index)
	if p.t.Dim()-axis <= 2 {
		p.matrix(b, index)
		return
	}
	outer := p.t.Dim()-axis == 4
	switch {
	case outer:
		b.WriteString(`<div style="display:grid;gap:.8em">`)
	case p.t.Dim() == 4: // columns of tables stay under each other
		b.WriteString(`<div style="display:flex;gap:1.2em">`)
	default:
		b.WriteString(`<div style="display:flex;flex-wrap:wrap;gap:.4em 1.2em">`)
	}
	for _, i := range p.edges(p.t.Size(axis)) {
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
	if p.t.Dim() > 1 {
		rows = p.edges(p.t.Size(-2))
	}
	b.WriteString(`<table style="border-collapse:collapse;font-family:monospace;font-size:90%">`)
	for _, i := range rows {
		b.WriteString("<tr>")
		for _, j := range p.edges(p.t.Size(-1)) {
			if i < 0 || j < 0 {
				b.WriteString(`<td style="text-align:center;padding:1px 8px">…</td>`)
				continue
			}
			at := append(slices.Clone(index), i, j)
			if p.t.Dim() == 1 {
				at = []int{j}
			}
			fmt.Fprintf(b, `<td style="text-align:right;padding:1px 8px%s">%s</td>`, p.ground(p.t.At(at...)), p.digits(at))
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table>")
}

// ground is the colour behind a number, through which the page's own shows.
func (p *tables) ground(v float64) string {
	if p.hottest == 0 || v == 0 || math.IsNaN(v) {
		return ""
	}
	colour := "0,114,178"
	if v < 0 {
		colour = "213,94,0"
	}
	return fmt.Sprintf(";background:rgba(%s,%.2f)", colour, min(0.6*math.Abs(v)/p.hottest, 0.6))
}

// caption is the line under the values.
func (t *Tensor) caption() string {
	parts := []string{fmt.Sprintf("shape %v", t.layout.Shape), t.dtype.String(), fmt.Sprintf("strides %v", t.layout.Strides)}
	if t.layout.Offset > 0 {
		parts = append(parts, fmt.Sprintf("offset %d", t.layout.Offset))
	}
	parts = append(parts, humanize.Bytes(t.Bytes()))
	if t.backend() != nil {
		parts = append(parts, t.Device().String())
	}
	switch {
	case !t.RequiresGrad():
	case t.IsLeaf():
		parts = append(parts, "requires grad")
	default:
		parts = append(parts, "result of "+t.graph().Function().Name())
	}
	return strings.Join(parts, " · ")
}
