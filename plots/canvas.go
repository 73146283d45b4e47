package plots

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// canvas is a vg.Canvas that writes SVG elements, with one pixel per point of vg.
// Black stands for the color of the page's text.
type canvas struct {
	w, h     vg.Length
	elements []string
	state    state
	stack    []state
}

// state is what Push saves. at maps a point p to (a·x + c·y + e, b·x + d·y + f).
type state struct {
	a, b, c, d, e, f float64
	width            float64
	dashes           []vg.Length
	offset           float64
	color            color.Color
}

func newCanvas(w, h vg.Length) *canvas {
	// SVG counts y downwards.
	return &canvas{w: w, h: h, state: state{a: 1, d: -1, f: h.Points(), width: 1, color: color.Black}}
}

// page returns the canvas on which all parts of a chart are drawn.
func page(c draw.Canvas) *canvas {
	for {
		switch inner := c.Canvas.(type) {
		case draw.Canvas:
			c = inner
		case *canvas:
			return inner
		default:
			panic(fmt.Sprintf("plots: a chart of this package is drawn on a %T", inner))
		}
	}
}

// Size returns the size in points.
func (c *canvas) Size() (w, h vg.Length) { return c.w, c.h }

// The methods of vg.Canvas.

func (c *canvas) SetLineWidth(w vg.Length) { c.state.width = w.Points() }

func (c *canvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	c.state.dashes, c.state.offset = slices.Clone(pattern), offset.Points()
}

func (c *canvas) SetColor(col color.Color) {
	if col == nil {
		col = color.Black
	}
	c.state.color = col
}

func (c *canvas) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	s := c.state
	c.state.a, c.state.b = s.a*cos+s.c*sin, s.b*cos+s.d*sin
	c.state.c, c.state.d = s.c*cos-s.a*sin, s.d*cos-s.b*sin
}

func (c *canvas) Translate(p vg.Point) { c.state.e, c.state.f = c.at(p) }

func (c *canvas) Scale(x, y float64) {
	c.state.a, c.state.b = c.state.a*x, c.state.b*x
	c.state.c, c.state.d = c.state.c*y, c.state.d*y
}

func (c *canvas) Push() { c.stack = append(c.stack, c.state) }

func (c *canvas) Pop() {
	c.state = c.stack[len(c.stack)-1]
	c.stack = c.stack[:len(c.stack)-1]
}

// Stroke draws the lines of a path.
func (c *canvas) Stroke(p vg.Path) {
	if c.state.width <= 0 || len(p) == 0 {
		return
	}
	paint, opacity := ink(c.state.color)
	attributes := fmt.Sprintf(` fill="none" stroke="%s"`, paint)
	if opacity < 1 {
		attributes += fmt.Sprintf(` stroke-opacity="%s"`, number(opacity))
	}
	if c.state.width != 1 {
		attributes += fmt.Sprintf(` stroke-width="%s"`, number(c.state.width))
	}
	if len(c.state.dashes) > 0 {
		dashes := make([]string, len(c.state.dashes))
		for i, d := range c.state.dashes {
			dashes[i] = number(d.Points())
		}
		attributes += fmt.Sprintf(` stroke-dasharray="%s"`, strings.Join(dashes, " "))
	}
	c.elements = append(c.elements, pathStart+c.path(simplify(p))+`"`+attributes+`/>`)
}

// Fill fills a path.
func (c *canvas) Fill(p vg.Path) {
	paint, opacity := ink(c.state.color)
	if opacity == 0 || len(p) == 0 {
		return
	}
	attributes := fmt.Sprintf(` fill="%s"`, paint)
	if opacity < 1 {
		attributes += fmt.Sprintf(` fill-opacity="%s"`, number(opacity))
	}
	c.elements = append(c.elements, pathStart+c.path(simplify(p))+`"`+attributes+`/>`)
}

