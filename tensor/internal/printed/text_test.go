package printed

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// random is an array of one of several kinds of numbers, among which the style has to choose.
func random(r *rand.Rand) Array {
	shape := make([]int, r.IntN(5))
	strides, n := make([]int, len(shape)), 1
	for i := range shape {
		shape[i] = r.IntN(12)
		strides[i] = n
		n *= shape[i]
	}
	values := make([]float64, n)
	kind := r.IntN(6)
	for i := range values {
		switch v := r.NormFloat64(); kind {
		case 0:
			values[i] = v
		case 1:
			values[i] = math.Trunc(10 * v)
		case 2:
			values[i] = v * math.Pow(10, float64(r.IntN(250)-120))
		case 3:
			values[i] = []float64{0, math.NaN(), math.Inf(1), math.Inf(-1), v, 9.99999}[r.IntN(6)]
		case 4:
			values[i] = math.Trunc(1e6 * math.Abs(v))
		default:
			values[i] = float64(r.IntN(2))
		}
	}
	at := func(index []int) float64 {
		place := 0
		for i, k := range index {
			place += k * strides[i]
		}
		return values[place]
	}
	whole := kind == 1 || kind >= 4
	return Array{Shape: shape, Float: !whole || r.IntN(2) == 0, Bool: kind == 5, At: func(index ...int) float64 { return at(index) },
		Whole: func(index ...int) int64 { return int64(at(index)) }}
}

// TestLine: a line holds what the text holds, cut where it is longer than the limit.
func TestLine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cut := 0
	for range 2000 {
		a := random(r)
		const limit = 160
		want := strings.Join(strings.Fields(a.Text(0)), " ")
		if len(want) > limit {
			cut++
			want = want[:limit-20] + " … " + want[len(want)-12:]
		}
		if got := a.Line(limit); got != want {
			t.Fatalf("shape %v:\ngot  %q\nwant %q", a.Shape, got, want)
		}
	}
	if cut < 100 || cut > 1900 {
		t.Errorf("%d of 2000 lines are cut", cut)
	}
}

// TestWidth: the style is as wide as the longest of all numbers.
func TestWidth(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		a := random(r)
		if !a.Float {
			continue
		}
		p := printer{Array: a, summarize: a.len() > Threshold}
		want := 1
		for _, v := range p.chooseStyle() {
			if v != 0 && !math.IsNaN(v) && !math.IsInf(v, 0) {
				want = max(want, len(p.style.digits(v)))
			}
		}
		if p.style.width != want {
			t.Fatalf("shape %v: got %d, want %d", a.Shape, p.style.width, want)
		}
	}
}
