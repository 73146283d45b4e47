//go:build unix

package main

import (
	"slices"
	"strings"
	"testing"
)

// TestDisplays shows values of packages that cells link only if they use them.
func TestDisplays(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for _, c := range []struct{ code, mime, want, text string }{
		{"import \"image\"\nm := image.NewGray(image.Rect(0, 0, 100, 50))\nm", "image/png", "iVBOR", "*image.Gray, 100 × 50 pixels"},
		{"m", "image/png", "iVBOR", "*image.Gray, 100 × 50 pixels"}, // without an import
		{"import \"image/png\"\nvar b bytes.Buffer\npng.Encode(&b, m)\nb.Bytes()", "text/html", "data:image/png;base64,", "PNG image, 100 × 50 pixels"},
		{"import \"gonum.org/v1/plot\"\np := plot.New()\np.Title.Text = \"Mine\"\np", "image/svg+xml", "<svg", "figure: Mine"},
		{"func() { q := plot.New(); q.Title.Text = \"Mine\"; show.Value(q) }()", "image/svg+xml", "<svg", "figure: Mine"},
		{"import \"gonum.org/v1/gonum/mat\"\nmat.NewDense(1, 2, []float64{1, 2})", "text/html", "<table", "1 × 2"},
		{"import \"html/template\"\ntemplate.HTML(\"<i>x</i>\")", "text/html", "<i>x</i>", "x"},
		{"type run struct{ Name string; Loss float64 }\n[]run{{\"a\", 1.5}, {\"b\", 0.5}}", "text/html", "<th scope=\"row\">1</th>", "[]run{"},
	} {
		outs, r := l.run(c.code)
		outs = slices.DeleteFunc(outs, func(o out) bool { return o.kind == "stderr" }) // notes, which may come late
		if len(outs) == 0 || r.Status != "ok" {
			t.Errorf("%s: %s %s", c.code, r.Status, flat(outs))
			continue
		}
		last := outs[len(outs)-1]
		if s, _ := last.data[c.mime].(string); !strings.Contains(s, c.want) || !strings.Contains(last.text, c.text) {
			t.Errorf("%s\nshows %.200v\nwith the text %q", c.code, last.data, last.text)
		}
	}
}

// A plot grows from cell to cell.
func TestPlotIsKept(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for _, code := range []string{
		"import (\n\t\"gonum.org/v1/plot\"\n\t\"gonum.org/v1/plot/plotter\"\n)\np := plot.New()\np.Title.Text = \"Mine\"\nboth := []*plot.Plot{p, plot.New()}",
		"line, points, _ := plotter.NewLinePoints(plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: 4}})\np.Add(line, points, plotter.NewGrid())",
		"p.Legend.Add(\"growth\", line)\nbars, _ := plotter.NewBarChart(plotter.Values{1, 2}, 10)\np.Add(bars)\np.NominalX(\"one\", \"two\")\np.Y.Tick.Marker = plot.ConstantTicks{{Value: 1, Label: \"uno\"}}",
		"p.Y.Label.Text = both[0].Title.Text + \" again\"",
	} {
		if outs, r := l.run(code); r.Status != "ok" || strings.Contains(flat(outs), "note: ") {
			t.Errorf("%s\n%s %s", code, r.Status, flat(outs))
		}
	}
	outs, _ := l.run("p")
	if len(outs) != 1 || outs[0].text != "figure: Mine" {
		t.Fatal(flat(outs))
	}
	svg, _ := outs[0].data["image/svg+xml"].(string)
	for _, want := range []string{">growth<", ">two<", ">uno<", ">Mine again<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the plot has no %s", want)
		}
	}
}
