package tensor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestNegativePositions: ids that are negative are refused by all that PyTorch
// refuses them in; Index counts them from the end.
func TestNegativePositions(t *testing.T) {
	x := Arange(6).View(3, 2)
	for name, f := range map[string]func(p int64){
		"index select": func(p int64) { x.IndexSelect(0, Of([]int64{p})) },
		"embedding":    func(p int64) { x.Embedding(Of([]int64{0, p})) },
		"gather":       func(p int64) { x.Gather(0, Of([]int64{p, 0}).View(1, 2)) },
		"one hot":      func(p int64) { OneHot(Of([]int64{p}), 3) },
	} {
		for _, p := range []int64{-1, -3, -4, 3, 1 << 40} {
			err := Try(func() { f(p) })
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), fmt.Sprint(p)) {
				t.Errorf("%s of %d: %v", name, p, err)
			}
		}
		if err := Try(func() { f(2) }); err != nil {
			t.Errorf("%s of 2: %v", name, err)
		}
	}
	if got := x.Index(Of([]int64{-1, 0})); !Equal(got, Of([]int{4, 5}, []int{0, 1})) {
		t.Errorf("index by -1 and 0: %v", got)
	}
	if got := x.Clone().SetIndex(9, Of([]int64{-1})); !Equal(got, Of([]int{0, 1}, []int{2, 3}, []int{9, 9})) {
		t.Errorf("set index by -1: %v", got)
	}
}

// TestRangesAreSlices: a range selects what a slice of Go's does, and Step every n-th of that.
func TestRangesAreSlices(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6}
	x := Of(all)
	for _, c := range []struct {
		name string
		r    Range
		want []int
	}{
		{"From", From(4), all[4:]}, {"From the end", From(-2), all[5:]}, {"From behind the end", From(9), nil},
		{"Until", Until(3), all[:3]}, {"Until the end", Until(-3), all[:4]}, {"Until 0", Until(0), nil},
		{"Between", Between(2, 5), all[2:5]}, {"Step", All.Step(3), []int{0, 3, 6}}, {"Step between", Between(1, 6).Step(2), []int{1, 3, 5}},
	} {
		got := x.Index(c.r)
		if !Equal(got, Of(append([]int{}, c.want...)).To(Int64)) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if got.Len() > 0 && MemoryOf(got) != MemoryOf(x) {
			t.Errorf("%s is no view", c.name)
		}
	}
	if got := x.View(7, 1).Index(Ellipsis, NewAxis, 0); !slices.Equal(got.Shape(), []int{7, 1}) {
		t.Errorf("a new axis before the last: %v", got.Shape())
	}
}

// TestSelectSmallRows: rows that are as large as a word are selected right, whatever they are
// made of and wherever they begin.
func TestSelectSmallRows(t *testing.T) {
	for _, d := range Dtypes() {
		if d == Bool {
			continue
		}
		for _, width := range []int{1, 2, 3, 4, 8} {
			for skipped := range 3 {
				all := Arange(float64(skipped + 5*width)).To(d)
				x := all.Narrow(0, skipped, 5*width).View(5, width)
				got := x.IndexSelect(0, []int{4, 0, 4}).Floats()
				var want []float64
				for _, row := range []int{4, 0, 4} {
					want = append(want, x.Select(0, row).Floats()...)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, rows of %d from element %d on: %v, want %v", d, width, skipped, got, want)
				}
			}
		}
	}
}

