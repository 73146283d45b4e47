package diagram

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/plots/internal/golden"
	"github.com/lectern-go/lectern/tensor"
	"github.com/lectern-go/lectern/tokenizer"
)

// wellFormed fails unless the figure is XML with a title.
func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, svg)
		}
	}
	if !strings.Contains(svg, "<title>") {
		t.Error("the figure has no title")
	}
}

func TestStorage(t *testing.T) {
	x := tensor.Arange(6).View(2, 3)
	f := Storage(View("x", x), View("x.T()", x.T()), View("x.T().Contiguous()", x.T().Contiguous()))
	wellFormed(t, f.SVG())
	want := "Storage and strides: x has shape [2 3] and strides [3 1]; x.T() has shape [3 2] and strides [1 3], same storage as x; " +
		"x.T().Contiguous() has shape [3 2] and strides [2 1], a storage of its own"
	if f.String() != want {
		t.Errorf("title %q, want %q", f, want)
	}
	svg := f.SVG()
	// Three strips and three grids of six elements.
	if n := strings.Count(svg, "<rect"); n != 36 {
		t.Errorf("%d boxes, want 36", n)
	}
	for _, text := range []string{"stride(0) = 3", "stride(1) = 1", "stride(0) = 1", "stride(1) = 3", ">at 5<"} {
		if !strings.Contains(svg, text) {
			t.Errorf("the figure lacks %q", text)
		}
	}
}

func TestStorageTintsWhatAViewShows(t *testing.T) {
	x := tensor.Arange(16).View(4, 4)
	f := Storage(View("column", x.Select(1, 1)))
	// Four elements of the strip and the four of the grid.
	if n := strings.Count(f.SVG(), `fill="`+orange+`"`); n != 8 {
		t.Errorf("%d tinted boxes, want 8", n)
	}
}

func TestStorageOfUnusualTensors(t *testing.T) {
	for name, x := range map[string]*tensor.Tensor{
		"empty":      tensor.Zeros(0, 3),
		"number":     tensor.Scalar(2),
		"large":      tensor.Zeros(100, 100),
		"expanded":   tensor.Of(1., 2).Unsqueeze(1).Expand(2, 3),
		"three axes": tensor.Arange(8).View(2, 2, 2),
	} {
		svg := Storage(View(name, x)).HTML()
		wellFormed(t, svg)
		if len(svg) > 60_000 {
			t.Errorf("%s: %d bytes, want at most 60 kB", name, len(svg))
		}
	}
}

func TestTitleIsEscaped(t *testing.T) {
	wellFormed(t, Storage(View("a<b & c", tensor.Of(1))).SVG())
}

func TestRanges(t *testing.T) {
	f := Ranges(tensor.Float32, tensor.BFloat16, tensor.Float16, tensor.Float8E4M3)
	wellFormed(t, f.SVG())
	for _, text := range []string{">float16<", ">1024 numbers from 1 to 2<", ">8 numbers from 1 to 2<", ">1e-40<"} {
		if !strings.Contains(f.SVG(), text) {
			t.Errorf("the figure lacks %q", text)
		}
	}
	if !strings.Contains(f.String(), "float16 from 6e-08 (normal from 6.1e-05) to 6.55e+04") {
		t.Errorf("title %q", f)
	}
}

func lectureGraph() *tensor.Graph {
	x := tensor.Of(1., 2, 3)
	w := tensor.Of(1., 1, 1).RequireGrad()
	prediction := x.Matmul(w)
	loss := prediction.Sub(5).Pow(2).Mul(0.5)
	return tensor.GraphOf(loss, tensor.Named("x", x), tensor.Named("w", w), tensor.Named("prediction", prediction), tensor.Named("loss", loss))
}

// lectureGradients is the same after Backward, which has left a gradient everywhere and released nothing.
func lectureGradients() *tensor.Graph {
	x := tensor.Of(1., 2, 3)
	w := tensor.Of(1., 1, 1).RequireGrad()
	prediction := x.Matmul(w).RetainGrad()
	square := prediction.Sub(5).RetainGrad().Pow(2).RetainGrad()
	loss := square.Mul(0.5).RetainGrad()
	loss.Backward(tensor.Retain())
	return tensor.GraphOf(loss, tensor.Named("x", x), tensor.Named("w", w), tensor.Named("prediction", prediction), tensor.Named("loss", loss))
}

