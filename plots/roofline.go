package plots

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/plots/diagram"
)

// Roofline draws what machines can do at each arithmetic intensity: a slope where memory
// is the limit, and a flat roof where arithmetic is. A ring on the roof is what an
// operation could reach, and a dot is what was measured. It panics if a machine's bounds
// are not positive and finite.
func Roofline(reports ...accounting.RooflineReport) *diagram.Figure {
	p := newPlot("arithmetic intensity (FLOP/byte)", "speed (FLOP/s)", false)
	logScale(&p.X)
	logScale(&p.Y)
	see := func(x, y float64) {
		if x > 0 && y > 0 && !math.IsInf(x+y, 0) {
			p.X.Min, p.X.Max = min(p.X.Min, x), max(p.X.Max, x)
			p.Y.Min, p.Y.Max = min(p.Y.Min, y), max(p.Y.Max, y)
		}
	}
	var keys []key
	var said []string
	for _, r := range reports {
		if m := r.Machine; !(m.PeakPerSecond > 0 && m.BytesPerSecond > 0) || math.IsInf(m.PeakPerSecond+m.BytesPerSecond, 0) {
			panic(fmt.Errorf("plots: roofline: %q has a peak of %v FLOP/s and moves %v bytes a second; give positive, finite numbers", m.Name, m.PeakPerSecond, m.BytesPerSecond))
		}
		ridge := r.Machine.Intensity()
		see(ridge/10, r.Machine.PeakPerSecond)
		see(ridge*4, r.Machine.PeakPerSecond*1.4)
		for _, o := range r.Operations {
			see(o.Intensity()/1.6, r.Machine.Attainable(o.Intensity())/2)
			see(o.Intensity()*3, r.Machine.Attainable(o.Intensity()))
			see(o.Intensity(), o.PerSecond()/1.5)
			see(o.Intensity(), o.PerSecond()) // which is above the roof if one of them is wrong
		}
	}
	for i, r := range reports {
		m := r.Machine
		keys = append(keys, lineKey(m.Name, style(i)))
		p.Add(drawn(func(c draw.Canvas, p *plot.Plot) { drawRoof(c, p, r, i) }))
		text := fmt.Sprintf("%s: %sFLOP/s at most, %sB/s, ridge at %.4g FLOP/byte", m.Name, short3(m.PeakPerSecond), short3(m.BytesPerSecond), m.Intensity())
		for _, o := range r.Operations {
			text += fmt.Sprintf("; %s at %.3g FLOP/byte could reach %sFLOP/s", o.Name, o.Intensity(), short3(m.Attainable(o.Intensity())))
			if o.Measured > 0 {
				text += fmt.Sprintf(", measured %sFLOP/s", short3(o.PerSecond()))
			}
		}
		said = append(said, text)
	}
	settle(&p.X, true)
	settle(&p.Y, true)
	return figure("Roofline", strings.Join(said, ". "), 440, 400, keys, p.Draw)
}

func drawRoof(c draw.Canvas, p *plot.Plot, r accounting.RooflineReport, number int) {
	trX, trY := p.Transforms(&c)
	m, line := r.Machine, style(number)
	at := func(intensity, speed float64) vg.Point { return vg.Point{X: trX(intensity), Y: trY(speed)} }
	lowest := max(p.X.Min, p.Y.Min/m.BytesPerSecond)
	ridge := m.Intensity()
	roof := []vg.Point{at(lowest, m.Attainable(lowest))}
	if ridge > p.X.Min && ridge < p.X.Max {
		roof = append(roof, at(ridge, m.PeakPerSecond))
	}
	c.StrokeLines(line, append(roof, at(p.X.Max, m.Attainable(p.X.Max))))
	if ridge > p.X.Min && ridge < p.X.Max {
		thin := draw.LineStyle{Color: faded(line.Color, 140), Width: 1, Dashes: []vg.Length{3, 3}}
		c.StrokeLine2(thin, trX(ridge), c.Min.Y, trX(ridge), trY(m.PeakPerSecond))
		s := textStyle(11)
		s.Color, s.YAlign = faintColor, draw.YBottom
		c.FillText(s, vg.Point{X: trX(ridge) + 4, Y: c.Min.Y + 4 + vg.Length(13*number)}, fmt.Sprintf("ridge %.4g", ridge))
	}
	var taken []vg.Rectangle
	for _, o := range r.Operations {
		if o.Intensity() <= 0 {
			continue
		}
		could := at(o.Intensity(), m.Attainable(o.Intensity()))
		mark := could
		ring(c, could, 4.5, line)
		if o.Measured > 0 {
			mark = at(o.Intensity(), o.PerSecond())
			c.StrokeLine2(draw.LineStyle{Color: faded(line.Color, 140), Width: 1}, could.X, could.Y-5, mark.X, mark.Y)
			dot(c, mark, 4.5, line)
		}
		s := textStyle(11)
		s.YAlign = draw.YCenter
		// Beside the mark, or lower if another name is there.
		place := vg.Point{X: mark.X + 8, Y: mark.Y - 7}
		box := func() vg.Rectangle {
			return vg.Rectangle{Min: vg.Point{X: place.X, Y: place.Y - 6}, Max: vg.Point{X: place.X + s.Width(o.Name), Y: place.Y + 6}}
		}
		if over := place.X + s.Width(o.Name) - c.Max.X; over > 0 {
			place.X -= over
			place.Y -= 8
		}
		for tries := 0; tries < 12 && overlapsAny(box(), taken); tries++ {
			place.Y -= 6
		}
		taken = append(taken, box(), vg.Rectangle{Min: vg.Point{X: mark.X - 5, Y: mark.Y - 5}, Max: vg.Point{X: mark.X + 5, Y: mark.Y + 5}})
		c.FillText(s, place, o.Name)
	}
}

func overlapsAny(r vg.Rectangle, taken []vg.Rectangle) bool {
	for _, t := range taken {
		if r.Min.X < t.Max.X && t.Min.X < r.Max.X && r.Min.Y < t.Max.Y && t.Min.Y < r.Max.Y {
			return true
		}
	}
	return false
}

// short3 writes a number with three digits and a prefix: "989 T", to be followed
// by a unit.
func short3(x float64) string {
	prefixes := []string{"", "k", "M", "G", "T", "P", "E"}
	i := 0
	for r := rounded(x, 3); math.Abs(r) >= 1000 && i < len(prefixes)-1; r /= 1000 { // which may have the next prefix
		x /= 1000
		i++
	}
	return fmt.Sprintf("%.3g %s", x, prefixes[i])
}
