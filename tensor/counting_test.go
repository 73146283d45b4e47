package tensor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func wantTensor(t *testing.T, what string, got *Tensor, want string) {
	t.Helper()
	if s := fmt.Sprintf("%v%v%v", got.Dtype(), got.Shape(), got.Floats()); s != want {
		t.Errorf("%s: got %s, want %s", what, s, want)
	}
}

func wantError(t *testing.T, what string, kind error, part string, f func()) {
	t.Helper()
	if err := Try(f); !errors.Is(err, kind) || !strings.Contains(fmt.Sprint(err), part) {
		t.Errorf("%s: got %v, want %v with %q", what, err, kind, part)
	}
}

func TestBincount(t *testing.T) {
	wantTensor(t, "of a matrix", Of([]int{4, 1}, []int{1, 0}).Bincount(0), "int64[5][1 2 0 0 1]")
	wantTensor(t, "with room", Of(1).Bincount(3), "int64[3][0 1 0]")
	wantTensor(t, "of nothing", With(Int64).Zeros(0).Bincount(2), "int64[2][0 0]")
	wantError(t, "negative", ErrValue, "element 1 is -2", func() { Of(1, -2).Bincount(0) })
	wantError(t, "fractions", ErrDtype, "only integers", func() { Of(1.5).Bincount(0) })
	if err := Try(func() { Of(math.MaxInt64).Bincount(0) }); err == nil {
		t.Error("an id of 2⁶³-1 got its vector")
	}
}

func TestUnique(t *testing.T) {
	values, at, counts := Of([]float64{3, 1}, []float64{1, 2}).Unique()
	wantTensor(t, "values", values, "float32[3][1 2 3]")
	wantTensor(t, "positions", at, "int64[2 2][2 0 0 1]")
	wantTensor(t, "counts", counts, "int64[3][2 1 1]")
	values, at, counts = With(Int64).Zeros(0).Unique()
	wantTensor(t, "values of nothing", values, "int64[0][]")
	wantTensor(t, "positions of nothing", at, "int64[0][]")
	wantTensor(t, "counts of nothing", counts, "int64[0][]")
	values, _, _ = Of(1<<53+1, 1<<53, 1<<53+1).Unique()
	if got := values.Ints(); !slices.Equal(got, []int64{1 << 53, 1<<53 + 1}) {
		t.Errorf("large integers: got %v", got)
	}
	values, _, _ = Of(math.NaN(), 1, math.NaN()).Unique()
	wantTensor(t, "NaN", values, "float32[3][1 NaN NaN]")
	x := With(NewGenerator(3)).Randint(-4, 5, 6, 7)
	values, at, counts = x.Unique()
	if !Equal(values.IndexSelect(0, at.Reshape(-1)).Reshape(6, 7), x) || counts.Sum().Item() != 42 {
		t.Errorf("the values at the positions of\n%v\nare not itself: %v %v", x, values, at)
	}
}

func TestSearchsorted(t *testing.T) {
	sorted := Of(1., 3, 3, 5)
	wantTensor(t, "before equals", sorted.Searchsorted(Of([]float64{0, 3}, []float64{6, math.NaN()}), false), "int64[2 2][0 1 4 4]")
	wantTensor(t, "behind equals", sorted.Searchsorted(3, true), "int64[][3]")
	wantTensor(t, "integers", Of(1<<53, 1<<53+1).Searchsorted(Of(1<<53+1), false), "int64[1][1]")
	wantError(t, "a matrix", ErrShape, "have 2 axes", func() { Ones(2, 2).Searchsorted(1, false) })
}

func TestQuantile(t *testing.T) {
	x := Of([]float64{4, 1, 3, 2}, []float64{7, math.NaN(), 0, 1})
	wantTensor(t, "between", x.Quantile(1, 0.5), "float32[2][2.5 NaN]")
	wantTensor(t, "another axis", x.Quantile(0, 0), "float32[4][4 NaN 0 1]")
	wantTensor(t, "a number", Of(2.).View().Quantile(0, 0.3), "float32[][2]")
	wantTensor(t, "infinities", Of(1, math.Inf(1)).Quantile(0, 1), "float32[][+Inf]")
	values, at := x.Median(1)
	wantTensor(t, "median", values, "float32[2][2 NaN]")
	wantTensor(t, "its position", at, "int64[2][3 1]")
	values, _ = Of(3, 1, 2).Median(0)
	wantTensor(t, "integers", values, "int64[][2]")
	wantError(t, "a share", ErrValue, "1.5 is not a fraction", func() { x.Quantile(0, 1.5) })
	wantError(t, "nothing", ErrShape, "axis 0 is empty", func() { Ones(0).Quantile(0, 0.5) })
	wantError(t, "integers' quantile", ErrDtype, "lie between", func() { Of(1, 2).Quantile(0, 0.5) })
}

