package plots

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lectern-go/lectern/plots/diagram"
)

const (
	chartWidth  = 640
	chartHeight = 380
	phoneWidth  = 332 // of a chart on a phone, whose page is a little wider
	phoneHeight = 300
	textSize    = 12
)

// styles tell series apart by color and by dashes, for readers who don't see colors,
// and on paper. The colors are Okabe and Ito's, shifted where their contrast on white
// or on a dark page would be less than 3 to 1.
var styles = []draw.LineStyle{
	{Color: rgb(0x3289c7), Width: 2},
	{Color: rgb(0xd55e00), Width: 2, Dashes: []vg.Length{8, 3}},
	{Color: rgb(0x009e73), Width: 2, Dashes: []vg.Length{2, 2}},
	{Color: rgb(0xc06590), Width: 2, Dashes: []vg.Length{9, 3, 2, 3}},
	{Color: rgb(0xb07d00), Width: 2, Dashes: []vg.Length{14, 4}},
	{Color: rgb(0x808080), Width: 2, Dashes: []vg.Length{5, 2, 1, 2, 1, 2}},
}

func style(i int) draw.LineStyle { return styles[i%len(styles)] }

func rgb(c uint32) color.NRGBA {
	return color.NRGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 255}
}

// faded returns a translucent color.
func faded(c color.Color, alpha uint8) color.NRGBA {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	n.A = alpha
	return n
}

// The text's own color, strong and faint.
var (
	textColor  = color.NRGBA{A: 255}
	faintColor = color.NRGBA{A: 166}
	gridColor  = color.NRGBA{A: 38}
)

var handler = text.Plain{Fonts: font.DefaultCache}

// textStyle is text of a given size, in the typeface whose widths the layout uses.
func textStyle(size float64) text.Style {
	return text.Style{Color: textColor, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Length(size)), Handler: handler}
}

// newPlot returns axes without a title, in the style of this package. With rows, the
// positions on the y axis are names, and no lines run from them.
func newPlot(x, y string, rows bool) *plot.Plot {
	p := plot.New()
	p.TextHandler = handler
	p.BackgroundColor = color.Transparent
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle = with(textStyle(textSize), axis.Label.TextStyle)
		axis.Tick.Label = with(textStyle(11), axis.Tick.Label)
		axis.Tick.Label.Color = faintColor
		axis.Tick.Marker = plot.TickerFunc(linearTicks)
		axis.Label.Padding = 4
		axis.Tick.Length = 4
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = faintColor, faintColor
	}
	p.X.Label.Text, p.Y.Label.Text = x, y
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gridColor, gridColor
	grid.Vertical.Width, grid.Horizontal.Width = 1, 1
	if rows {
		grid.Horizontal.Width = 0
		p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	}
	p.Add(grid)
	return p
}

// with keeps the place and the angle of gonum's text.
func with(s, old text.Style) text.Style {
	s.Rotation, s.XAlign, s.YAlign = old.Rotation, old.XAlign, old.YAlign
	return s
}

// logScale makes an axis count in powers of ten.
func logScale(axis *plot.Axis) {
	axis.Scale = plot.LogScale{}
	axis.Tick.Marker = plot.TickerFunc(logTicks)
}

// linearTicks are multiples of 1, 2 or 5 times a power of ten.
func linearTicks(low, high float64) []plot.Tick {
	if !(low < high) || math.IsInf(high-low, 0) {
		return nil
	}
	step := math.Pow10(int(math.Floor(math.Log10((high - low) / 3))))
	for _, m := range []float64{5, 2} {
		if (high-low)/(m*step) >= 3 {
			step *= m
			break
		}
	}
	far := max(math.Abs(low), math.Abs(high))
	if !(far/step < 1<<53) { // beyond that, i++ is i: there are no numbers between the ticks
		return nil
	}
	// A label has as many digits as it takes to tell a tick from the next.
	digits := int(math.Floor(math.Log10(far))-math.Floor(math.Log10(step)+1e-9)) + 1
	var ticks []plot.Tick
	for i, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9); i <= last; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: shortTo(digits, i*step)})
	}
	return ticks
}

// logTicks are powers of ten with labels, or more if there are few of them. A range without two of these has the ticks
// of a linear axis.
func logTicks(low, high float64) []plot.Tick {
	if !(0 < low && low < high) || math.IsInf(high, 0) {
		return nil
	}
	var ticks []plot.Tick
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	every := max(1, (last-first)/8)
	few := math.Log10(high/low) < 2.5
	labels := 0
	for e := first; e <= last; e++ {
		power := math.Pow10(e)
		for m := 1; m < 10; m++ {
			t := plot.Tick{Value: float64(m) * power}
			if t.Value < low*(1-1e-9) || t.Value > high*(1+1e-9) {
				continue
			}
			if m == 1 && e%every == 0 || few && (m == 2 || m == 5) {
				t.Label = short(t.Value)
				labels++
			}
			ticks = append(ticks, t)
		}
	}
	if labels < 2 {
		return linearTicks(low, high)
	}
	return ticks
}

