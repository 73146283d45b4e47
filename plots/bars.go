package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/plots/diagram"
)

// Utilization is a measured speed beside the peak, in FLOP/s.
type Utilization struct {
	Name         string
	Actual, Peak float64
}

// Measured returns the utilization of a timing under its own peak. The error is that
// of [accounting.Timing.Peak].
func Measured(name string, t accounting.Timing) (Utilization, error) {
	peak, err := t.Peak()
	return Utilization{name, t.PerSecond(), peak}, err
}

// MFU draws model FLOPs utilization: for each measurement, a bar within the outline of
// the peak. The marks between the bars show an MFU of one half, from which the
// hardware counts as well used.
func MFU(measurements ...Utilization) *diagram.Figure {
	b := bars{value: "MFU (actual / peak FLOP/s)", max: 1}
	for _, u := range measurements {
		mfu := 0.
		if u.Peak > 0 {
			mfu = u.Actual / u.Peak
		}
		b.max = max(b.max, mfu)
		b.add(u.Name, mfu, fmt.Sprintf("%.2f: %sFLOP/s of %sFLOP/s", mfu, short3(u.Actual), short3(u.Peak)))
	}
	p := b.plot(true)
	p.Add(drawn(func(c draw.Canvas, p *plot.Plot) {
		trX, trY := p.Transforms(&c)
		for i := range measurements {
			y := b.y(i)
			c.SetLineStyle(draw.LineStyle{Color: faintColor, Width: 1})
			c.Stroke(rectangle(trX(0), trY(y-barHalf), trX(1), trY(y+barHalf)))
		}
		for i := range len(measurements) + 1 { // between the bars, where there is no text
			y := float64(i) + 0.5
			c.StrokeLine2(draw.LineStyle{Color: textColor, Width: 1.5}, trX(0.5), trY(y-0.12), trX(0.5), trY(y+0.12))
		}
	}))
	height := 92 + 34*float64(len(measurements))
	return figure("Model FLOPs utilization", strings.Join(b.said, "; "), height, height, nil, p.Draw)
}

// A Recipe is what a training run in some precision cost and achieved.
type Recipe struct {
	Name    string
	Loss    float64 // the last one; NaN or infinite if training diverged
	Seconds float64 // for a step
	Bytes   int     // of memory, at the peak
}

// Recipes compares precision recipes by loss, time and memory, in three panels, each
// with its own scale. Shorter is better in all of them.
func Recipes(recipes ...Recipe) *diagram.Figure {
	panels := []bars{{value: "final loss"}, {value: "time per step"}, {value: "peak memory"}}
	var said []string
	slowest, largest := 0., 0.
	for _, r := range recipes {
		slowest, largest = max(slowest, r.Seconds), max(largest, float64(r.Bytes))
	}
	perSecond, secondUnit := unit(slowest, []string{"s", "ms", "µs", "ns"}, 1000, false)
	perByte, byteUnit := unit(largest, []string{"bytes", "KiB", "MiB", "GiB"}, 1024, true)
	panels[1].value += " (" + secondUnit + ")"
	panels[2].value += " (" + byteUnit + ")"
	for _, r := range recipes {
		loss, text := r.Loss, fmt.Sprintf("%.3g", r.Loss)
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			loss, text = 0, "diverged"
		}
		panels[0].add(r.Name, loss, text)
		panels[1].add(r.Name, r.Seconds*perSecond, fmt.Sprintf("%.3g", r.Seconds*perSecond))
		panels[2].add(r.Name, float64(r.Bytes)*perByte, fmt.Sprintf("%.4g", float64(r.Bytes)*perByte))
		said = append(said, fmt.Sprintf("%s: loss %s, %.3g %s a step, %.4g %s", r.Name, text, r.Seconds*perSecond, secondUnit, float64(r.Bytes)*perByte, byteUnit))
	}
	rows := 30 * float64(len(recipes))
	return figure("Precision recipes", strings.Join(said, "; "), 92+rows, 32+3*(60+0.8*rows), nil, func(c draw.Canvas) {
		if onPhone(c) { // one panel below the other
			height := (c.Max.Y - c.Min.Y) / 3
			for i := range panels {
				panel := c
				panel.Max.Y -= vg.Length(i) * height
				panel.Min.Y = panel.Max.Y - height + 8
				panels[i].plot(true).Draw(panel)
			}
			return
		}
		names := vg.Length(0)
		for _, r := range recipes {
			names = max(names, textStyle(11).Width(r.Name))
		}
		width := (c.Max.X - c.Min.X - names - 8) / 3
		x := c.Min.X
		for i := range panels {
			panel := c
			panel.Min.X, x = x, x+width
			if i == 0 {
				x += names + 8
			}
			panel.Max.X = x - 6
			panels[i].plot(i == 0).Draw(panel)
		}
	})
}

