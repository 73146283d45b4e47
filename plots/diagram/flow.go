package diagram

import (
	"fmt"
	"math"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// A FlowStep is a box of [Flow]: see [Step].
type FlowStep struct {
	name  string
	shape []int
	from  []string
}

// Step is a box of [Flow]: a name, its result, and the names of the boxes that its inputs come from. value may be
// nil; then its arrows have no shape.
func Step(name string, value *tensor.Tensor, from ...string) FlowStep {
	s := FlowStep{name: name, from: from}
	if value != nil {
		s.shape = value.Shape()
	}
	return s
}

// Flow draws how values flow through a computation, from top to bottom: a box for each step, and an arrow from each of
// its inputs, with the shape of the value that it carries. A step is one row below the lowest of its inputs; an input
// from further up comes around the right side. It panics if a step comes before one of its inputs, or if two have the
// same name.
//
//	diagram.Flow("A residual", diagram.Step("x", x), diagram.Step("norm", h, "x"), diagram.Step("+", y, "norm", "x"))
func Flow(what string, steps ...FlowStep) *Figure {
	const width, lane, top, boxH, rowH = 290., 14., 26., 30., 66.
	f := &Figure{}
	row := map[string]int{}
	var rows [][]FlowStep
	var said []string
	for _, s := range steps {
		r := 0
		for _, from := range s.from {
			above, ok := row[from]
			if !ok {
				(&tensor.Error{Package: "diagram", Kind: tensor.ErrValue, Op: "flow",
					Reason: fmt.Sprintf("%q comes from %q, which is not a step before it", s.name, from),
					Hint:   "give each step after its inputs, under the same names"}).Panic()
			}
			r = max(r, above+1)
		}
		for len(rows) <= r {
			rows = append(rows, nil)
		}
		if _, twice := row[s.name]; twice {
			(&tensor.Error{Package: "diagram", Kind: tensor.ErrValue, Op: "flow",
				Reason: fmt.Sprintf("two steps are called %q", s.name), Hint: "give each step a different name"}).Panic()
		}
		row[s.name], rows[r] = r, append(rows[r], s)
		text := s.name
		if s.shape != nil {
			text += fmt.Sprint(" ", s.shape)
		}
		if s.from != nil {
			text += " from " + strings.Join(s.from, " and ")
		}
		said = append(said, text)
	}
	f.title = what + ": " + strings.Join(said, "; ")
	f.label(0, 12, "start", what, bold)

	at := map[string]axisBox{} // where each box is
	for r, list := range rows {
		share := width / float64(len(list))
		for i, s := range list {
			w := min(share-8, max(textWidth(s.name)+16, 40))
			b := axisBox{x: (float64(i)+.5)*share - w/2, y: top + float64(r)*rowH, w: w}
			at[s.name] = b
			fill := blue
			if s.from == nil {
				fill = green
			}
			f.box(b.x, b.y, b.w, boxH, fill)
			f.label(b.x+b.w/2, b.y+boxH/2+4, "middle", s.name)
		}
	}
	for _, s := range steps {
		to := at[s.name]
		middle := to.x + to.w/2
		for i, from := range s.from {
			b := at[from]
			start := b.x + b.w/2
			if row[s.name] == row[from]+1 {
				end := middle // arrows from the sides end beside the one from the middle
				if start != middle {
					end += (start - middle) / width * to.w
				}
				f.arrow(start, b.y+boxH, end, to.y, "currentColor")
				continue
			}
			// Arrows that come around share a lane, unless both end here.
			x, y1, y2 := width+lane*float64(i+1)/2+8, b.y+.7*boxH, to.y+.3*boxH
			f.line(`stroke="currentColor" stroke-width="1.5"`, b.x+b.w, y1, x, y1, x, y2, to.x+to.w+4, y2)
			f.head(to.x+to.w, y2, math.Pi, "currentColor")
		}
	}
	for _, s := range steps { // shapes are beside the arrows
		b, uses := at[s.name], 0
		for _, t := range steps {
			for _, from := range t.from {
				if from == s.name && row[t.name] == row[s.name]+1 {
					uses++
				}
			}
		}
		x, y, anchor := b.x+b.w/2, b.y+boxH+14, "middle"
		switch {
		case s.shape == nil:
			continue
		case uses > 1: // arrows to both sides
			x, y, anchor = b.x+b.w+6, b.y+.4*boxH, "start"
		case uses == 1 && x < width/2-1: // its arrow goes to the right
			x, anchor = x-6, "end"
		case uses == 1:
			x, anchor = x+6, "start"
		}
		f.label(x, y, anchor, fmt.Sprint(s.shape), faint)
	}
	return f
}
