package layout

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// positions lists the storage index of every element in row-major order: what
// a layout means, written naively.
func positions(l Layout) []int {
	var all []int
	index := make([]int, l.Rank())
	for range l.Len() {
		at := l.Offset
		for axis, i := range index {
			at += i * l.Strides[axis]
		}
		all = append(all, at)
		for axis := l.Rank() - 1; axis >= 0; axis-- {
			if index[axis]++; index[axis] < l.Shape[axis] {
				break
			}
			index[axis] = 0
		}
	}
	return all
}

func TestLayoutOfViews(t *testing.T) {
	base := Contiguous(2, 3, 4)
	must := func(l Layout, err error) Layout {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	tests := []struct {
		name           string
		got            Layout
		shape, strides []int
		offset         int
		contiguous     bool
	}{
		{"contiguous", base, []int{2, 3, 4}, []int{12, 4, 1}, 0, true},
		{"transpose", must(base.Transpose(0, -1)), []int{4, 3, 2}, []int{1, 4, 12}, 0, false},
		{"permute", must(base.Permute(1, 2, 0)), []int{3, 4, 2}, []int{4, 1, 12}, 0, false},
		{"select", must(base.Select(1, -1)), []int{2, 4}, []int{12, 1}, 8, false},
		{"select first axis", must(base.Select(0, 1)), []int{3, 4}, []int{4, 1}, 12, true},
		{"slice", must(base.Slice(2, 1, 4, 2)), []int{2, 3, 2}, []int{12, 4, 2}, 1, false},
		{"slice cut to the axis", must(base.Slice(2, -100, 100, 3)), []int{2, 3, 2}, []int{12, 4, 3}, 0, false},
		{"empty slice", must(base.Slice(2, 3, 1, 1)), []int{2, 3, 0}, []int{12, 4, 1}, 3, true},
		{"narrow", must(base.Narrow(1, 1, 2)), []int{2, 2, 4}, []int{12, 4, 1}, 4, false},
		{"unsqueeze", must(base.Unsqueeze(1)), []int{2, 1, 3, 4}, []int{12, 12, 4, 1}, 0, true},
		{"unsqueeze at the end", must(base.Unsqueeze(-1)), []int{2, 3, 4, 1}, []int{12, 4, 1, 1}, 0, true},
		{"squeeze", must(Contiguous(1, 3, 1).Squeeze()), []int{3}, []int{1}, 0, true},
		{"squeeze one", must(Contiguous(1, 3, 1).Squeeze(0)), []int{3, 1}, []int{1, 1}, 0, true},
		{"expand", must(Contiguous(3, 1).Expand(2, 3, 4)), []int{2, 3, 4}, []int{0, 1, 0}, 0, false},
		{"expand with -1", must(Contiguous(3, 1).Expand(-1, 4)), []int{3, 4}, []int{1, 0}, 0, false},
		{"diagonal", must(Contiguous(3, 4).Diagonal(1, 0, 1)), []int{3}, []int{5}, 1, false},
		{"diagonal below", must(Contiguous(3, 4).Diagonal(-2, 0, 1)), []int{1}, []int{5}, 8, true},
		{"unfold", must(Contiguous(7).Unfold(0, 3, 2)), []int{3, 3}, []int{2, 1}, 0, false},
		{"view", must(base.View(6, -1)), []int{6, 4}, []int{4, 1}, 0, true},
		{"view of a column block", must(must(base.Slice(2, 0, 2, 1)).View(6, 2)), []int{6, 2}, []int{4, 1}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := tt.got
			if !slices.Equal(l.Shape, tt.shape) || !slices.Equal(l.Strides, tt.strides) || l.Offset != tt.offset {
				t.Errorf("shape %v strides %v offset %d, want %v %v %d", l.Shape, l.Strides, l.Offset, tt.shape, tt.strides, tt.offset)
			}
			if l.IsContiguous() != tt.contiguous {
				t.Errorf("IsContiguous() = %v, want %v", l.IsContiguous(), tt.contiguous)
			}
		})
	}
}

