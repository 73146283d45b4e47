package layout

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// bases are layouts of every kind, small enough to try all that can be asked of them.
func bases(t *testing.T) map[string]Layout {
	must := func(l Layout, err error) Layout {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	whole := Contiguous(3, 4, 2)
	return map[string]Layout{
		"contiguous": whole, "transposed": must(whole.Transpose(0, 2)), "every other": must(whole.Slice(1, 1, 4, 2)),
		"repeated": must(Contiguous(3, 1, 2).Expand(3, 4, 2)), "empty": Contiguous(3, 0, 2), "one": Contiguous(1, 1, 1),
	}
}

// at returns the storage index of an element, written naively.
func at(l Layout, index ...int) int {
	place := l.Offset
	for axis, i := range index {
		place += i * l.Strides[axis]
	}
	return place
}

// each calls f with every index of a shape.
func each(shape []int, f func(index []int)) {
	if slices.Contains(shape, 0) {
		return
	}
	index := make([]int, len(shape))
	for {
		f(index)
		axis := len(shape) - 1
		for ; axis >= 0; axis-- {
			if index[axis]++; index[axis] < shape[axis] {
				break
			}
			index[axis] = 0
		}
		if axis < 0 {
			return
		}
	}
}

// TestEveryViewOfAnAxis compares all that views of one axis, or two, may be asked for with their elements one by one,
// and what is refused with the bounds that the comments give.
func TestEveryViewOfAnAxis(t *testing.T) {
	// same checks a view: whether it was refused, its shape, and where each of its elements lies.
	same := func(what string, l Layout, err error, refused bool, kind error, shape []int, from func(index []int) int) {
		t.Helper()
		if refused || err != nil {
			if !refused || !errors.Is(err, kind) {
				t.Errorf("%s: got %v, want it refused: %v, as %v", what, err, refused, kind)
			}
			return
		}
		if !slices.Equal(l.Shape, shape) || len(l.Strides) != len(shape) {
			t.Errorf("%s: shape %v and strides %v, want shape %v", what, l.Shape, l.Strides, shape)
			return
		}
		each(shape, func(index []int) {
			if got, want := at(l, index...), from(index); got != want {
				t.Errorf("%s: element %v lies at %d, want %d", what, index, got, want)
			}
		})
	}
	moved := func(index []int, axis, to int) []int {
		index = slices.Clone(index)
		index[axis] = to
		return index
	}
	sized := func(l Layout, axis, size int) []int { return moved(l.Shape, axis, size) }
	for name, l := range bases(t) {
		before := l.Copied(0)
		for axis, n := range l.Shape {
			for start := -n - 1; start <= n+1; start++ {
				from := start
				if from < 0 {
					from += n
				}
				selected, err := l.Select(axis-len(l.Shape), start)
				same(fmt.Sprintf("%s: select %d of axis %d", name, start, axis), selected, err, from < 0 || from >= n, ErrIndex,
					slices.Delete(slices.Clone(l.Shape), axis, axis+1), func(index []int) int { return at(l, slices.Insert(slices.Clone(index), axis, from)...) })
				for length := -1; length <= n+1; length++ {
					narrow, err := l.Narrow(axis, start, length)
					same(fmt.Sprintf("%s: narrow axis %d from %d to %d", name, axis, start, length), narrow, err,
						from < 0 || length < 0 || from+length > n, ErrIndex, sized(l, axis, length),
						func(index []int) int { return at(l, moved(index, axis, from+index[axis])...) })
				}
			}
			for size := -1; size <= n+1; size++ {
				for step := 0; step <= 3; step++ {
					kind := ErrShape
					if size >= 0 && size <= n {
						kind = ErrValue
					}
					unfolded, err := l.Unfold(axis, size, step)
					windows := 0
					for start := 0; step > 0 && start+size <= n; start += step {
						windows++
					}
					same(fmt.Sprintf("%s: windows of %d on axis %d, %d apart", name, size, axis, step), unfolded, err, size < 0 || size > n || step < 1, kind,
						append(sized(l, axis, windows), size),
						func(index []int) int {
							last := len(index) - 1
							return at(l, moved(index[:last], axis, index[axis]*step+index[last])...)
						})
				}
			}
			for other, m := range l.Shape {
				for offset := -n - 1; offset <= m+1; offset++ {
					diagonal, err := l.Diagonal(offset, axis, other)
					var rest []int
					for i, size := range l.Shape {
						if i != axis && i != other {
							rest = append(rest, size)
						}
					}
					length := 0
					for i := range n {
						if i+offset >= 0 && i+offset < m {
							length++
						}
					}
					same(fmt.Sprintf("%s: diagonal %d of axes %d and %d", name, offset, axis, other), diagonal, err, axis == other, ErrShape, append(rest, length),
						func(index []int) int {
							full, next := make([]int, len(l.Shape)), 0
							for i := range full {
								if i != axis && i != other {
									full[i] = index[next]
									next++
								}
							}
							full[axis] = index[next] - min(offset, 0)
							full[other] = index[next] + max(offset, 0)
							return at(l, full...)
						})
				}
			}
			unsqueezed, err := l.Unsqueeze(axis)
			same(fmt.Sprintf("%s: a new axis %d", name, axis), unsqueezed, err, false, nil, slices.Insert(slices.Clone(l.Shape), axis, 1),
				func(index []int) int { return at(l, slices.Delete(slices.Clone(index), axis, axis+1)...) })
		}
		l.WithoutRepeats()
		if !slices.Equal(l.Shape, before.Shape) || !slices.Equal(l.Strides, before.Strides) {
			t.Errorf("%s: its views changed it to %v, %v", name, l.Shape, l.Strides)
		}
	}
}

// TestAxes: an axis is one from -rank to rank-1, and a permutation names each once.
func TestAxes(t *testing.T) {
	for rank := range 4 {
		l := Contiguous(make([]int, rank)...)
		for a := -rank - 1; a <= rank; a++ {
			axis, err := l.Axis(a)
			if inside := a >= -rank && a < rank; (err == nil) != inside || inside && axis != (a+rank)%rank {
				t.Errorf("axis %d of %d: %d, %v", a, rank, axis, err)
			}
		}
	}
	if !(Layout{}).NamesNumber(0, -1) || (Layout{}).NamesNumber(0, 1) || (Layout{}).NamesNumber(-2) {
		t.Error("0 and -1 name a single number, and no others")
	}
	if _, err := Contiguous(2, 3).Permute(0, -2); !errors.Is(err, ErrShape) {
		t.Errorf("axis 0 twice: %v", err)
	}
	if text := commas([]int{2, 30, -1}); text != "2, 30, -1" {
		t.Errorf("sizes as in Go: %q", text)
	}
}

// TestMemoryOrder: axes come in the order of their strides, those that repeat elements stay where they are, and of
// equal strides the larger axis comes first.
func TestMemoryOrder(t *testing.T) {
	for _, c := range []struct{ shape, strides, want []int }{
		{[]int{2, 3, 4}, []int{12, 4, 1}, []int{0, 1, 2}}, {[]int{2, 3, 4}, []int{1, 4, 12}, []int{2, 1, 0}},
		{[]int{2, 3, 4}, []int{4, 12, 1}, []int{1, 0, 2}}, {[]int{2, 3, 4}, []int{4, 1, 12}, []int{2, 0, 1}}, {[]int{2, 3, 4}, []int{1, 12, 4}, []int{1, 2, 0}},
		{[]int{2, 3, 4}, []int{1, 0, 2}, []int{2, 1, 0}}, {[]int{2, 3}, []int{0, 1}, []int{0, 1}}, {[]int{2, 3}, []int{1, 0}, []int{0, 1}},
		{[]int{1, 3}, []int{1, 1}, []int{1, 0}}, {[]int{3, 1}, []int{1, 1}, []int{0, 1}}, {[]int{3, 3}, []int{1, 1}, []int{0, 1}},
		{nil, nil, []int{}}, {[]int{5}, []int{1}, []int{0}},
	} {
		if got := (Layout{c.shape, c.strides, 0}).MemoryOrder(); !slices.Equal(got, c.want) {
			t.Errorf("shape %v, strides %v: order %v, want %v", c.shape, c.strides, got, c.want)
		}
	}
}

// TestOverlaps: whether elements share a place, where axes reach over others by one place more or less.
func TestOverlaps(t *testing.T) {
	for _, c := range []struct {
		shape, strides []int
		want           bool
	}{
		{[]int{4, 3}, []int{3, 1}, false}, {[]int{4, 3}, []int{2, 1}, true}, {[]int{2, 2, 2}, []int{4, 2, 1}, false}, {[]int{2, 2, 2}, []int{3, 2, 1}, true},
		{[]int{2, 3, 2}, []int{4, 1, 3}, true}, {[]int{2}, []int{0}, true}, {[]int{1}, []int{0}, false}, {[]int{0, 2}, []int{0, 0}, false}, {[]int{1, 2}, []int{0, 1}, false},
	} {
		if got := (Layout{c.shape, c.strides, 0}).MayOverlap(); got != c.want {
			t.Errorf("shape %v, strides %v: overlap is %v", c.shape, c.strides, got)
		}
	}
}

// TestCountable: sizes may be multiplied as long as the bytes of 16 for each element can be counted.
func TestCountable(t *testing.T) {
	const most = math.MaxInt >> 4
	for _, c := range []struct {
		sizes []int
		n     int
		ok    bool
	}{{[]int{most}, most, true}, {[]int{most + 1}, 0, false}, {[]int{1 << 40, 1 << 40}, 0, false}, {[]int{1 << 40, 1 << 40, 0}, 0, true}, {nil, 1, true}, {[]int{1 << 32, 1 << 32}, 0, false}} {
		if n, ok := countable(c.sizes); n != c.n || ok != c.ok {
			t.Errorf("%v: %d, %v", c.sizes, n, ok)
		}
	}
}

// TestInferShape: one size may be left to be worked out, and the others must have as many elements.
func TestInferShape(t *testing.T) {
	l := Contiguous(2, 6)
	for _, c := range []struct {
		asked, want []int
		say         string
	}{
		{[]int{-1, 4}, []int{3, 4}, ""}, {[]int{3, -1}, []int{3, 4}, ""}, {[]int{12}, []int{12}, ""}, {[]int{-1, -1}, nil, "sizes 0 and 1 are both -1"},
		{[]int{-2, 6}, nil, "size -2 is negative"}, {[]int{5, -1}, nil, "shape [2 6] has 12 elements, [5 -1] needs a multiple of 5"}, {[]int{5, 2}, nil, "[5 2] has 10"},
		{[]int{0, -1}, nil, "can't be worked out"}, {[]int{0, 12}, nil, "has 0"},
	} {
		got, err := l.InferShape(c.asked)
		if c.say == "" && (err != nil || !slices.Equal(got, c.want)) || c.say != "" && (err == nil || !strings.Contains(err.Error(), c.say)) {
			t.Errorf("%v: %v, %v, want %v %q", c.asked, got, err, c.want, c.say)
		}
	}
}

// TestPlacesAndRepeats: each element's place, and which layouts repeat elements, are what their positions say.
func TestPlacesAndRepeats(t *testing.T) {
	for name, l := range bases(t) {
		all := positions(l)
		for i, want := range all {
			if got := l.Place(i); got != want {
				t.Errorf("%s: element %d lies at %d, want %d", name, i, got, want)
			}
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(all)))
		if got := l.RepeatsOne(); len(all) > 0 && got != (len(distinct) == 1) {
			t.Errorf("%s repeats one: %v, and has %d places", name, got, len(distinct))
		}
		once := positions(l.WithoutRepeats())
		if slices.Sort(once); len(once) != len(distinct) || !slices.Equal(once, distinct) {
			t.Errorf("%s without repeats has %v, want %v", name, once, distinct)
		}
		index := make([]int, len(l.Shape))
		for axis, n := range l.Shape {
			for i := -n - 1; i <= n; i++ {
				index[axis] = i
				place, err := l.Position(index)
				inside := i >= -n && i < n
				if !slices.Contains(l.Shape, 0) && (err == nil) != inside || err == nil && place != l.Offset+(i+n)%n*l.Strides[axis] {
					t.Errorf("%s: position %v: %d, %v", name, index, place, err)
				}
			}
			index[axis] = 0
		}
	}
	scalar := Layout{Offset: 5}
	if windows, err := scalar.Unfold(0, 1, 1); err != nil || !slices.Equal(windows.Shape, []int{1, 1}) || windows.Offset != 5 {
		t.Errorf("windows of a single number: %v, %v", windows, err)
	}
}

