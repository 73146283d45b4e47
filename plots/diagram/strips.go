package diagram

import (
	"fmt"
	"slices"
	"strings"
)

// A Strip is one row of [Strips]: things of one kind in their order, such as the numbers that a generator gave.
type Strip struct {
	Name  string
	Parts []Part
}

// A Part is a run of neighbours in a [Strip] that serve the same purpose.
type Part struct {
	Name   string
	Length int
}

// Strips draws rows of small boxes, a box for each thing, and what they are used for: parts of the same name have the same colour in all
// rows, so that one sees where a part has moved. A part's name stands above it where there is room. what says what the boxes are, such as "Numbers drawn".
// It panics if a length is negative.
//
//	diagram.Strips("Numbers drawn",
//		diagram.Strip{Name: "one layer", Parts: []diagram.Part{{"layer 1", 8}, {"order", 10}}},
//		diagram.Strip{Name: "two layers", Parts: []diagram.Part{{"layer 1", 8}, {"layer 2", 8}, {"order", 10}}})
func Strips(what string, strips ...Strip) *Figure {
	f := &Figure{}
	const widest, largest, row = 560., 20., 52.
	longest, left := 1, 0.
	for _, s := range strips {
		n := 0
		for _, p := range s.Parts {
			if p.Length < 0 {
				panic(fmt.Errorf("diagram: strips: part %q of %q has %d boxes", p.Name, s.Name, p.Length))
			}
			n += p.Length
		}
		longest, left = max(longest, n), max(left, 1.1*textWidth(s.Name)+14)
	}
	size := min(largest, widest/float64(longest))
	colours := []string{blue, green, purple, red, orange}
	var names, said []string
	for i, s := range strips {
		x, y := left, float64(i)*row+18
		f.label(left-10, y+size/2+5, "end", s.Name)
		var parts []string
		for _, p := range s.Parts {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
			w := float64(p.Length) * size
			if w > textWidth(p.Name)*0.9+4 {
				f.label(x+w/2, y-5, "middle", p.Name, `font-size="12"`)
			}
			for j := range p.Length {
				f.box(x+float64(j)*size, y, size, size, colours[slices.Index(names, p.Name)%len(colours)])
			}
			x += w
			parts = append(parts, fmt.Sprintf("%d for %s", p.Length, p.Name))
		}
		said = append(said, s.Name+": "+strings.Join(parts, ", "))
	}
	f.title = what + ", in order. " + strings.Join(said, "; ")
	return f
}