// drawLayout makes a layout by a random chain of views.
func drawLayout(t *rapid.T) Layout {
	shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 4).Draw(t, "shape")
	l := Contiguous(shape...)
	for range rapid.IntRange(0, 4).Draw(t, "views") {
		if l.Rank() == 0 {
			l, _ = l.Unsqueeze(0)
		}
		axis := rapid.IntRange(0, l.Rank()-1).Draw(t, "axis")
		var next Layout
		var err error
		switch rapid.IntRange(0, 4).Draw(t, "view") {
		case 0:
			next, err = l.Transpose(axis, rapid.IntRange(0, l.Rank()-1).Draw(t, "other"))
		case 1:
			next, err = l.Slice(axis, rapid.IntRange(0, 3).Draw(t, "start"), 4, rapid.IntRange(1, 2).Draw(t, "step"))
		case 2:
			next, err = l.Unsqueeze(axis)
		case 3:
			next, err = l.Squeeze()
		case 4:
			next, err = l.Expand(append([]int{2}, l.Shape...)...)
		}
		if err != nil {
			t.Fatal(err)
		}
		l = next
	}
	return l
}

func TestViewKeepsEveryElementInPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		shape := rapid.SliceOfN(rapid.IntRange(0, 6), 0, 4).Draw(t, "to")
		v, err := l.View(shape...)
		if err != nil {
			return // refused: TestViewRefusesOnlyWhatItMust says when that is right
		}
		if !slices.Equal(positions(v), positions(l)) {
			t.Fatalf("view of %+v as %v is %+v: elements moved", l, shape, v)
		}
	})
}

// Whether strides exist is decided here by trying: axis by axis, the stride
// must be the distance of the two elements that it separates.
func TestViewRefusesOnlyWhatItMust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		n := l.Len()
		if n == 0 {
			return
		}
		a := rapid.SampledFrom(divisors(n)).Draw(t, "a")
		b := rapid.SampledFrom(divisors(n/a)).Draw(t, "b")
		shape := []int{a, b, n / a / b}
		want := positions(l)
		candidate := Contiguous(shape...)
		candidate.Offset = l.Offset
		for axis, step := range slices.Clone(candidate.Strides) {
			if shape[axis] > 1 {
				candidate.Strides[axis] = want[step] - want[0]
			}
		}
		exists := slices.Equal(positions(candidate), want)
		if _, err := l.View(shape...); (err == nil) != exists {
			t.Fatalf("view of shape %v strides %v as %v: error %v, but strides exist: %v", l.Shape, l.Strides, shape, err, exists)
		}
	})
}

func divisors(n int) []int {
	var all []int
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			all = append(all, d)
		}
	}
	return all
}

func TestMergedHasTheSameElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		if l.Len() == 0 {
			return
		}
		if m := l.Merged(); !slices.Equal(positions(m), positions(l)) {
			t.Fatalf("merged %+v of %+v", m, l)
		}
	})
}

func TestMayOverlapMissesNoOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		all := positions(l)
		slices.Sort(all)
		overlaps := len(slices.Compact(slices.Clone(all))) < len(all)
		if overlaps && !l.MayOverlap() {
			t.Fatalf("positions of %+v coincide, and mayOverlap is false", l)
		}
	})
	for _, l := range []Layout{Contiguous(3, 4), {[]int{4, 3}, []int{1, 4}, 0}, {[]int{2, 2}, []int{12, 3}, 1}} {
		if l.MayOverlap() {
			t.Errorf("mayOverlap is true for %+v", l)
		}
	}
}

func TestBroadcastShape(t *testing.T) {
	tests := []struct {
		a, b, want []int
		wantErr    string
	}{
		{[]int{2, 3}, []int{2, 3}, []int{2, 3}, ""},
		{[]int{4, 1}, []int{3}, []int{4, 3}, ""},
		{[]int{}, []int{2}, []int{2}, ""},
		{[]int{0}, []int{1}, []int{0}, ""},
		{[]int{8, 1, 6, 1}, []int{7, 1, 5}, []int{8, 7, 6, 5}, ""},
		{[]int{2, 3}, []int{2}, nil, "sizes differ, 3 (axis 1 of left) and 2 (axis 0 of right)"},
	}
	for _, tt := range tests {
		got, err := Broadcast(tt.a, tt.b)
		if tt.wantErr != "" {
			if err == nil || err.(*Error).Reason != tt.wantErr {
				t.Errorf("broadcast %v %v: error %v, want %q", tt.a, tt.b, err, tt.wantErr)
			}
		} else if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("broadcast %v %v = %v, %v, want %v", tt.a, tt.b, got, err, tt.want)
		}
	}
}
