package diagram

import (
	"fmt"

	"github.com/lectern-go/lectern/accounting"
)

// Devices draws a processor and a card with their memories. The roads between
// them are as wide as bytes per second that they carry: from the processor's
// memory to it (host), between the two memories (link), and from the card's memory
// to its multiprocessors, as its data sheet has it.
func Devices(card accounting.Device, host, link float64) *Figure {
	f := &Figure{title: fmt.Sprintf("A processor reads its memory at %s; between that and the memory of the %s go %s; the %s reads its own memory at %s",
		gigabytes(host), card.Name, gigabytes(link), card.Name, gigabytes(card.BytesPerSecond))}
	const (
		width, height = 190., 64.
		gap, across   = 96., 230. // between memory and what computes, and between the two devices
		widest        = 70.       // of a road
	)
	scale := widest / max(card.BytesPerSecond, host, link)
	road := func(x, y float64, upright bool, speed float64) {
		w, length := max(speed*scale, 0.5), gap
		if !upright {
			length = across
			f.road(x, y-w/2, length, w)
			f.label(x+length/2, y-12, "middle", gigabytes(speed), bold)
			return
		}
		f.road(x-w/2, y, w, length)
		f.label(x+w/2+10, y+length/2+5, "start", gigabytes(speed), bold)
	}
	place := func(x, y float64, name, note, fill string) {
		f.box(x, y, width, height, fill)
		f.label(x+width/2, y+height/2-3, "middle", name, bold)
		f.label(x+width/2, y+height/2+16, "middle", note, faint)
	}
	right := width + across
	road(width/2, height, true, host)
	road(right+width/2, height, true, card.BytesPerSecond)
	road(width, 1.5*height+gap, false, link)
	place(0, 0, "cpu", "a few cores", blue)
	place(0, height+gap, "its memory", "where tensors are made", plain)
	place(right, 0, "cuda:0", "a hundred multiprocessors", orange)
	place(right, height+gap, "its memory", fmt.Sprintf("%.0f GB, soldered on", card.Memory/1e9), plain)
	f.label(width+across/2, 1.5*height+gap+24, "middle", "To, both ways", faint)
	return f
}

func gigabytes(perSecond float64) string { return fmt.Sprintf("%.0f GB/s", perSecond/1e9) }

// road draws a filled rectangle without an edge.
func (f *Figure) road(x, y, w, h float64) {
	f.include(x+w, y+h)
	fmt.Fprintf(&f.body, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`, number(x), number(y), number(w), number(h), lineBlue)
}
