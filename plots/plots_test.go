package plots

import (
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/plots/diagram"
	"github.com/lectern-go/lectern/plots/internal/golden"
	"github.com/lectern-go/lectern/tensor"
)

// What is empty, alone or broken is drawn too: a cell that plots it must not fail.
func TestUnusualValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, f := range map[string]*diagram.Figure{
		"no runs":                Loss(),
		"empty run":              Loss(Run("a", nil)),
		"run of NaN":             Loss(Run("a", []float64{nan, inf})),
		"run that stands still":  Loss(Run("a", []float64{2, 2, 2})),
		"zero":                   Loss(Run("a", []float64{0})),
		"negative on log":        Lines(Axes{LogX: true, LogY: true}, Series{"a", []float64{0, 1, 2}, []float64{-1, 0, 1}}),
		"many runs":              Loss(Run("a", decay(9, 1, 1)), Run("b", decay(9, 1, 2)), Run("c", decay(9, 1, 3)), Run("d", decay(9, 1, 4)), Run("e", decay(9, 1, 5)), Run("f", decay(9, 1, 6)), Run("a rather long name of a run", decay(9, 1, 7))),
		"no stacks":              Depth("activation"),
		"empty layer":            Depth("activation", Stack{"a", []*tensor.Tensor{tensor.Zeros(0), tensor.Of(nan, inf), tensor.Zeros(3)}}),
		"no machines":            Roofline(),
		"no operations":          Roofline(accounting.Roofline(accounting.Machine{Name: "m", PeakPerSecond: 1e9, BytesPerSecond: 1e9})),
		"no measurements":        MFU(),
		"no peak":                MFU(Utilization{"a", 1, 0}),
		"above the peak":         MFU(Utilization{"a", 3, 2}),
		"no recipes":             Recipes(),
		"recipes of nothing":     Recipes(Recipe{Name: "a"}),
		"flat loss":              Paths(func(x, y float64) float64 { return 1 }, Plane{0, 1, 0, 1}, Path{"a", nil}, Path{"b", [][2]float64{{nan, 0}}}),
		"loss that is infinite":  Paths(func(x, y float64) float64 { return 1 / x }, Plane{-1, 1, -1, 1}, Path{"a", [][2]float64{{5, 5}, {0, 0}}}),
		"loss that is no number": Paths(func(x, y float64) float64 { return nan }, Plane{-1, 1, -1, 1}),
		"plane of a few numbers": Paths(valley, Plane{1e16, 1e16 + 2, 1, math.Nextafter(1, 2)}),
		"sum that is almost one": Lines(Axes{}, Run("Σp", []float64{1 - 1./(1<<53), 1 + 1./(1<<52)})),
		"neighbors":              Lines(Axes{}, Series{"a", []float64{1e16, 1e16 + 2}, []float64{0.3, 0.30000000000000004}}),
		"neighbors on log":       Lines(Axes{LogX: true, LogY: true}, Series{"a", []float64{1e300, math.Nextafter(1e300, inf)}, []float64{100, math.Nextafter(100, inf)}}),
	} {
		t.Run(name, func(t *testing.T) {
			svg := f.SVG()
			if _, err := golden.Outline(svg); err != nil {
				t.Fatalf("%v\n%s", err, svg)
			}
			for _, bad := range []string{"NaN", "Inf"} {
				if i := strings.Index(svg[strings.Index(svg, "</title>"):], bad); i >= 0 {
					t.Errorf("a coordinate is %s: %s", bad, svg)
				}
			}
			if len(svg) > golden.MaxBytes {
				t.Errorf("%d bytes", len(svg))
			}
		})
	}
}

func TestMistakesAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"lengths":  {func() { Lines(Axes{}, Series{"a", []float64{1}, []float64{1, 2}}) }, `"a" has 1 value of x and 2 of y`},
		"no steps": {func() { Schedules(0) }, "0 steps"},
		"plane":    {func() { Paths(valley, Plane{}) }, "is empty"},
		"machine": {func() {
			Roofline(accounting.Roofline(accounting.Machine{Name: "one", PeakPerSecond: math.Inf(1), BytesPerSecond: 1e10}, accounting.MatmulOperation(8, 4)))
		}, `"one" has a peak of +Inf FLOP/s`},
		"no range": {func() { panic(len(logTicks(0, math.Inf(1)))) }, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r := recover(); !strings.Contains(fmt.Sprint(r), c.want) {
					t.Errorf("panicked with %v, want %q in it", r, c.want)
				}
			}()
			c.f()
		})
	}
}

// luminance is that of WCAG.
func luminance(c color.NRGBA) float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func TestLinesStandOutOnLightAndDark(t *testing.T) {
	for i, s := range styles {
		c := s.Color.(color.NRGBA)
		for _, page := range []color.NRGBA{rgb(0xffffff), rgb(0x15191c)} {
			a, b := luminance(c), luminance(page)
			if contrast := (max(a, b) + 0.05) / (min(a, b) + 0.05); contrast < 3 {
				t.Errorf("style %d has a contrast of %.2f on %v, want 3", i, contrast, page)
			}
		}
		for k := range i {
			if fmt.Sprint(styles[k].Dashes) == fmt.Sprint(s.Dashes) {
				t.Errorf("styles %d and %d have the same dashes", k, i)
			}
		}
	}
}

func TestLongSeriesKeepTheirExtremes(t *testing.T) {
	values := make([]float64, 50_000)
	values[31_007], values[12_345] = 1, -1
	svg := Lines(Axes{}, Run("", values)).SVG()
	if len(svg) > 8000 {
		t.Errorf("%d bytes for a flat line with two spikes", len(svg))
	}
	// The line itself is what is drawn last.
	line := svg[strings.LastIndex(svg, "<path"):]
	if n := strings.Count(line, " "); n < 10 {
		t.Errorf("the spikes are gone: %s", line)
	}
}

