package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/plots/diagram"
)

// A Path is the path of an optimizer through the plane of two parameters.
type Path struct {
	Name   string
	Points [][2]float64 // the start first
}

// Plane is the part of the parameters' plane that [Paths] shows.
type Plane struct{ MinX, MaxX, MinY, MaxY float64 }

// Paths draws the contour lines of a loss with two parameters, and the paths that
// optimizers took: a ring where each begins, a dot at each step, and a larger one
// where it ends. It panics if the plane is empty.
func Paths(loss func(x, y float64) float64, plane Plane, paths ...Path) *diagram.Figure {
	if !(plane.MinX < plane.MaxX && plane.MinY < plane.MaxY) {
		panic(fmt.Errorf("plots: paths: %+v is empty; give bounds with the minimum below the maximum", plane))
	}
	p := newPlot("first parameter", "second parameter", false)
	field := sample(loss, plane)
	if levels := field.levels(14); len(levels) > 0 {
		contour := plotter.NewContour(field, levels, nil)
		contour.LineStyles = []draw.LineStyle{{Color: color.NRGBA{A: 80}, Width: 1}}
		p.Add(drawn(func(c draw.Canvas, p *plot.Plot) {
			// gonum keeps contours in a map and draws them in a random order.
			page(c).merged(func() { contour.Plot(c, p) })
		}))
	}
	var keys []key
	var said []string
	for i, path := range paths {
		keys = append(keys, lineKey(path.Name, style(i)))
		p.Add(drawn(func(c draw.Canvas, p *plot.Plot) { path.draw(c, p, i) }))
		if n := len(path.Points); n > 0 {
			a, b := path.Points[0], path.Points[n-1]
			before, after := loss(a[0], a[1]), loss(b[0], b[1])
			x, y, l := plane.MaxX-plane.MinX, plane.MaxY-plane.MinY, max(math.Abs(before), math.Abs(after))
			said = append(said, fmt.Sprintf("%s goes in %s from (%s, %s), loss %s, to (%s, %s), loss %s", path.Name, humanize.Count(n-1, "step"),
				beside(x, a[0]), beside(y, a[1]), beside(l, before), beside(x, b[0]), beside(y, b[1]), beside(l, after)))
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = plane.MinX, plane.MaxX, plane.MinY, plane.MaxY
	return figure("Paths of optimizers on a loss of two parameters", strings.Join(said, "; "), 480, 400, keys, p.Draw)
}

func (path Path) draw(c draw.Canvas, p *plot.Plot, number int) {
	trX, trY := p.Transforms(&c)
	var points []vg.Point
	for _, q := range path.Points {
		if math.IsNaN(q[0]+q[1]) || math.IsInf(q[0]+q[1], 0) {
			break // it has diverged
		}
		points = append(points, vg.Point{X: trX(q[0]), Y: trY(q[1])})
	}
	if len(points) == 0 {
		return
	}
	line := style(number)
	line.Width = 1.6
	c.StrokeLines(line, c.ClipLinesXY(points)...)
	every := max(1, len(points)/60)
	for i, at := range points {
		if !c.Contains(at) {
			continue
		}
		switch {
		case i == 0:
			ring(c, at, 5, line)
		case i == len(points)-1:
			dot(c, at, 4.5, line)
		case i%every == 0:
			dot(c, at, 1.8, line)
		}
	}
}

// gridSize is how many values of the loss are computed along each axis.
const gridSize = 50

// field is a loss on a grid, as gonum's contours need it.
type field struct {
	plane  Plane
	values []float64
}

func sample(loss func(x, y float64) float64, plane Plane) *field {
	f := &field{plane, make([]float64, gridSize*gridSize)}
	for r := range gridSize {
		for c := range gridSize {
			f.values[r*gridSize+c] = loss(f.X(c), f.Y(r))
		}
	}
	// Contours can't be drawn through infinities or NaN: these become a plain at the
	// height of the highest point.
	finite := slices.DeleteFunc(slices.Clone(f.values), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	if len(finite) == 0 {
		clear(f.values)
		return f
	}
	highest := slices.Max(finite)
	for i, x := range f.values {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			f.values[i] = highest
		}
	}
	return f
}

// Dims, X, Y and Z implement plotter.GridXYZ.

func (f *field) Dims() (c, r int)   { return gridSize, gridSize }
func (f *field) Z(c, r int) float64 { return f.values[r*gridSize+c] }
func (f *field) X(c int) float64 {
	return f.plane.MinX + (f.plane.MaxX-f.plane.MinX)*float64(c)/(gridSize-1)
}
func (f *field) Y(r int) float64 {
	return f.plane.MinY + (f.plane.MaxY-f.plane.MinY)*float64(r)/(gridSize-1)
}

// levels returns the losses whose contours are drawn: quantiles, closer to each other
// near the minimum, where the paths end. A loss that is the same everywhere has none.
func (f *field) levels(n int) []float64 {
	sorted := slices.Sorted(slices.Values(f.values))
	if sorted[0] == sorted[len(sorted)-1] {
		return nil
	}
	var levels []float64
	for i := range n {
		q := math.Pow((float64(i)+0.5)/float64(n), 1.7)
		levels = append(levels, sorted[int(q*float64(len(sorted)-1))])
	}
	return slices.Compact(levels)
}
