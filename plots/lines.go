package plots

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/plots/diagram"
)

// Axes is what surrounds a chart: its title and its axes.
type Axes struct {
	Title      string
	X, Y       string // with the unit: "step", "learning rate", "time (ms)"
	LogX, LogY bool   // count in powers of ten; values that are not positive are left out
}

// A Series is a line of a chart.
type Series struct {
	Name string
	X, Y []float64 // X may be nil: 0, 1, 2, ...
}

// Run names the values of one run, a value for each step.
func Run(name string, values []float64) Series { return Series{Name: name, Y: values} }

// point returns the i-th point, and whether it can be drawn.
func (s *Series) point(i int, a Axes) (x, y float64, ok bool) {
	x, y = float64(i), s.Y[i]
	if s.X != nil {
		x = s.X[i]
	}
	ok = !math.IsNaN(x+y) && !math.IsInf(x, 0) && !math.IsInf(y, 0) && (!a.LogX || x > 0) && (!a.LogY || y > 0)
	return x, y, ok
}

// Lines draws series as lines, with a legend if there are several. A line is
// broken where a value is NaN or infinite. Long series keep the extremes of each
// pixel. It panics if a series has X and Y of different lengths.
func Lines(a Axes, series ...Series) *diagram.Figure {
	p := newPlot(a.X, a.Y, false)
	if a.LogX {
		logScale(&p.X)
	}
	if a.LogY {
		logScale(&p.Y)
	}
	var keys []key
	var said []string
	for i := range series {
		s := &series[i]
		if s.X != nil && len(s.X) != len(s.Y) {
			panic(fmt.Errorf("plots: lines: %q has %s of x and %d of y; give one x for each y, or none", s.Name, humanize.Count(len(s.X), "value"), len(s.Y)))
		}
		for k := range s.Y {
			if x, y, ok := s.point(k, a); ok {
				p.X.Min, p.X.Max = min(p.X.Min, x), max(p.X.Max, x)
				p.Y.Min, p.Y.Max = min(p.Y.Min, y), max(p.Y.Max, y)
			}
		}
		p.Add(drawn(func(c draw.Canvas, p *plot.Plot) { s.draw(c, p, a, i) }))
		if len(series) > 1 {
			keys = append(keys, lineKey(s.Name, style(i)))
		}
		said = append(said, s.sentence(a))
	}
	settle(&p.X, a.LogX)
	settle(&p.Y, a.LogY)
	alt := strings.Join(said, "; ")
	if alt == "" {
		alt = "no values"
	}
	return figure(a.Title, fmt.Sprintf("%s over %s: %s", orWord(a.Y, "y"), orWord(a.X, "x"), alt), chartHeight, phoneHeight, keys, p.Draw)
}

func orWord(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// settle gives a range to an axis without values, or with one value. Values that differ in their last bits count as
// one: between them there is no room for ticks, nor, on a log axis, for logarithms that differ.
func settle(axis *plot.Axis, log bool) {
	if axis.Min < axis.Max && (tight(axis.Min, axis.Max) || log && tight(math.Log(axis.Min), math.Log(axis.Max))) {
		axis.Max = axis.Min
	}
	switch {
	case axis.Min > axis.Max && log:
		axis.Min, axis.Max = 1, 10
	case axis.Min > axis.Max:
		axis.Min, axis.Max = 0, 1
	case axis.Min == axis.Max && log:
		axis.Min, axis.Max = axis.Min/2, axis.Max*2
	case axis.Min == axis.Max:
		gap := math.Abs(axis.Min) / 10
		if gap == 0 {
			gap = 1
		}
		axis.Min, axis.Max = axis.Min-gap, axis.Max+gap
	}
}

// tight reports whether a range has room for less than about a dozen numbers of the size of its ends.
func tight(low, high float64) bool {
	far := max(math.Abs(low), math.Abs(high))
	return high-low < 12*(far-math.Nextafter(far, 0))
}

// draw draws the line, with no more points than can be seen.
func (s *Series) draw(c draw.Canvas, p *plot.Plot, a Axes, number int) {
	trX, trY := p.Transforms(&c)
	var line []vg.Point
	flush := func() {
		switch len(line) {
		case 0:
		case 1: // a lone point would not be visible as a line
			dot(c, line[0], 2.5, style(number))
		default:
			c.StrokeLines(style(number), line)
		}
		line = nil
	}
	const pixels = 2.
	for i := 0; i < len(s.Y); {
		x, _, ok := s.point(i, a)
		if !ok {
			flush()
			i++
			continue
		}
		// The values within two pixels are reduced to their first, lowest, highest and last.
		start := trX(x)
		low, high, last := i, i, i
		for k := i + 1; k < len(s.Y); k++ {
			xk, yk, ok := s.point(k, a)
			if !ok || math.Abs(float64(trX(xk)-start)) > pixels {
				break
			}
			if yk < s.Y[low] {
				low = k
			}
			if yk > s.Y[high] {
				high = k
			}
			last = k
		}
		kept := []int{i, min(low, high), max(low, high), last}
		for k, at := range kept {
			if k > 0 && at == kept[k-1] {
				continue
			}
			x, y, _ := s.point(at, a)
			line = append(line, vg.Point{X: trX(x), Y: trY(y)})
		}
		i = last + 1
	}
	flush()
}

// dot draws a filled circle.
func dot(c draw.Canvas, at vg.Point, radius vg.Length, s draw.LineStyle) {
	c.SetColor(s.Color)
	c.Fill(circle(at, radius))
}

// ring draws a circle.
func ring(c draw.Canvas, at vg.Point, radius vg.Length, s draw.LineStyle) {
	s.Dashes = nil
	c.SetLineStyle(s)
	c.Stroke(circle(at, radius))
}

func circle(at vg.Point, radius vg.Length) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: at.X + radius, Y: at.Y})
	p.Arc(at, radius, 0, 2*math.Pi)
	p.Close()
	return p
}

