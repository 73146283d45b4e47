package diagram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// Graph draws the computation behind a result from left to right: values that the user
// made on the left, and each operation to the right of its inputs. Green boxes are
// leaves that require a gradient, uncoloured ones are constants, and blue ones are
// results. Below an operation are its FLOPs and the bytes that it keeps for the
// gradient, and below a value with a gradient are the gradient's numbers, if they are
// few; red arrows are the edges along which gradients flow back.
//
// On a phone the graph goes from top to bottom.
func Graph(g *tensor.Graph) *Figure {
	return fitted(func(phone bool) *Figure {
		if phone {
			return drawGraphDown(g)
		}
		return drawGraph(g)
	})
}

// fillOf is the color of a node.
func fillOf(n *tensor.GraphNode) string {
	switch {
	case n.Constant:
		return plain
	case n.Leaf:
		return green
	}
	return blue
}

// drawGraphDown draws each column as a row, with the first on top.
func drawGraphDown(g *tensor.Graph) *Figure {
	f := &Figure{}
	const gapX, gapY, boxH, line = 18., 34., 30., 15.
	type place struct{ x, y, w, h float64 } // x is the middle
	places := make([]place, len(g.Nodes))
	notes := make([][]string, len(g.Nodes))
	rows := layers(g)
	widths, widest := make([]float64, len(rows)), 0.
	y := 0.
	for r, row := range rows {
		tallest := 0.
		for _, i := range row {
			if text := cost(&g.Nodes[i]); text != "" {
				notes[i] = strings.Split(text, ", ")
			}
			if text := gradient(&g.Nodes[i]); text != "" {
				notes[i] = append(notes[i], text)
			}
			p := place{0, y, max(60, textWidth(label(g, i))+16), boxH + line*float64(len(notes[i]))}
			for _, n := range notes[i] {
				p.w = max(p.w, 0.85*textWidth(n)+10)
			}
			p.x = widths[r] + p.w/2
			places[i] = p
			widths[r] += p.w + gapX
			tallest = max(tallest, p.h)
		}
		widths[r] -= gapX
		widest = max(widest, widths[r])
		y += tallest + gapY
	}
	for r, row := range rows {
		for _, i := range row {
			places[i].x += (widest - widths[r]) / 2
		}
	}
	for _, e := range g.Edges {
		from, to := places[e.From], places[e.To]
		shift := 0.
		if !g.Nodes[e.From].Constant {
			shift = 5
			f.arrow(to.x-shift, to.y, from.x-shift, from.y+from.h, red)
		}
		f.arrow(from.x+shift, from.y+from.h, to.x+shift, to.y, "currentColor")
	}
	for i := range g.Nodes {
		p := places[i]
		f.box(p.x-p.w/2, p.y, p.w, p.h, fillOf(&g.Nodes[i]))
		f.label(p.x, p.y+boxH/2+4, "middle", label(g, i))
		for k, n := range notes[i] {
			f.label(p.x, p.y+boxH+line*float64(k)+6, "middle", n, faint)
		}
	}
	f.title = "Graph of a computation: " + sentence(g)
	return f
}

func drawGraph(g *tensor.Graph) *Figure {
	f := &Figure{}
	columns := layers(g)
	const gapX, gapY, boxH = 56., 18., 30.
	type place struct{ x, y, w float64 }
	places := make([]place, len(g.Nodes))

	tallest := 0
	for _, column := range columns {
		tallest = max(tallest, len(column))
	}
	const rowH = boxH + gapY + 18
	x := 0.
	for _, column := range columns {
		width := 60.
		for _, i := range column {
			width = max(width, textWidth(label(g, i))+20, 0.85*textWidth(cost(&g.Nodes[i]))+8, 0.85*textWidth(gradient(&g.Nodes[i]))+8)
		}
		top := float64(tallest-len(column)) / 2 * rowH
		for k, i := range column {
			places[i] = place{x, top + float64(k)*rowH, width}
		}
		x += width + gapX
	}

	for _, e := range g.Edges {
		from, to := places[e.From], places[e.To]
		y1, y2 := from.y+boxH/2, to.y+boxH/2
		needsGrad := !g.Nodes[e.From].Constant
		shift := 0.
		if needsGrad {
			shift = 5
			f.arrow(to.x, y2+shift, from.x+from.w, y1+shift, red)
		}
		f.arrow(from.x+from.w, y1-shift, to.x, y2-shift, "currentColor")
	}
	for i := range g.Nodes {
		n, p := &g.Nodes[i], places[i]
		f.box(p.x, p.y, p.w, boxH, fillOf(n))
		f.label(p.x+p.w/2, p.y+boxH/2+4, "middle", label(g, i))
		below := p.y + boxH + 14
		for _, text := range []string{cost(n), gradient(n)} {
			if text != "" {
				f.label(p.x+p.w/2, below, "middle", text, faint)
				below += 14
			}
		}
	}
	f.title = "Graph of a computation: " + sentence(g)
	return f
}

