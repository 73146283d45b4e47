package tensor

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func TestHTML(t *testing.T) {
	tests := []struct {
		name   string
		html   string
		want   []string
		tables int
		cells  int
	}{
		{"matrix", Of([]float64{1, 2}, []float64{3, 4}).T().HTML(), []string{">3.<", "shape [2 2]", "float32", "strides [1 2]", "16 bytes"}, 1, 4},
		{"vector", Arange(3).HTML(), []string{">2<", "shape [3]", "int64"}, 1, 3},
		{"number", Scalar(2).HTML(), []string{"<pre", "tensor(2.)"}, 0, 0},
		{"empty", Zeros(0, 3).HTML(), []string{"<pre", "shape [0 3]"}, 0, 0},
		{"large matrices are cut", Zeros(1000, 1000).HTML(), []string{"…"}, 1, 49},
		{"three axes", Arange(8).View(2, 2, 2).HTML(), []string{">[0]<", ">[1]<", "shape [2 2 2]"}, 2, 8},
		{"four axes", Arange(36).View(3, 2, 3, 2).HTML(), []string{">[2 1]<", ">35<"}, 6, 36},
		{"five axes", Zeros(1, 1, 1, 1, 2).HTML(), []string{"<pre"}, 0, 0},
		{"not finite", Of(math.NaN(), math.Inf(1)).HTML(), []string{">nan<", ">inf<"}, 1, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, want := range tt.want {
				if !strings.Contains(tt.html, want) {
					t.Errorf("HTML lacks %q:\n%s", want, tt.html)
				}
			}
			if n := strings.Count(tt.html, "<table"); n != tt.tables {
				t.Errorf("%d tables, want %d", n, tt.tables)
			}
			if n := strings.Count(tt.html, "<td"); n != tt.cells {
				t.Errorf("%d cells, want %d", n, tt.cells)
			}
			d := xml.NewDecoder(strings.NewReader(tt.html))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("tags do not match: %v\n%s", err, tt.html)
				}
			}
		})
	}
}