func TestGraphHasShortGradientsInNumbers(t *testing.T) {
	text := Graph(lectureGradients()).SVG()
	for _, wanted := range []string{">gradient 1 2 3<", ">gradient 0.5<", "w [3]: gradient 1 2 3"} {
		if !strings.Contains(text, wanted) {
			t.Errorf("the figure lacks %q", wanted)
		}
	}
	sum := tensor.Ones(5).RequireGrad().Square().Sum()
	sum.Backward()
	text = Graph(tensor.GraphOf(sum)).SVG()
	if !strings.Contains(text, ">has a gradient<") {
		t.Error("a gradient of five numbers is not mentioned")
	}
	if strings.Contains(text, "keeps") {
		t.Error("the figure shows what Backward has released")
	}
}

func TestGraph(t *testing.T) {
	g := lectureGraph()
	f := Graph(g)
	wellFormed(t, f.SVG())
	if boxes := strings.Count(f.SVG(), "<rect"); boxes != len(g.Nodes) {
		t.Errorf("%d boxes for %d nodes", boxes, len(g.Nodes))
	}
	if !strings.Contains(f.String(), "from x [3] and w [3]") {
		t.Errorf("title %q does not say what the product is made from", f)
	}
}

func TestGraphLayersPutNodesRightOfTheirInputs(t *testing.T) {
	g := lectureGraph()
	column := map[int]int{}
	count := 0
	for c, nodes := range layers(g) {
		for _, i := range nodes {
			column[i] = c
			count++
		}
	}
	if count != len(g.Nodes) {
		t.Errorf("%d nodes were placed, want %d", count, len(g.Nodes))
	}
	for _, e := range g.Edges {
		if column[e.From] >= column[e.To] {
			t.Errorf("%s is not left of %s", label(g, e.From), label(g, e.To))
		}
	}
}

