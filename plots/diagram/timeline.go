package diagram

import (
	"fmt"
	"math"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
)

// A Lane is one row of a [Timeline]: something that is busy now and then, such as a processor or a reader of files.
type Lane struct {
	Name  string
	Spans []Span
}

// A Span is a time during which a [Lane] is busy. It contains the label if there is room.
type Span struct {
	From, To float64
	Label    string
}

// Timeline draws who is busy when, with one lane below the other over the same time, which begins at 0. Things that
// happen at the same time are above each other, and gaps are where a lane waits. unit is the unit of all times, such
// as "ms"; the axis counts whole units. It panics if a span ends before it begins, begins before 0, or never ends.
//
//	diagram.Timeline("ms",
//		diagram.Lane{Name: "fetch", Spans: []diagram.Span{{0, 3, "1"}, {3, 6, "2"}}},
//		diagram.Lane{Name: "model", Spans: []diagram.Span{{3, 6, "1"}, {6, 9, "2"}}})
func Timeline(unit string, lanes ...Lane) *Figure {
	return fitted(func(phone bool) *Figure { return drawTimeline(unit, lanes, phone) })
}

func drawTimeline(unit string, lanes []Lane, phone bool) *Figure {
	f := &Figure{}
	const h, row = 26., 38.
	width, steps := 560., 5.
	end, left := 0., 0.
	for _, lane := range lanes {
		left = max(left, 1.1*textWidth(lane.Name)+14)
		for _, s := range lane.Spans {
			if !(0 <= s.From && s.From <= s.To) || math.IsInf(s.To, 0) {
				panic(fmt.Errorf("diagram: timeline: the span %q of %q goes from %g to %g; it must begin at 0 or later and end after that", s.Label, lane.Name, s.From, s.To))
			}
			end = max(end, s.To)
		}
	}
	if end == 0 {
		end = 1
	}
	if phone {
		width, steps = phoneWidth-left-12, 3
	}
	scale := width / end
	bottom := float64(len(lanes))*row + 2
	step := niceStep(end / steps)
	for i := range int(end/step) + 1 {
		x := float64(i) * step
		text := humanize.Thousands(int(x))
		if i == 0 {
			text += " " + unit
		}
		f.line(thin, left+x*scale, -4, left+x*scale, bottom)
		f.label(left+x*scale, bottom+15, "middle", text, faint)
	}
	colours := []string{blue, orange, green, purple, red}
	var said []string
	for i, lane := range lanes {
		y := float64(i) * row
		f.label(left-10, y+h/2+5, "end", lane.Name)
		busy := 0.
		for _, s := range lane.Spans {
			w := (s.To - s.From) * scale
			f.box(left+s.From*scale, y, w, h, colours[i%len(colours)])
			if w > textWidth(s.Label)*0.9+4 {
				f.label(left+s.From*scale+w/2, y+h/2+4, "middle", s.Label, `font-size="12"`)
			}
			busy += s.To - s.From
		}
		said = append(said, fmt.Sprintf("%s is busy for %.3g of %.3g %s", lane.Name, busy, end, unit))
	}
	f.include(left+width+8, bottom+16)
	f.title = "Who is busy when: " + strings.Join(said, "; ")
	return f
}