// label names a node; it leaves out the shape of a single number, which says nothing.
func label(g *tensor.Graph, i int) string { return strings.TrimSuffix(g.Label(i), " []") }

// cost is the small print below a node.
func cost(n *tensor.GraphNode) string {
	var parts []string
	if n.FLOPs > 0 {
		parts = append(parts, fmt.Sprintf("%d FLOPs", n.FLOPs))
	}
	if saved := n.SavedBytes(); saved > 0 && !n.Released {
		parts = append(parts, fmt.Sprintf("keeps %d B", saved))
	}
	return strings.Join(parts, ", ")
}

// gradient is a second line below a node: its gradient, once there is one. A long one doesn't fit.
func gradient(n *tensor.GraphNode) string {
	const longest = 4
	switch {
	case n.Grad == nil:
		return ""
	case n.Grad.Len() > longest:
		return "has a gradient"
	}
	var text strings.Builder
	text.WriteString("gradient")
	for _, v := range n.Grad.Floats() {
		fmt.Fprintf(&text, " %.3g", v)
	}
	return text.String()
}

// layers puts each node one column to the right of its last input, leaves just
// before their first use, and orders each column by the positions of its inputs, so
// that few edges cross.
func layers(g *tensor.Graph) [][]int {
	inputs, uses := make([][]int, len(g.Nodes)), make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		inputs[e.To] = append(inputs[e.To], e.From)
		uses[e.From] = append(uses[e.From], e.To)
	}
	column := make([]int, len(g.Nodes))
	last := 0
	for i := range g.Nodes { // nodes come after their inputs
		for _, in := range inputs[i] {
			column[i] = max(column[i], column[in]+1)
		}
		last = max(last, column[i])
	}
	for i := range g.Nodes {
		if len(inputs[i]) == 0 && len(uses[i]) > 0 {
			first := last
			for _, use := range uses[i] {
				first = min(first, column[use])
			}
			column[i] = first - 1
		}
	}
	columns := make([][]int, last+1)
	row := make([]float64, len(g.Nodes))
	for c := range columns {
		for i := range g.Nodes {
			if column[i] == c {
				columns[c] = append(columns[c], i)
			}
		}
		middle := func(i int) float64 {
			if len(inputs[i]) == 0 {
				return float64(len(g.Nodes)) // new values go below
			}
			sum := 0.
			for _, in := range inputs[i] {
				sum += row[in]
			}
			return sum / float64(len(inputs[i]))
		}
		slices.SortStableFunc(columns[c], func(a, b int) int {
			switch d := middle(a) - middle(b); {
			case d < 0:
				return -1
			case d > 0:
				return 1
			}
			return a - b
		})
		for k, i := range columns[c] {
			row[i] = float64(k)
		}
	}
	return columns
}

// sentence describes the graph for readers who can't see it.
func sentence(g *tensor.Graph) string {
	var parts []string
	for i := range g.Nodes {
		var from []string
		for _, e := range g.Edges {
			if e.To == i {
				from = append(from, label(g, e.From))
			}
		}
		if len(from) > 0 {
			parts = append(parts, label(g, i)+" from "+strings.Join(from, " and "))
		}
	}
	for i := range g.Nodes {
		if text := gradient(&g.Nodes[i]); text != "" {
			parts = append(parts, label(g, i)+": "+text)
		}
	}
	return strings.Join(parts, "; ")
}