// short writes a number for an axis or a label: 0.001, 250, 1500, 2 M, 1e-05.
func short(x float64) string { return shortTo(0, x) }

// shortTo is short with at least a number of digits, if x has so many.
func shortTo(digits int, x float64) string {
	few := max(digits, 3)
	digits = max(digits, 4)
	r := rounded(x, digits) // which may have the next unit
	switch abs := math.Abs(r); {
	case abs == 0:
		return "0" // never -0
	case abs >= 1e18 || abs < 1e-3:
		return strconv.FormatFloat(x, 'g', few, 64)
	case abs >= 1e4:
		units := []string{"", " k", " M", " G", " T", " P"}
		u := 0
		for math.Abs(r) >= 1000 {
			r, x = r/1000, x/1000
			u++
		}
		return strconv.FormatFloat(x, 'g', digits, 64) + units[u]
	}
	return strconv.FormatFloat(x, 'g', digits, 64)
}

// beside is short for a number in a text with others of a given size: what is far smaller is the noise of a zero.
func beside(size, x float64) string {
	if math.Abs(x) < 1e-13*math.Abs(size) {
		return "0"
	}
	return short(x)
}

// rounded returns x with a number of significant digits.
func rounded(x float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	if err != nil { // the largest numbers may become infinite
		return x
	}
	return r
}

// key is an entry of a legend.
type key struct {
	name string
	draw func(c *draw.Canvas, low, high vg.Point) // a sample between two corners
}

func lineKey(name string, s draw.LineStyle) key {
	return key{name, func(c *draw.Canvas, low, high vg.Point) {
		c.StrokeLine2(s, low.X, (low.Y+high.Y)/2, high.X, (low.Y+high.Y)/2)
	}}
}

// figure draws a title, a legend if there are several entries, and below them the
// output of draw: once for a page, and once for a phone. The heights are for these
// two.
func figure(title, alt string, height, phoneHeight float64, keys []key, paint func(c draw.Canvas)) *diagram.Figure {
	if title != "" {
		alt = title + ": " + alt
	}
	return drawing(title, alt, chartWidth, height, keys, paint).WithNarrow(drawing(title, alt, phoneWidth, phoneHeight, keys, paint))
}

// onPhone reports whether a canvas, or a part of it, is for a phone.
func onPhone(c draw.Canvas) bool { return page(c).w <= phoneWidth }

// drawing draws a figure with a given width.
func drawing(title, alt string, width, height float64, keys []key, paint func(c draw.Canvas)) *diagram.Figure {
	vc := newCanvas(vg.Length(width), vg.Length(height))
	c := draw.New(vc)
	y := c.Max.Y - 2
	if title != "" {
		s := textStyle(14)
		s.Font.Weight = 2
		s.YAlign = draw.YTop
		for _, line := range broken(title, s, c.Max.X-c.Min.X-8) {
			c.FillText(s, vg.Point{X: c.Min.X + 4, Y: y}, line)
			y -= 18
		}
		y -= 6
	}
	if len(keys) > 0 {
		const sample, gap, row = 28, 22, 18
		s := textStyle(textSize)
		s.YAlign = draw.YCenter
		x := c.Min.X + 4
		for _, k := range keys {
			width := s.Width(k.name)
			if x > c.Min.X+4 && x+sample+6+width > c.Max.X {
				x, y = c.Min.X+4, y-row
			}
			k.draw(&c, vg.Point{X: x, Y: y - 12}, vg.Point{X: x + sample, Y: y - 2})
			c.FillText(s, vg.Point{X: x + sample + 6, Y: y - 7}, k.name)
			x += sample + 6 + width + gap
		}
		y -= row + 4
	}
	paint(draw.Crop(c, 0, -2, 0, y-c.Max.Y))
	body := `<g font-family="'Liberation Sans', Arial, Helvetica, sans-serif" font-size="` + strconv.Itoa(textSize) + `">` + strings.Join(vc.elements, "\n") + `</g>`
	return diagram.NewFigure(alt, width, height, body)
}

// broken breaks a text into lines of at most a width, between words.
func broken(text string, s text.Style, width vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if longer := line + " " + word; line != "" && s.Width(longer) > width {
			lines, line = append(lines, line), word
		} else {
			line = strings.TrimSpace(longer)
		}
	}
	return append(lines, line)
}

// drawn makes a function a plotter.
type drawn func(c draw.Canvas, p *plot.Plot)

// Plot implements plot.Plotter.
func (f drawn) Plot(c draw.Canvas, p *plot.Plot) { f(c, p) }