func TestBottomK(t *testing.T) {
	values, at := Of([]float64{4, 1, 3, 1}, []float64{math.NaN(), 2, 0, -1}).BottomK(1, 2)
	wantTensor(t, "values", values, "float32[2 2][1 1 -1 0]")
	wantTensor(t, "positions", at, "int64[2 2][1 3 3 2]")
	wantError(t, "too many", ErrValue, "bottomk", func() { Ones(2).BottomK(0, 3) })
}

func TestIsClose(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	a, b := Of(1, 1, inf, inf, nan, nan, 1e9, 1), Of(1.1, 1.3, inf, -inf, nan, 1, inf, inf)
	got := IsClose(a, b, 0.1, 0.05)
	wantTensor(t, "each kind", got, "bool[8][1 0 1 0 1 0 0 0]")
	for i := range a.Len() {
		x, y := a.Narrow(0, i, 1), b.Narrow(0, i, 1)
		if AllClose(x, y, 0.1, 0.05) != (got.At(i) == 1) {
			t.Errorf("AllClose and IsClose differ for %v and %v", x, y)
		}
	}
	wantTensor(t, "broadcast", IsClose(Ones(2, 1), Of(1., 2), 0, 0), "bool[2 2][1 0 1 0]")
}

func TestNanToNum(t *testing.T) {
	inf := math.Inf(1)
	wantTensor(t, "floats", Of(math.NaN(), inf, -inf, 4).NanToNum(1, 2, 3), "float32[4][1 2 3 4]")
	wantTensor(t, "integers", Of(5, -6).NanToNum(1, 2, 3), "int64[2][5 -6]")
}

func TestLeakyActivations(t *testing.T) {
	x := Of(-2., 0, 3, math.Inf(-1))
	wantTensor(t, "leaky", x.LeakyReLU(0.5), "float32[4][-1 0 3 -Inf]")
	wantTensor(t, "elu", x.Narrow(0, 1, 3).ELU(2), "float32[3][0 3 -2]")
	if got, want := x.ELU(2).At(0), 2*math.Expm1(-2); math.Abs(got-want) > 1e-6 {
		t.Errorf("elu of -2: got %g, want %g", got, want)
	}
}

func TestMultinomial(t *testing.T) {
	const n = 20_000
	w := Of([]float64{0, 3, 1, 0}, []float64{1e38, 0, 1e38, 1e38})
	at := w.Multinomial(n, true, NewGenerator(1))
	want := [][]float64{{0, 0.75, 0.25, 0}, {1. / 3, 0, 1. / 3, 1. / 3}}
	for row := range 2 {
		for i, count := range at.Select(0, row).Bincount(4).Floats() {
			if p := want[row][i]; math.Abs(count/n-p) > 5*math.Sqrt(p*(1-p)/n) {
				t.Errorf("row %d: position %d came %v times of %d, want a share of %g", row, i, count, n, p)
			}
		}
	}
	first := map[int64]float64{}
	g := NewGenerator(2)
	for range n {
		drawn := Of(1., 0, 2, 5).Multinomial(3, false, g).Ints()
		first[drawn[0]]++
		if slices.Sort(drawn); !slices.Equal(drawn, []int64{0, 2, 3}) {
			t.Fatalf("without replacement: got %v", drawn)
		}
	}
	for i, p := range map[int64]float64{0: 1. / 8, 2: 2. / 8, 3: 5. / 8} {
		if math.Abs(first[i]/n-p) > 5*math.Sqrt(p*(1-p)/n) {
			t.Errorf("position %d came first %v times of %d, want a share of %g", i, first[i], n, p)
		}
	}
	a, b := w.Multinomial(9, true, NewGenerator(7)), w.Multinomial(9, true, NewGenerator(7))
	if !Equal(a, b) {
		t.Errorf("one seed gave %v and %v", a, b)
	}
	wantTensor(t, "none", w.Multinomial(0, false, nil), "int64[2 0][]")
	wantError(t, "too few", ErrValue, "row 0 has 2 weights above 0, too few for 3 positions", func() { w.Multinomial(3, false, nil) })
	wantError(t, "none above 0", ErrValue, "row 0 has 0 weights", func() { Zeros(3).Multinomial(1, true, nil) })
	wantError(t, "negative", ErrValue, "weight 1 of row 0 is -1", func() { Of(1., -1).Multinomial(1, true, nil) })
	wantError(t, "no weights", ErrValue, "row 0 has 0 weights", func() { Zeros(0).Multinomial(1, true, nil) })
	wantError(t, "axes", ErrShape, "these have 3", func() { Ones(1, 1, 1).Multinomial(1, true, nil) })
}
