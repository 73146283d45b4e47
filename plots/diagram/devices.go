package diagram

import (
	"fmt"

	"github.com/lectern-go/lectern/accounting"
)

// Devices draws a processor and a card with their memories. The roads between them are
// as wide as the bytes per second that they carry: from the processor's memory to the
// processor (host), between the two memories (link), and from the card's memory to its
// multiprocessors, according to its data sheet.
func Devices(card accounting.Device, host, link float64) *Figure {
	return fitted(func(phone bool) *Figure { return drawDevices(card, host, link, phone) })
}

func drawDevices(card accounting.Device, host, link float64, phone bool) *Figure {
	f := &Figure{title: fmt.Sprintf("A processor reads its memory at %s; between that and the memory of the %s go %s; the %s reads its own memory at %s",
		gigabytes(host), card.Name, gigabytes(link), card.Name, gigabytes(card.BytesPerSecond))}
	const (
		gap    = 96. // between a memory and what computes
		widest = 70. // of a road
	)
	width, height, across := 190., 64., 230. // of a place, and between the two devices
	if phone {
		width, height, across = 122, 80, phoneWidth-2*122
	}
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
		if phone && x > width {
			f.label(x-w/2-10, y+length/2+5, "end", gigabytes(speed), bold)
			return
		}
		f.label(x+w/2+10, y+length/2+5, "start", gigabytes(speed), bold)
	}
	place := func(x, y float64, name, note, fill string) {
		f.box(x, y, width, height, fill)
		notes := lines(note, width)
		at := y + height/2 + 6.5 - 9.5*float64(len(notes))
		f.label(x+width/2, at, "middle", name, bold)
		for _, n := range notes {
			at += 19
			f.label(x+width/2, at, "middle", n, faint)
		}
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
