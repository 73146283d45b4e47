package diagram

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tensor"
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