// Whatever the values, a figure is well-formed, has a text and stays small.
func TestUnusualDiagrams(t *testing.T) {
	long, err := tokenizer.Steps(strings.Repeat("pease porridge hot, pease porridge cold, ", 8)+"<&>\x00é", 30)
	if err != nil {
		t.Fatal(err)
	}
	deep := tensor.Ones(2, 2).RequireGrad()
	for name, f := range map[string]*Figure{
		"bits of NaN":          Bits(math.NaN(), tensor.Dtypes()...),
		"bits of infinity":     Bits(math.Inf(-1), tensor.Float16, tensor.Int32, tensor.Bool),
		"no bits":              Bits(1),
		"density far out":      Density(-1e300, 1e300, tensor.Float64, tensor.Float8E4M3),
		"density of float64":   Density(-2, 2, tensor.Float64),
		"density of nothing":   Density(500, 600, tensor.Float8E4M3),
		"density below zero":   Density(-4, -1, tensor.Float8E5M2, tensor.BFloat16),
		"no merges":            Merges[tokenizer.Step](nil),
		"many merges":          Merges(long),
		"no memory":            Memory(),
		"empty memory":         Memory(Bar("a", accounting.Bytes{})),
		"gigabytes":            Memory(Bar("a", accounting.Bytes{accounting.Parameters: 80e9})),
		"product of vectors":   Matmul(tensor.Ones(3), tensor.Ones(3)),
		"matrix and vector":    Matmul(tensor.Ones(5, 3), tensor.Ones(3)),
		"many products":        Matmul(tensor.Ones(30, 3, 40, 2, 2), tensor.Ones(40, 2, 2), "a", "b"),
		"empty product":        Matmul(tensor.Ones(0, 3), tensor.Ones(3, 2)),
		"sum of numbers":       Broadcast(tensor.Of(1.), tensor.Of(math.Inf(1))),
		"sum of nothing":       Broadcast(tensor.Ones(0, 3), tensor.Ones(3)),
		"sum of many axes":     Broadcast(tensor.Ones(4, 1, 2, 30), tensor.Ones(5, 1, 1)),
		"pattern of no change": Einops(einops.Explain("a b -> a b", []int{2, 3})),
		"pattern to a number":  Einops(einops.Explain("a b ->", []int{2, 3})),
		"pattern with ones":    Einops(einops.Explain("a 1 b -> (a b) 1", []int{2, 1, 3})),
		"einsum of one":        Einops(einops.ExplainEinsum("a a -> a", []int{3, 3})),
		"einsum of three":      Einops(einops.ExplainEinsum("a b, b c, c d -> a d", []int{2, 3}, []int{3, 4}, []int{4, 5})),
		"heat of NaN":          Heat("it", []string{"a"}, []string{"b", "c"}, tensor.Of([]float64{math.NaN(), math.Inf(1)}).View(1, 2)),
		"forward alone":        Passes(func() { tensor.Ones(2, 3).Matmul(tensor.Ones(3)) }),
		"many layers": Passes(func() {
			x := tensor.Ones(64, 2)
			for range 12 {
				x = x.Matmul(deep)
			}
			x.Sum().Backward()
		}),
	} {
		t.Run(name, func(t *testing.T) {
			svg := f.SVG()
			wellFormed(t, svg)
			if len(svg) > golden.MaxBytes {
				t.Errorf("%d bytes", len(svg))
			}
			for _, bad := range []string{`"NaN`, `"+Inf`, `"-Inf`, " NaN", `"-0"`, "M-0 "} {
				if strings.Contains(svg[strings.Index(svg, "</title>"):strings.LastIndex(svg, "</svg>")], bad) && !strings.HasPrefix(name, "bits of") {
					t.Errorf("%q is among the coordinates", bad)
				}
			}
			if _, err := golden.Outline(svg); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMistakesAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"empty range": {func() { Density(2, 1, tensor.Float16) }, "from 2 to 1 is not a range"},
		"integers":    {func() { Density(0, 1, tensor.Int32) }, "int32"},
		"shapes":      {func() { Matmul(tensor.Ones(2, 3), tensor.Ones(2, 3)) }, "matmul"},
		"sizes":       {func() { Broadcast(tensor.Ones(2, 3), tensor.Ones(2)) }, "add"},
		"no product":  {func() { Passes(func() { tensor.Ones(2).Add(1) }) }, "no matrix product"},
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

// Every product of backward belongs to the layer whose operand has its shape,
// also where all layers have one shape.
func TestPassesPairBackwardWithForward(t *testing.T) {
	w := []*tensor.Tensor{tensor.Ones(4, 4).RequireGrad(), tensor.Ones(4, 4).RequireGrad(), tensor.Ones(4, 4).RequireGrad()}
	var events []tensor.Event
	stop := tensor.Trace(func(e tensor.Event) {
		if e.Kind == tensor.Ran && e.Op == "matmul" {
			events = append(events, e)
		}
	})
	x := tensor.Ones(4, 4)
	for _, w := range w {
		x = x.Matmul(w)
	}
	x.Sum().Backward()
	stop()
	layers := pair(events)
	if len(layers) != 3 {
		t.Fatalf("%d layers, want 3", len(layers))
	}
	for i, l := range layers {
		if (l.back[0] == nil) != (i == 0) || l.back[1] == nil {
			t.Errorf("layer %d has gradients %v and %v", i, l.back[0] != nil, l.back[1] != nil)
		}
	}
}

// overlapped is a reader that is a batch ahead of a model, for n batches of 3 ms.
func overlapped(n int) *Figure {
	fetch, model := Lane{Name: "fetch"}, Lane{Name: "model"}
	for i := range n {
		t, label := float64(3*i), fmt.Sprint(i+1)
		fetch.Spans = append(fetch.Spans, Span{t, t + 3, label})
		model.Spans = append(model.Spans, Span{t + 3, t + 6, label})
	}
	return Timeline("ms", fetch, model)
}

func TestTimeline(t *testing.T) {
	f := overlapped(2)
	wellFormed(t, f.SVG())
	if want := "Who is busy when: fetch is busy for 6 of 9 ms; model is busy for 6 of 9 ms"; f.String() != want {
		t.Errorf("title %q, want %q", f, want)
	}
	if n := strings.Count(f.SVG(), "<rect"); n != 4 {
		t.Errorf("%d boxes, want 4", n)
	}
	wellFormed(t, Timeline("ms").SVG())
	wellFormed(t, Timeline("s", Lane{Name: "idle"}, Lane{Name: "no time at all", Spans: []Span{{0, 0, "now"}}}).SVG())
	for _, s := range []Span{{-1, 2, "early"}, {2, 1, "backwards"}, {math.NaN(), 1, "nowhere"}, {0, math.Inf(1), "for ever"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic for a span from %g to %g", s.From, s.To)
				}
			}()
			Timeline("ms", Lane{Name: "lane", Spans: []Span{s}})
		}()
	}
}

// cruncher is the tensors of the lecture's model.
func cruncher() []tensor.NamedTensor {
	return []tensor.NamedTensor{
		tensor.Named("layers.0.weight", tensor.Zeros(64, 64)), tensor.Named("layers.1.weight", tensor.Zeros(64, 64)),
		tensor.Named("final.weight", tensor.Zeros(64, 1)),
	}
}

func TestModules(t *testing.T) {
	f := Modules("Model", cruncher())
	wellFormed(t, f.SVG())
	want := "Modules of Model, 8,256 elements: layers.0.weight [64 64], layers.1.weight [64 64], final.weight [64 1]"
	if f.String() != want {
		t.Errorf("title %q, want %q", f, want)
	}
	svg := f.SVG()
	// The model, layers with 0 and 1, final, and three weights.
	if n := strings.Count(svg, "<rect"); n != 8 {
		t.Errorf("%d boxes, want 8", n)
	}
	for _, text := range []string{">8,192<", ">[64 64] = 4,096<", ">[64 1] = 64<"} {
		if !strings.Contains(svg, text) {
			t.Errorf("the figure lacks %q", text)
		}
	}
	wellFormed(t, Modules("empty", nil).SVG())
	wellFormed(t, Modules("a tensor that is also a part", []tensor.NamedTensor{
		tensor.Named("a", tensor.Zeros(2)), tensor.Named("a.b", tensor.Zeros(3)),
	}).SVG())
}

// TestStrips: each part has as many boxes as it is long, and the color of its name.
func TestStrips(t *testing.T) {
	f := Strips("Numbers drawn", Strip{"one", []Part{{"a", 2}, {"b", 3}}}, Strip{"two", []Part{{"b", 4}, {"nothing", 0}}})
	svg := f.SVG()
	wellFormed(t, svg)
	for colour, want := range map[string]int{blue: 2, green: 3 + 4, purple: 0} {
		if got := strings.Count(svg, `fill="`+colour+`"`); got != want {
			t.Errorf("%d boxes of color %s, want %d", got, colour, want)
		}
	}
	if want := "Numbers drawn. one: a (2), b (3); two: b (4)"; f.String() != want {
		t.Errorf("title %q, want %q", f, want)
	}
	wellFormed(t, Strips("Nothing").SVG())
	gap := Strips("Weights", Strip{"2:4", []Part{{"weight", 1}, {"", 3}, {"weight", 1}, {"zero", 2}}})
	if want := "Weights. 2:4: weight (2), zero (2)"; gap.String() != want {
		t.Errorf("title %q, want %q", gap, want)
	}
	for name, want := range map[string]int{">weight<": 1, ">zero<": 1} { // a box each has no room for a name: they stand in the legend
		if got := strings.Count(gap.SVG(), name); got != want {
			t.Errorf("%s stands there %d times, want %d", name, got, want)
		}
	}
	if got := strings.Count(gap.SVG(), `fill="`+blue+`"`); got != 3 {
		t.Errorf("%d boxes for weights, want 2 and one in the legend", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a part of -1 boxes is drawn")
		}
	}()
	Strips("Numbers drawn", Strip{"one", []Part{{"a", -1}}})
}

func TestDensityCountsAllNumbers(t *testing.T) {
	f := Density(-2, 2, tensor.Float64)
	if want := "float64 has 9,223,372,036,854,775,809 numbers"; !strings.Contains(f.String(), want) {
		t.Errorf("title %q, want %q in it", f, want)
	}
}

// TestHeatOfWhatIsNotFinite: the other cells are as dark as without it.
func TestHeatOfWhatIsNotFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	svg := Heat("it", []string{"a", "b"}, []string{"c", "d", "e"}, tensor.Of([]float64{nan, 1, 2}, []float64{inf, -inf, 0})).SVG()
	for text, want := range map[string]int{`fill-opacity="0.36"`: 1, `fill-opacity="0.65"`: 2, `fill-opacity="NaN"`: 0, ">NaN<": 1, ">1<": 1, ">+Inf<": 1, ">-Inf<": 1} {
		if got := strings.Count(svg, text); got != want {
			t.Errorf("%s stands there %d times, want %d", text, got, want)
		}
	}
}

func TestFlowAndHeatRefuse(t *testing.T) {
	m := tensor.Ones(2, 3)
	for _, tt := range []struct {
		name, want string
		draw       func()
	}{
		{"an input that comes later", `"norm" comes from "x", which is not a step before it`, func() { Flow("it", Step("norm", m, "x"), Step("x", m)) }},
		{"a name twice", `two steps are called "x"`, func() { Flow("it", Step("x", m), Step("x", m)) }},
		{"too few names", "[2 3], with 2 names for its rows and 2 for its columns", func() { Heat("it", []string{"a", "b"}, []string{"a", "b"}, m) }},
		{"a vector", "[3], with 1 names", func() { Heat("it", []string{"a"}, []string{"a", "b", "c"}, tensor.Ones(3)) }},
	} {
		if err := tensor.Try(tt.draw); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", tt.name, err, tt.want)
		}
	}
}