// TestSingleNumberAsRow: axis 0 and -1 of a single number are what the axis of a row
// of one is, wherever PyTorch takes them.
func TestSingleNumberAsRow(t *testing.T) {
	x := With(Float64).Scalar(3)
	for name, f := range map[string]func(x *Tensor, axis int) *Tensor{
		"transpose": func(x *Tensor, axis int) *Tensor { return x.Transpose(axis, 0) }, "squeeze": func(x *Tensor, axis int) *Tensor { return x.Squeeze(axis) },
		"flip": func(x *Tensor, axis int) *Tensor { return x.Flip(axis) }, "sum": func(x *Tensor, axis int) *Tensor { return x.Sum(axis) },
		"max": func(x *Tensor, axis int) *Tensor { return x.Max(axis) }, "cumsum": func(x *Tensor, axis int) *Tensor { return x.Cumsum(axis) },
		"cumprod": func(x *Tensor, axis int) *Tensor { return x.Cumprod(axis) }, "logsumexp": func(x *Tensor, axis int) *Tensor { return x.LogSumExp(axis) },
		"sort": func(x *Tensor, axis int) *Tensor { return first(x.Sort(axis, true)) }, "max at": func(x *Tensor, axis int) *Tensor { return first(x.MaxAt(axis)) },
		"gather": func(x *Tensor, axis int) *Tensor { return x.Gather(axis, With(Int64).Scalar(0)) },
	} {
		for _, axis := range []int{0, -1} {
			if got, err := try(func() *Tensor { return f(x, axis) }); err != nil || got.Dim() != 0 || got.Item() != 3 {
				t.Errorf("%s of axis %d: %v, %v", name, axis, got, err)
			}
		}
		for _, axis := range []int{1, -2} {
			if got, err := try(func() *Tensor { return f(x, axis) }); err == nil {
				t.Errorf("%s of axis %d gives %v, want an error", name, axis, got)
			}
		}
	}
}

// TestCloneKeepsOrderOfAxes: the strides are PyTorch's.
func TestCloneKeepsOrderOfAxes(t *testing.T) {
	x := Arange(24).View(2, 3, 4)
	for _, c := range []struct {
		name    string
		x       *Tensor
		strides []int
	}{
		{"contiguous", x, []int{12, 4, 1}},
		{"transposed matrix", Arange(6).View(2, 3).T(), []int{1, 3}},
		{"permuted", x.Permute(2, 0, 1), []int{1, 12, 4}},
		{"a part of it", x.Permute(2, 0, 1).Narrow(0, 1, 2), []int{1, 6, 2}},
		{"every other column of a transposed matrix", Arange(12).View(3, 4).T().Slice(1, 0, 3, 2), []int{1, 4}},
		{"expanded", Arange(3).View(3, 1).Expand(3, 4), []int{4, 1}},
		{"expanded in front", Arange(3).Expand(2, 3), []int{3, 1}},
		{"expanded and transposed", Arange(6).View(2, 3).T().Unsqueeze(2).Expand(3, 2, 2), []int{2, 6, 1}},
		{"an axis of size 1", Arange(6).View(2, 3).Narrow(0, 1, 1), []int{3, 1}},
		{"number", Scalar(1), []int{}},
		{"diagonal", Arange(9).View(3, 3).Diagonal(0, 0, 1), []int{1}},
		{"windows", Arange(6).Unfold(0, 3, 1), []int{3, 1}},
		{"empty", Zeros(0, 3).T(), []int{1, 3}},
	} {
		y := c.x.Clone()
		if !slices.Equal(y.Strides(), c.strides) || !Equal(y, c.x) || SameStorage(y, c.x) || y.Bytes() != y.storage.Size {
			t.Errorf("%s: strides %v in %d bytes, want %v in %d; %v, want %v", c.name, y.Strides(), y.storage.Size, c.strides, y.Bytes(), y, c.x)
		}
		if z := c.x.Contiguous(); !z.IsContiguous() || !Equal(z, c.x) {
			t.Errorf("%s: Contiguous has strides %v", c.name, z.Strides())
		}
		f := c.x.To(Float64)
		f = f.alias(f.layout).RequireGrad()
		f.Clone().Mul(3).Sum().Backward()
		if g := f.Grad(); !g.IsContiguous() || !AllClose(g, FullLike(f, 3), 0, 0) {
			t.Errorf("%s: gradient %v", c.name, g)
		}
	}
}