// unit returns the factor that makes the largest value easy to read, and the resulting
// unit: a larger one for bytes, a smaller one for seconds.
func unit(largest float64, names []string, step float64, up bool) (factor float64, name string) {
	factor = 1
	for i, name := range names {
		scaled := largest * factor
		if i == len(names)-1 || up && scaled < 10*step || !up && scaled >= 1 || largest == 0 {
			return factor, name
		}
		if up {
			factor /= step
		} else {
			factor *= step
		}
	}
	return factor, names[0]
}

// bars are horizontal bars below each other, with a text at the end of each.
type bars struct {
	value  string // what is measured, with its unit
	max    float64
	names  []string
	values []float64
	texts  []string
	said   []string
}

// barHalf is half the height of a bar; rows are one apart.
const barHalf = 0.34

func (b *bars) add(name string, value float64, text string) {
	b.names, b.values, b.texts = append(b.names, name), append(b.values, value), append(b.texts, text)
	b.said = append(b.said, name+" "+text)
}

// y is the middle of the i-th bar; the first is on top.
func (b *bars) y(i int) float64 { return float64(len(b.names) - i) }

// plot returns the bars, with or without their names.
func (b *bars) plot(named bool) *plot.Plot {
	p := newPlot(b.value, "", true)
	var ticks plot.ConstantTicks
	for i, name := range b.names {
		if !named {
			name = ""
		}
		ticks = append(ticks, plot.Tick{Value: b.y(i), Label: name})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Label.Color = textColor
	p.Y.Min, p.Y.Max = 0.4, float64(len(b.names))+0.6
	highest := b.max
	if len(b.values) > 0 {
		highest = max(highest, slices.Max(b.values)*1.02)
	}
	p.X.Min, p.X.Max = 0, highest
	settle(&p.X, false)
	p.X.Padding = 0
	p.Add(drawn(func(c draw.Canvas, p *plot.Plot) {
		trX, trY := p.Transforms(&c)
		s := textStyle(11)
		s.YAlign = draw.YCenter
		for i, v := range b.values {
			low, high := trY(b.y(i)-barHalf), trY(b.y(i)+barHalf)
			c.SetColor(faded(styles[0].Color, 110))
			c.Fill(rectangle(trX(0), low, trX(v), high))
			at := vg.Point{X: trX(v) + 5, Y: trY(b.y(i))}
			if over := at.X + s.Width(b.texts[i]) - c.Max.X; over > 0 { // inside the bar
				at.X = max(trX(0)+4, trX(v)-5-s.Width(b.texts[i]))
			}
			c.FillText(s, at, b.texts[i])
		}
	}))
	return p
}

func rectangle(x1, y1, x2, y2 vg.Length) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: x1, Y: y1})
	p.Line(vg.Point{X: x2, Y: y1})
	p.Line(vg.Point{X: x2, Y: y2})
	p.Line(vg.Point{X: x1, Y: y2})
	p.Close()
	return p
}