// FillString writes text from a point on its baseline.
func (c *canvas) FillString(f font.Face, p vg.Point, text string) {
	if f.Font.Size <= 0 || text == "" {
		return
	}
	x, y := c.at(p)
	paint, opacity := ink(c.state.color)
	attributes := fmt.Sprintf(` x="%s" y="%s" fill="%s"`, number(x), number(y), paint)
	if size := f.Font.Size.Points(); size != textSize {
		attributes += fmt.Sprintf(` font-size="%s"`, number(size))
	}
	if f.Font.Weight > 0 {
		attributes += ` font-weight="bold"`
	}
	if opacity < 1 {
		attributes += fmt.Sprintf(` fill-opacity="%s"`, number(opacity))
	}
	if angle := math.Atan2(c.state.b, c.state.a) * 180 / math.Pi; math.Abs(angle) > 0.05 {
		attributes += fmt.Sprintf(` transform="rotate(%s %s %s)"`, number(angle), number(x), number(y))
	}
	c.elements = append(c.elements, `<text`+attributes+`>`+html.EscapeString(text)+`</text>`)
}

// DrawImage is not needed by any chart of this package.
func (c *canvas) DrawImage(vg.Rectangle, image.Image) {
	panic("plots: a chart that holds an image can't be drawn")
}

// merged runs draw, which strokes paths in one style, and writes the paths as one
// element, in an order that does not depend on draw.
func (c *canvas) merged(draw func()) {
	start := len(c.elements)
	draw()
	var data []string
	attributes := ""
	for _, e := range c.elements[start:] {
		path, rest, _ := strings.Cut(strings.TrimPrefix(e, pathStart), `"`)
		data, attributes = append(data, path), rest
	}
	c.elements = c.elements[:start]
	if len(data) > 0 {
		slices.Sort(data)
		c.elements = append(c.elements, pathStart+strings.Join(data, "")+`"`+attributes)
	}
}

const pathStart = `<path d="`

// at maps a point to the page.
func (c *canvas) at(p vg.Point) (x, y float64) {
	px, py, s := p.X.Points(), p.Y.Points(), &c.state
	return s.a*px + s.c*py + s.e, s.b*px + s.d*py + s.f
}

// path writes a path in absolute coordinates.
func (c *canvas) path(p vg.Path) string {
	var b strings.Builder
	last := byte(0)
	to := func(command byte, points ...vg.Point) {
		if command != last || command == 'M' {
			b.WriteByte(command)
		} else {
			b.WriteByte(' ')
		}
		last = command
		for i, q := range points {
			if i > 0 {
				b.WriteByte(' ')
			}
			x, y := c.at(q)
			b.WriteString(number(x) + " " + number(y))
		}
	}
	for i, comp := range p {
		switch comp.Type {
		case vg.MoveComp:
			to('M', comp.Pos)
		case vg.LineComp:
			to('L', comp.Pos)
		case vg.CurveComp:
			if len(comp.Control) == 1 {
				to('Q', comp.Control[0], comp.Pos)
			} else {
				to('C', comp.Control[0], comp.Control[1], comp.Pos)
			}
		case vg.ArcComp:
			on := func(angle float64) vg.Point {
				sin, cos := math.Sincos(angle)
				return vg.Point{X: comp.Pos.X + comp.Radius*vg.Length(cos), Y: comp.Pos.Y + comp.Radius*vg.Length(sin)}
			}
			if i == 0 || p[i-1].Type != vg.MoveComp {
				to('L', on(comp.Start))
			}
			// Two halves, since an arc can't end where it begins. The page's y axis points down,
			// so a left turn here is a right turn there.
			sweep := " 0 0 0 "
			if comp.Angle < 0 {
				sweep = " 0 0 1 "
			}
			r := number(comp.Radius.Points())
			for _, part := range []float64{0.5, 1} {
				x, y := c.at(on(comp.Start + part*comp.Angle))
				b.WriteString("A" + r + " " + r + sweep + number(x) + " " + number(y))
			}
			last = 'A'
		case vg.CloseComp:
			b.WriteByte('Z')
			last = 'Z'
		}
	}
	return b.String()
}

// ink returns how SVG writes a color, and its opacity.
func ink(c color.Color) (paint string, opacity float64) {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	opacity = float64(n.A) / 255
	if n.R == 0 && n.G == 0 && n.B == 0 {
		return "currentColor", opacity
	}
	return fmt.Sprintf("#%02x%02x%02x", n.R, n.G, n.B), opacity
}

// number writes a coordinate with at most one decimal, an opacity with two.
func number(x float64) string {
	scale := 10.
	if math.Abs(x) < 1 {
		scale = 100
	}
	if x = math.Round(x*scale) / scale; x == 0 {
		return "0" // never -0
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}
