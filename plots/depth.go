package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lectern-go/lectern/plots/diagram"
	"github.com/lectern-go/lectern/tensor"
)

// A Stack holds the values at each depth of a network, beginning with the first layer.
type Stack struct {
	Name   string // how the network was initialized
	Layers []*tensor.Tensor
}

// Depth draws a histogram of the values of each layer, the first at the top, for
// several networks side by side: whether activations keep their size, shrink or grow on their way. Each row has its
// own height; σ is its standard deviation. All columns share one axis, so that widths can be compared: it covers all
// but the outermost thousandth of each column's values. what names the values, such as "activation".
func Depth(what string, stacks ...Stack) *diagram.Figure {
	rows := 1
	for _, s := range stacks {
		rows = max(rows, len(s.Layers))
	}
	height := 96 + 34*float64(rows)
	var said []string
	for _, s := range stacks {
		var stds []string
		for _, t := range s.Layers {
			_, std, finite := moments(t.Floats())
			stds = append(stds, stdText(std, finite))
		}
		said = append(said, fmt.Sprintf("%s, standard deviation by layer: %s", s.Name, strings.Join(stds, ", ")))
	}
	title := fmt.Sprintf("Distribution of each layer's %ss", what)
	low, high := valueRange(stacks)
	tall := 60 + (62+28*float64(rows))*float64(len(stacks))
	return figure(title, strings.Join(said, "; "), height, tall, nil, func(c draw.Canvas) {
		if onPhone(c) { // one network below the other
			each := (c.Max.Y - c.Min.Y) / vg.Length(max(len(stacks), 1))
			for i, s := range stacks {
				panel := c
				panel.Max.Y -= vg.Length(i) * each
				panel.Min.Y = panel.Max.Y - each + 10
				s.draw(panel, what, rows, i, low, high)
			}
			return
		}
		width := (c.Max.X - c.Min.X) / vg.Length(max(len(stacks), 1))
		for i, s := range stacks {
			panel := c
			panel.Min.X, panel.Max.X = c.Min.X+vg.Length(i)*width, c.Min.X+vg.Length(i+1)*width-6
			s.draw(panel, what, rows, i, low, high)
		}
	})
}

// valueRange returns a range of round numbers that holds all but the outermost thousandth of the values of each stack.
func valueRange(stacks []Stack) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range stacks {
		var all []float64
		for _, t := range s.Layers {
			for _, x := range t.Floats() {
				if !math.IsNaN(x) && !math.IsInf(x, 0) {
					all = append(all, x)
				}
			}
		}
		slices.Sort(all)
		if n := len(all); n > 0 {
			low, high = min(low, all[n/1000]), max(high, all[n-1-n/1000])
		}
	}
	if low > high { // no values at all
		return 0, 0
	}
	return roundOutward(low, high)
}

func (s Stack) draw(c draw.Canvas, what string, rows, column int, low, high float64) {
	p := newPlot(what, "", true)
	p.X.Min, p.X.Max = low, high
	settle(&p.X, false)
	p.Y.Min, p.Y.Max = 0.3, float64(rows)+0.75
	var ticks plot.ConstantTicks
	for i := range s.Layers {
		ticks = append(ticks, plot.Tick{Value: float64(rows - i), Label: fmt.Sprint(i + 1)})
	}
	p.Y.Tick.Marker = ticks
	if column == 0 || onPhone(c) {
		p.Y.Label.Text = "layer"
	}
	name := textStyle(textSize)
	name.YAlign, name.XAlign = draw.YTop, draw.XCenter
	c.FillText(name, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: c.Max.Y}, s.Name)
	const bins = 40
	for i, t := range s.Layers {
		counts := make([]float64, bins)
		highest := 0.
		values := t.Floats()
		for _, x := range values {
			if k := (x - p.X.Min) / (p.X.Max - p.X.Min) * bins; k >= 0 && k <= bins {
				bin := min(int(k), bins-1) // the last one has both its ends, as numpy's does
				counts[bin]++
				highest = max(highest, counts[bin])
			}
		}
		_, std, finite := moments(values)
		base := float64(rows - i)
		p.Add(drawn(func(c draw.Canvas, p *plot.Plot) {
			trX, trY := p.Transforms(&c)
			at := func(bin int, height float64) vg.Point {
				return vg.Point{X: trX(p.X.Min + (p.X.Max-p.X.Min)*float64(bin)/bins), Y: trY(base - 0.3 + 0.8*height)}
			}
			outline := []vg.Point{at(0, 0)}
			for k, n := range counts {
				h := 0.
				if highest > 0 {
					h = n / highest
				}
				if last := at(k, h); last != outline[len(outline)-1] {
					outline = append(outline, last)
				}
				if end := at(k+1, h); k+1 == bins || counts[k+1] != n { // otherwise the line just continues
					outline = append(outline, end)
				}
			}
			outline = append(outline, at(bins, 0))
			line := draw.LineStyle{Color: style(column).Color, Width: 1.2}
			c.FillPolygon(faded(line.Color, 90), outline)
			c.StrokeLines(line, outline)
			text := textStyle(11)
			text.Color, text.YAlign = faintColor, draw.YCenter
			c.FillText(text, vg.Point{X: c.Max.X + 5, Y: trY(base)}, "σ "+stdText(std, finite))
		}))
	}
	p.Draw(draw.Crop(c, 0, -52, 0, -18))
}

// roundOutward widens a range to steps of a tenth of its power of ten, so that the edges of bins are round numbers.
// With edges at the values themselves, the last bit of a sum, which differs between processors, would move values from
// bin to bin.
func roundOutward(low, high float64) (float64, float64) {
	step := math.Pow10(int(math.Floor(math.Log10(high-low))) - 1)
	if low >= high || math.IsInf(high-low, 1) || step == 0 { // too wide or too narrow for a float64
		return low, high
	}
	return math.Floor(low/step) * step, math.Ceil(high/step) * step
}

// moments returns mean and standard deviation, and whether all values are
// finite.
func moments(values []float64) (mean, std float64, finite bool) {
	n := float64(max(len(values), 1))
	for _, x := range values {
		mean += x / n
	}
	for _, x := range values {
		std += (x - mean) * (x - mean) / n
	}
	std = math.Sqrt(std)
	return mean, std, !math.IsNaN(std) && !math.IsInf(std, 0)
}

func stdText(std float64, finite bool) string {
	if !finite {
		return "not finite"
	}
	return fmt.Sprintf("%.2g", std)
}
