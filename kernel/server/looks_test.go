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
		{"import \"image\"\nm := image.NewGray(image.Rect(0, 0, 100, 50))\nm", "text/html", "data:image/png;base64,", "*image.Gray, 100 × 50 pixels"},
		{"m", "text/html", "data:image/png;base64,", "*image.Gray, 100 × 50 pixels"}, // without an import
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