// sentence describes a series for readers who can't see it.
func (s *Series) sentence(a Axes) string {
	first, last, low, high := -1, -1, -1, -1
	broken := 0
	for i := range s.Y {
		_, y, ok := s.point(i, a)
		if !ok {
			broken++
			continue
		}
		if first < 0 {
			first, low, high = i, i, i
		}
		if y < s.Y[low] {
			low = i
		}
		if y > s.Y[high] {
			high = i
		}
		last = i
	}
	name := ""
	if s.Name != "" {
		name = s.Name + " "
	}
	if first < 0 {
		return name + "has no values to draw"
	}
	x0, y0, _ := s.point(first, a)
	x1, y1, _ := s.point(last, a)
	say := func(x, y float64) string {
		sizeX, sizeY := max(math.Abs(x0), math.Abs(x1)), max(math.Abs(s.Y[low]), math.Abs(s.Y[high]))
		if a.LogX {
			sizeX = 0
		}
		if a.LogY {
			sizeY = 0
		}
		return beside(sizeY, y) + " at " + beside(sizeX, x)
	}
	text := fmt.Sprintf("%sgoes from %s to %s", name, say(x0, y0), say(x1, y1))
	if s.Y[low] < min(y0, y1) {
		x, y, _ := s.point(low, a)
		text += ", lowest " + say(x, y)
	}
	if s.Y[high] > max(y0, y1) {
		x, y, _ := s.point(high, a)
		text += ", highest " + say(x, y)
	}
	if broken > 0 {
		text += fmt.Sprintf(", %d not drawn", broken)
	}
	return text
}

// Loss draws the losses of runs, a value for each step, on a scale of powers of
// ten if they fall by more than a factor of 20 and are all positive. Values that
// are NaN or infinite leave a gap.
func Loss(runs ...Series) *diagram.Figure {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range runs {
		for k := range runs[i].Y {
			if _, y, ok := runs[i].point(k, Axes{}); ok {
				low, high = min(low, y), max(high, y)
			}
		}
	}
	title := "Loss"
	if len(runs) == 1 && runs[0].Name != "" {
		title += ", " + runs[0].Name
	}
	return Lines(Axes{Title: title, X: "step", Y: "loss", LogY: low > 0 && high/low > 20}, runs...)
}

// A Schedule gives a learning rate for each step.
type Schedule struct {
	Name string
	At   func(step int) float64
}

// Schedules draws learning rates over a number of steps. It panics if steps is
// not positive.
func Schedules(steps int, schedules ...Schedule) *diagram.Figure {
	if steps <= 0 {
		panic(fmt.Errorf("plots: schedules: %s; give a positive number", humanize.Count(steps, "step")))
	}
	series := make([]Series, len(schedules))
	for i, s := range schedules {
		values := make([]float64, steps)
		for step := range values {
			values[step] = s.At(step)
		}
		series[i] = Run(s.Name, values)
	}
	return Lines(Axes{Title: "Learning-rate schedules", X: "step", Y: "learning rate"}, series...)
}