func TestCanvasTransforms(t *testing.T) {
	c := newCanvas(100, 50)
	c.Push()
	c.Translate(vg.Point{X: 10, Y: 20})
	c.Rotate(math.Pi / 2)
	c.Scale(2, 1)
	x, y := c.at(vg.Point{X: 5, Y: 3}) // turned left: (-3, 10), then (7, 30) from the bottom
	if math.Abs(x-7) > 1e-9 || math.Abs(y-20) > 1e-9 {
		t.Errorf("got (%v, %v), want (7, 20)", x, y)
	}
	c.Pop()
	if x, y := c.at(vg.Point{}); x != 0 || y != 50 {
		t.Errorf("after Pop the origin is at (%v, %v), want (0, 50)", x, y)
	}
}

func TestSimplify(t *testing.T) {
	var p vg.Path
	p.Move(vg.Point{})
	for i := 1; i <= 10; i++ {
		p.Line(vg.Point{X: vg.Length(i), Y: vg.Length(i%2) / 10}) // within the tolerance
	}
	p.Line(vg.Point{X: 20, Y: 30})
	p.Line(vg.Point{X: 30})
	p.Close()
	got := simplify(p)
	if len(got) != 5 || got[1].Pos.X != 10 || got[2].Pos.Y != 30 || got[4].Type != vg.CloseComp {
		t.Errorf("got %v", got)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		log       bool
		want      string
	}{
		{0, 1, false, "0 0.2 0.4 0.6 0.8 1"},
		{-10, 10, false, "-10 -5 0 5 10"},
		{0, 100_000, false, "0 20 k 40 k 60 k 80 k 100 k"},
		{0, 0.0005, false, "0 0.0001 0.0002 0.0003 0.0004 0.0005"},
		{1, 1000, true, "1 10 100 1000"},
		{0.2, 3, true, "0.2 0.5 1 2"},
		{1e9, 1e15, true, "1 G 10 G 100 G 1 T 10 T 100 T 1 P"},
		{2, 2, false, ""},
		{1e16, 1e16 + 2, false, ""},
		{1, math.MaxFloat64, false, "0 5e+307 1e+308 1.5e+308"},
		{100_000, 100_040, false, "100 k 100.01 k 100.02 k 100.03 k 100.04 k"},
		{0.69312, 0.69319, false, "0.69312 0.69314 0.69316 0.69318"},
		{-0.00050004, -0.00049997, false, "-0.00050004 -0.00050002 -0.0005 -0.00049998"},
		{-1e-15, 2e-15, false, "-1e-15 0 1e-15 2e-15"},
		{1e-16, 1e-12, true, "1e-16 1e-15 1e-14 1e-13 1e-12"},
		{3.1, 3.9, true, "3.2 3.4 3.6 3.8"},
		{1.5, 4, true, "1.5 2 2.5 3 3.5 4"},
	} {
		ticks := linearTicks
		if c.log {
			ticks = logTicks
		}
		var labels []string
		for _, tick := range ticks(c.low, c.high) {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("from %v to %v: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

// Numbers are rounded before their unit is chosen.
func TestShort(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1e-14: "1e-14", 1500: "1500", 9999.6: "10 k", -999_960: "-1 M", 9.9999e17: "1e+18", 0.00097553: "0.000976",
	} {
		if got := short(x); got != want {
			t.Errorf("short(%v) is %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{0: "0 ", 999.4: "999 ", 999.7e9: "1 T", 989.5e12: "990 T"} {
		if got := short3(x); got != want {
			t.Errorf("short3(%v) is %q, want %q", x, got, want)
		}
	}
}

// TestRooflineHoldsItsMarks: on a machine whose ridge is far left, and for a measurement above the roof.
func TestRooflineHoldsItsMarks(t *testing.T) {
	m := accounting.Machine{Name: "cpu", PeakPerSecond: 544e9, BytesPerSecond: 79.5e9}
	fast := accounting.MatmulOperation(1024, 4)
	fast.Measured = time.Duration(fast.FLOPs / (5 * m.PeakPerSecond) * 1e9)
	for name, f := range map[string]*diagram.Figure{
		"not measured": Roofline(accounting.Roofline(m, accounting.LectureOperations(1024, 4)...)),
		"above":        Roofline(accounting.Roofline(m, fast)),
	} {
		for _, at := range regexp.MustCompile(`d="M([\d.-]+) ([\d.-]+)A`).FindAllStringSubmatch(f.SVG(), -1) { // circles
			x, _ := strconv.ParseFloat(at[1], 64)
			y, _ := strconv.ParseFloat(at[2], 64)
			if x < 0 || x > chartWidth || y < 48 { // the title and the legend end there
				t.Errorf("%s: a mark is at (%g, %g), beyond the axes", name, x, y)
			}
		}
	}
}

// TestSmallNumbersAreSaid: a text has numbers however small they are, except for the noise beside larger ones.
func TestSmallNumbersAreSaid(t *testing.T) {
	for _, c := range []struct {
		f    *diagram.Figure
		want string
	}{
		{Lines(Axes{}, Run("", []float64{1e-13, 3e-13})), "goes from 1e-13 at 0 to 3e-13 at 1"},
		{Lines(Axes{}, Run("", []float64{1, 1e-16})), "goes from 1 at 0 to 0 at 1"},
		{Lines(Axes{LogY: true}, Run("", []float64{1, 1e-16})), "goes from 1 at 0 to 1e-16 at 1"},
	} {
		if !strings.Contains(c.f.String(), c.want) {
			t.Errorf("%q, want %q in it", c.f, c.want)
		}
	}
}
