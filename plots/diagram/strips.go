package diagram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
)

// A Strip is one row of [Strips]: things of one kind in order, such as the numbers from a generator.
type Strip struct {
	Name  string
	Parts []Part
}

// A Part is a run of neighbors in a [Strip] that serve the same purpose. A Part without a name
// is a gap of that many boxes.
type Part struct {
	Name   string
	Length int
}

// Strips draws rows of small boxes, one for each thing, and what they are used for: parts with the same name have
// the same color in all rows, so that you see where a part has moved. A part's name is above it where there is
// room, and in a legend below if there is no room anywhere. what says what the boxes are, such as "Numbers
// drawn". It panics if a length is negative.
//
//	diagram.Strips("Numbers drawn",
//		diagram.Strip{Name: "one layer", Parts: []diagram.Part{{"layer 1", 8}, {"order", 10}}},
//		diagram.Strip{Name: "two layers", Parts: []diagram.Part{{"layer 1", 8}, {"layer 2", 8}, {"order", 10}}})
func Strips(what string, strips ...Strip) *Figure {
	return fitted(func(phone bool) *Figure { return drawStrips(what, strips, phone) })
}

func drawStrips(what string, strips []Strip, phone bool) *Figure {
	f := &Figure{}
	const largest = 20.
	widest, row, top := 560., 52., 18.
	longest, left := 1, 0.
	for _, s := range strips {
		n := 0
		for _, p := range s.Parts {
			if p.Length < 0 {
				panic(fmt.Errorf("diagram: strips: part %q of %q has %s", p.Name, s.Name, humanize.Count(p.Length, "box")))
			}
			n += p.Length
		}
		longest, left = max(longest, n), max(left, 1.1*textWidth(s.Name)+14)
	}
	if phone { // names are above their strips
		widest, row, top, left = phoneWidth, 70, 36, 0
	}
	size := min(largest, widest/float64(longest))
	colours := []string{blue, green, purple, red, orange}
	var names, said []string
	shown := map[string]bool{} // whose names are above a part
	bottom := 0.
	for i, s := range strips {
		x, y := left, float64(i)*row+top
		if phone {
			f.label(0, y-top+12, "start", s.Name, bold)
		} else {
			f.label(left-10, y+size/2+5, "end", s.Name)
		}
		var parts []string
		var own []string // its names in their order
		counts := map[string]int{}
		for _, p := range s.Parts {
			w := float64(p.Length) * size
			if p.Name == "" || p.Length == 0 {
				x += w
				continue
			}
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
			if w > textWidth(p.Name)*0.9+4 {
				f.label(x+w/2, y-5, "middle", p.Name, `font-size="12"`)
				shown[p.Name] = true
			}
			for j := range p.Length {
				f.box(x+float64(j)*size, y, size, size, colours[slices.Index(names, p.Name)%len(colours)])
			}
			x += w
			if counts[p.Name] += p.Length; !slices.Contains(own, p.Name) {
				own = append(own, p.Name)
			}
		}
		for _, name := range own {
			parts = append(parts, fmt.Sprintf("%s (%d)", name, counts[name]))
		}
		bottom = y + size
		said = append(said, s.Name+": "+strings.Join(parts, ", "))
	}
	x := left
	for i, name := range names {
		if !shown[name] {
			if x > left && x+20+1.1*textWidth(name) > left+widest {
				x, bottom = left, bottom+22
			}
			f.box(x, bottom+16, 14, 14, colours[i%len(colours)])
			f.label(x+20, bottom+28, "start", name)
			x += 44 + textWidth(name)
		}
	}
	f.title = what + ". " + strings.Join(said, "; ")
	return f
}