// TestRuns: axes that lie behind each other are one run, whose elements may be some places apart.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		l             Layout
		merged, steps []int
	}{
		{Contiguous(2, 3, 4), []int{24}, []int{1}}, {Layout{[]int{2, 3}, []int{6, 2}, 1}, []int{6}, []int{2}},
		{Layout{[]int{2, 3}, []int{7, 2}, 1}, []int{2, 3}, []int{7, 2}}, {Layout{[]int{2, 1, 3}, []int{3, 9, 1}, 0}, []int{6}, []int{1}}, {Contiguous(1, 1), []int{}, []int{}},
	} {
		if got := c.l.Merged(); !slices.Equal(got.Shape, c.merged) || !slices.Equal(got.Strides, c.steps) || got.Offset != c.l.Offset {
			t.Errorf("%v is merged to %v, want %v and %v", c.l, got, c.merged, c.steps)
		}
	}
	apart := Layout{[]int{6}, []int{2}, 1}
	for _, shape := range [][]int{{6}, {2, 3}, {3, 1, 2}, {1, 6}, {6, 1}, {1, 2, 1, 3, 1}} {
		view, err := apart.View(shape...)
		if err != nil || !slices.Equal(positions(view), positions(apart)) {
			t.Errorf("numbers that are 2 apart as %v: %v, %v", shape, view, err)
		}
	}
	if view, err := (Layout{Offset: 3}).View(1, 1); err != nil || !slices.Equal(positions(view), []int{3}) {
		t.Errorf("a single number as [1 1]: %v, %v", view, err)
	}
	for _, c := range []struct{ sizes, want []int }{{[]int{2, -1}, []int{2, 3}}, {[]int{0, 3}, []int{0, 3}}, {[]int{0, 1, 3}, []int{0, 1, 3}}, {[]int{-2, 3}, nil}, {[]int{1, -2}, nil}, {[]int{-1, 1, 3}, nil}, {[]int{1, 2}, nil}} {
		if l, err := Contiguous(1, 3).Expand(c.sizes...); c.want == nil && !errors.Is(err, ErrShape) || c.want != nil && !slices.Equal(l.Shape, c.want) {
			t.Errorf("[1 3] expanded to %v: %v, %v, want %v", c.sizes, l, err, c.want)
		}
	}
	if l, err := Contiguous(5).Slice(0, -4, -1, 2); err != nil || !slices.Equal(positions(l), []int{1, 3}) {
		t.Errorf("every other number from the fourth to the last: %v, %v", l, err)
	}
	const reason = "the reason"
	if (&Error{Reason: reason}).Error() != "layout: "+reason || (&Error{Reason: reason, Hint: "what to do"}).Error() != "layout: "+reason+"; what to do" {
		t.Errorf("an error reads %q", &Error{Reason: reason, Hint: "what to do"})
	}
}
