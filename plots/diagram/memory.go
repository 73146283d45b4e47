package diagram

import (
	"fmt"
	"math"
	"strings"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/internal/humanize"
)

// A MemoryBar is one bar of a [Memory] figure.
type MemoryBar struct {
	name  string
	bytes accounting.Bytes
}

// Bar names the bytes of a prediction or a measurement:
//
//	diagram.Memory(diagram.Bar("formula", formula.Bytes()), diagram.Bar("measured", report.Highest))
func Bar(name string, b accounting.Bytes) MemoryBar { return MemoryBar{name, b} }

// categoryColours are those of parameters, gradients, optimizer state,
// activations, data and temporaries.
var categoryColours = []string{blue, red, green, orange, purple, "currentColor"}

// Memory draws bytes by category as bars of stacked pieces, one below the other on the
// same scale, so that a prediction can be compared with a measurement.
func Memory(bars ...MemoryBar) *Figure {
	return fitted(func(phone bool) *Figure { return drawMemory(bars, phone) })
}

func drawMemory(bars []MemoryBar, phone bool) *Figure {
	f := &Figure{}
	const h = 30.
	width, row, steps, first := 620., 62., 4., 0. // first is where the first bar begins
	most, left := 1, 0.
	for _, b := range bars {
		most = max(most, b.bytes.Total())
		left = max(left, 1.1*textWidth(b.name)+14)
	}
	if phone { // names are above their bars
		left, row, steps, first = 20, 68, 3, 22
		width = phoneWidth - 2*left - 4
	}
	step := niceStep(float64(most) / steps)
	scale := width / (math.Ceil(float64(most)/step) * step)
	bottom := first + float64(len(bars))*row - (row - h) + 22
	for x := 0.; x <= float64(most)+step*0.999; x += step {
		f.line(thin, left+x*scale, first-4, left+x*scale, bottom)
		text := humanize.Thousands(int(x))
		if x == 0 {
			text = "0 bytes"
		}
		f.label(left+x*scale, bottom+15, "middle", text, faint)
	}
	var used [6]bool
	var said []string
	for i, b := range bars {
		y, x := first+float64(i)*row, left
		total := humanize.Thousands(b.bytes.Total()) + " bytes"
		if phone {
			f.label(left, y-7, "start", b.name+":")
			f.label(left+1.1*textWidth(b.name+":")+8, y-7, "start", total, bold)
		} else {
			f.label(left-10, y+h/2+5, "end", b.name)
		}
		var parts []string
		for c, n := range b.bytes {
			if n <= 0 {
				continue
			}
			used[c] = true
			w := float64(n) * scale
			f.box(x, y, w, h, categoryColours[c])
			if text := humanize.Thousands(n); w > textWidth(text)*0.9+4 {
				f.label(x+w/2, y+h/2+4, "middle", text, `font-size="12"`)
			}
			parts = append(parts, fmt.Sprintf("%s %s", accounting.Category(c), humanize.Thousands(n)))
			x += w
		}
		if !phone {
			f.label(x+8, y+h/2+4, "start", total, bold)
		}
		said = append(said, fmt.Sprintf("%s %s (%s)", b.name, total, strings.Join(parts, ", ")))
	}
	x, y := left, bottom+34
	for c, use := range used {
		if !use {
			continue
		}
		name := accounting.Category(c).String()
		if x > left && x+26+textWidth(name) > left+width {
			x, y = left, y+22
		}
		f.box(x, y, 14, 14, categoryColours[c])
		f.label(x+20, y+12, "start", name)
		x += 44 + textWidth(name)
	}
	f.title = "Memory by category: " + strings.Join(said, "; ")
	return f
}

// niceStep rounds a distance up to 1, 2, 2.5 or 5 times a power of ten, at
// least 1.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(max(x, 1))))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if step := m * power; step >= x && step == math.Trunc(step) {
			return step
		}
	}
	return 10 * power
}
