package einops_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/tensor"
)

// numbered returns 0, 1, 2, ... in a shape.
func numbered(shape ...int) *tensor.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return tensor.With(tensor.Float64).Arange(0, float64(n), 1).Reshape(shape...)
}

// axes is the elementary axes of a random pattern.
type axes struct {
	names []string
	sizes []int
}

func drawAxes(t *rapid.T, atMost int) axes {
	var a axes
	for i := range rapid.IntRange(0, atMost).Draw(t, "axes") {
		a.names = append(a.names, string(rune('a'+i)))
		a.sizes = append(a.sizes, rapid.IntRange(1, 3).Draw(t, "size"))
	}
	return a
}

// drawSide groups axes, in the order given, into a side of a pattern.
func drawSide(t *rapid.T, a axes, order []int, label string) (text string, groups [][]int) {
	var words []string
	for i := 0; i < len(order); {
		switch n := rapid.IntRange(0, 3).Draw(t, label); n {
		case 0: // an axis of length 1
			if len(words) < 8 {
				words, groups = append(words, rapid.SampledFrom([]string{"1", "()"}).Draw(t, "one")), append(groups, nil)
			}
			fallthrough
		case 1:
			words, groups = append(words, a.names[order[i]]), append(groups, order[i:i+1])
			i++
		default:
			n = min(n, len(order)-i)
			group := order[i : i+n]
			var inside []string
			for _, g := range group {
				inside = append(inside, a.names[g])
			}
			words, groups = append(words, "("+strings.Join(inside, " ")+")"), append(groups, group)
			i += n
		}
	}
	return strings.Join(words, " "), groups
}

func (a axes) shape(groups [][]int) []int {
	shape := []int{}
	for _, g := range groups {
		n := 1
		for _, i := range g {
			n *= a.sizes[i]
		}
		shape = append(shape, n)
	}
	return shape
}

// at returns the position in a tensor of the groups of the element with index
// [i] along each elementary axis.
func (a axes) at(groups [][]int, index []int) []int {
	var at []int
	for _, g := range groups {
		n := 0
		for _, i := range g {
			n = n*a.sizes[i] + index[i]
		}
		at = append(at, n)
	}
	return at
}

// each calls f with every index.
func (a axes) each(f func(index []int)) {
	index := make([]int, len(a.sizes))
	for {
		f(index)
		i := len(index) - 1
		for ; i >= 0; i-- {
			if index[i]++; index[i] < a.sizes[i] {
				break
			}
			index[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

func (a axes) given() (list []einops.Size) {
	for i := range a.names {
		list = append(list, einops.Axis(a.names[i], a.sizes[i]))
	}
	return list
}

func iota(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// TestRearrangeMovesEachElement compares with the loop over all elements, and
// the inverse pattern with the identity.
func TestRearrangeMovesEachElement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAxes(t, 5)
		left, from := drawSide(t, a, rapid.Permutation(iota(len(a.names))).Draw(t, "left order"), "left")
		right, to := drawSide(t, a, rapid.Permutation(iota(len(a.names))).Draw(t, "right order"), "right")
		pattern := left + " -> " + right
		x := numbered(a.shape(from)...)
		if rapid.Bool().Draw(t, "strided") { // the same elements from memory in another order
			x = transposed(x)
		}
		y := einops.Rearrange(x, pattern, a.given()...)
		if !slices.Equal(y.Shape(), a.shape(to)) {
			t.Fatalf("%s of %v: shape %v, want %v", pattern, x.Shape(), y.Shape(), a.shape(to))
		}
		a.each(func(index []int) {
			if got, want := y.At(a.at(to, index)...), x.At(a.at(from, index)...); got != want {
				t.Fatalf("%s of %v: element %v is %v, want %v", pattern, x.Shape(), index, got, want)
			}
		})
		back := einops.Rearrange(y, right+" -> "+left, a.given()...)
		if !slices.Equal(back.Shape(), x.Shape()) || !slices.Equal(back.Floats(), x.Floats()) {
			t.Fatalf("%s and back differs from the identity", pattern)
		}
		if len(x.Shape()) > 0 && !strings.Contains(right, "(") && !tensor.SameStorage(x, y) {
			t.Fatalf("%s composes nothing and yet copies", pattern)
		}
	})
}

// transposed returns x in memory of the opposite order.
func transposed(x *tensor.Tensor) *tensor.Tensor {
	reverse := iota(x.Dim())
	slices.Reverse(reverse)
	return x.Permute(reverse...).Contiguous().Permute(reverse...)
}

func TestReduceEqualsTheLoop(t *testing.T) {
	reductions := map[string]struct {
		f     einops.Reduction
		start float64
		join  func(a, b float64) float64
	}{
		"sum":  {einops.Sum, 0, func(a, b float64) float64 { return a + b }},
		"max":  {einops.Max, math.Inf(-1), math.Max},
		"min":  {einops.Min, math.Inf(1), math.Min},
		"prod": {einops.Prod, 1, func(a, b float64) float64 { return a * b }},
		"mean": {einops.Mean, 0, func(a, b float64) float64 { return a + b }},
	}
	rapid.Check(t, func(t *rapid.T) {
		a := drawAxes(t, 5)
		name := rapid.SampledFrom([]string{"sum", "max", "min", "prod", "mean"}).Draw(t, "reduction")
		r := reductions[name]
		left, from := drawSide(t, a, rapid.Permutation(iota(len(a.names))).Draw(t, "left order"), "left")
		order := rapid.Permutation(iota(len(a.names))).Draw(t, "right order")
		order = order[:rapid.IntRange(0, len(order)).Draw(t, "kept")]
		right, to := drawSide(t, a, order, "right")
		x := numbered(a.shape(from)...).Add(1)
		y := einops.Reduce(x, left+" -> "+right, r.f, a.given()...)
		want := numbered(a.shape(to)...).Mul(0).Add(r.start)
		if math.IsInf(r.start, 0) {
			want = tensor.With(tensor.Float64).Full(r.start, a.shape(to)...)
		}
		a.each(func(index []int) {
			at := a.at(to, index)
			want.SetAt(r.join(want.At(at...), x.At(a.at(from, index)...)), at...)
		})
		if name == "mean" && want.Len() > 0 {
			want = want.Div(float64(x.Len() / want.Len()))
		}
		if !slices.Equal(y.Shape(), want.Shape()) || !near(y.Floats(), want.Floats()) {
			t.Fatalf("%s %s -> %s of %v: got %v %v, want %v %v", name, left, right, x.Shape(), y.Shape(), y.Floats(), want.Shape(), want.Floats())
		}
	})
}

// near allows for sums and products in another order, of which a product may be too large for any number.
func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.Abs(x-y) <= 1e-12*math.Abs(y) })
}

func TestRepeatCopiesEachElement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAxes(t, 5)
		order := rapid.Permutation(iota(len(a.names))).Draw(t, "right order")
		right, to := drawSide(t, a, order, "right")
		order = rapid.Permutation(order).Draw(t, "left order")
		left, from := drawSide(t, a, order[:rapid.IntRange(0, len(order)).Draw(t, "old")], "left")
		x := numbered(a.shape(from)...)
		y := einops.Repeat(x, left+" -> "+right, a.given()...)
		if !slices.Equal(y.Shape(), a.shape(to)) {
			t.Fatalf("%s -> %s of %v: shape %v, want %v", left, right, x.Shape(), y.Shape(), a.shape(to))
		}
		a.each(func(index []int) {
			if got, want := y.At(a.at(to, index)...), x.At(a.at(from, index)...); got != want {
				t.Fatalf("%s -> %s of %v: element %v is %v, want %v", left, right, x.Shape(), index, got, want)
			}
		})
	})
}

// TestEinsumEqualsTheNaiveSum compares with one loop over all axes, for random
// operands with repeated names, sizes of 1 that are repeated, ellipses and
// strided memory.
func TestEinsumEqualsTheNaiveSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAxes(t, 6)
		ellipsis := rapid.IntRange(0, min(2, len(a.names))).Draw(t, "ellipsis") // the first axes have no name
		operands := rapid.IntRange(1, 5).Draw(t, "operands")
		if rapid.IntRange(0, 9).Draw(t, "many") == 0 {
			operands = 11 // beyond the exact search
		}
		named := iota(len(a.names))[ellipsis:]
		var sides []string
		var labels [][]int
		var xs []*tensor.Tensor
		full := make([]bool, len(a.names)) // some operand has the axis in full size
		present := make([]bool, len(a.names))
		for range operands {
			var list []int
			for range rapid.IntRange(0, 3).Draw(t, "rank") {
				if len(named) > 0 {
					list = append(list, rapid.SampledFrom(named).Draw(t, "axis"))
				}
			}
			var words []string
			for _, l := range list {
				words = append(words, a.names[l])
			}
			if ellipsis > 0 && rapid.Bool().Draw(t, "with ellipsis") {
				words = append([]string{"..."}, words...)
				list = append(iota(ellipsis)[rapid.IntRange(0, ellipsis).Draw(t, "short"):], list...)
			}
			sides, labels = append(sides, strings.Join(words, " ")), append(labels, list)
			shrink := rapid.IntRange(0, 4).Draw(t, "shrink") == 0 && len(list) > 0
			var shape []int
			for i, l := range list {
				n := a.sizes[l]
				if once := slices.Index(list, l) == i && !slices.Contains(list[i+1:], l); shrink && once && i == 0 {
					n = 1
				}
				full[l] = full[l] || n == a.sizes[l]
				present[l] = true
				shape = append(shape, n)
			}
			n := 1
			for _, s := range shape {
				n *= s
			}
			values := rapid.SliceOfN(rapid.IntRange(-3, 3), n, n).Draw(t, "values")
			x := tensor.With(tensor.Float64).Of(values).Reshape(shape...)
			if rapid.Bool().Draw(t, "strided") {
				x = transposed(x)
			}
			xs = append(xs, x)
		}
		for l := range a.sizes { // an axis that all operands have with size 1 is of size 1
			if !full[l] {
				a.sizes[l] = 1
			}
		}
		var out []int
		var words []string
		if strings.Contains(strings.Join(sides, " "), "...") {
			words = append(words, "...")
			for l := range ellipsis {
				if present[l] {
					out = append(out, l)
				}
			}
			if len(out) > 0 { // operands agree from the last axis on
				out = iota(ellipsis)[out[0]:]
			}
		}
		for _, l := range rapid.Permutation(named).Draw(t, "output order") {
			if present[l] && rapid.Bool().Draw(t, "in output") {
				out, words = append(out, l), append(words, a.names[l])
			}
		}
		pattern := strings.Join(sides, ", ") + " -> " + strings.Join(words, " ")
		var shape []int
		for _, l := range out {
			shape = append(shape, a.sizes[l])
		}
		want := tensor.With(tensor.Float64).Zeros(shape...)
		summed := axes{names: a.names, sizes: slices.Clone(a.sizes)}
		for l := range summed.sizes {
			if !present[l] {
				summed.sizes[l] = 1
			}
		}
		summed.each(func(index []int) {
			product := 1.
			for i, x := range xs {
				var at []int
				for j, l := range labels[i] {
					at = append(at, min(index[l], x.Size(j)-1))
				}
				product *= x.At(at...)
			}
			var at []int
			for _, l := range out {
				at = append(at, index[l])
			}
			want.SetAt(want.At(at...)+product, at...)
		})
		got := einops.Einsum(pattern, xs...)
		if !slices.Equal(got.Shape(), want.Shape()) || !slices.Equal(got.Floats(), want.Floats()) {
			t.Fatalf("%s of %v: got %v %v, want %v %v", pattern, shapes(xs), got.Shape(), got.Floats(), want.Shape(), want.Floats())
		}
		e := einops.ExplainEinsum(pattern, shapes(xs)...)
		if !slices.Equal(e.Shape, want.Shape()) {
			t.Fatalf("%s of %v: explained as %v, want %v\n%v", pattern, shapes(xs), e.Shape, want.Shape(), e)
		}
	})
}

func shapes(xs []*tensor.Tensor) [][]int {
	list := make([][]int, len(xs))
	for i, x := range xs {
		list[i] = x.Shape()
	}
	return list
}

// TestExplainedStepsGiveTheResult runs the steps that Explain lists.
func TestExplainedStepsGiveTheResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAxes(t, 5)
		left, from := drawSide(t, a, rapid.Permutation(iota(len(a.names))).Draw(t, "left order"), "left")
		order := rapid.Permutation(iota(len(a.names))).Draw(t, "right order")
		order = order[:rapid.IntRange(0, len(order)).Draw(t, "kept")]
		right, _ := drawSide(t, a, order, "right")
		pattern := left + " -> " + right
		reduced := len(order) < len(a.names)
		x := numbered(a.shape(from)...)
		want := x
		if reduced {
			want = einops.Reduce(x, pattern, einops.Sum, a.given()...)
		} else {
			want = einops.Rearrange(x, pattern, a.given()...)
		}
		e := einops.Explain(pattern, x.Shape(), a.given()...)
		y := x
		for _, s := range e.Steps {
			before := y
			switch s.Op {
			case "View":
				y = y.View(s.Args...)
			case "Permute":
				y = y.Permute(s.Args...)
			case "Reshape":
				y = y.Reshape(s.Args...)
			case "Reduce":
				y = y.Sum(s.Args...)
			default:
				t.Fatalf("%s: step %s", pattern, s.Op)
			}
			if !slices.Equal(y.Shape(), s.Shape) || len(s.Axes) != len(s.Shape) || tensor.SameStorage(before, y) == s.Copies {
				t.Fatalf("%s: after %+v the tensor is %v, same storage %v", pattern, s, y.Shape(), tensor.SameStorage(before, y))
			}
		}
		if !slices.Equal(y.Shape(), want.Shape()) || !slices.Equal(y.Floats(), want.Floats()) || !slices.Equal(e.Shape, want.Shape()) {
			t.Fatalf("%s: the steps give %v, want %v\n%v", pattern, y, want, e)
		}
		if e.Copies == tensor.SameStorage(x, want) {
			t.Fatalf("%s: Copies is %v", pattern, e.Copies)
		}
	})
}

func TestPackAndUnpackAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := rapid.IntRange(0, 2).Draw(t, "before"), rapid.IntRange(0, 2).Draw(t, "after")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 3), before+after, before+after).Draw(t, "sizes")
		var words []string
		for i := range before + after {
			words = append(words, fmt.Sprintf("axis%d", i))
		}
		pattern := strings.Join(slices.Insert(words, before, "*"), " ")
		var xs []*tensor.Tensor
		for range rapid.IntRange(1, 4).Draw(t, "tensors") {
			inside := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 2).Draw(t, "inside")
			xs = append(xs, numbered(slices.Concat(sizes[:before], inside, sizes[before:])...))
		}
		packed, insides := einops.Pack(pattern, xs...)
		for i, y := range einops.Unpack(packed, insides, pattern) {
			if !slices.Equal(y.Shape(), xs[i].Shape()) || !slices.Equal(y.Floats(), xs[i].Floats()) {
				t.Fatalf("%s: tensor %d of %v comes back as %v", pattern, i, xs[i].Shape(), y.Shape())
			}
			if y.Len() > 0 && !tensor.SameStorage(y, packed) {
				t.Fatalf("%s: piece %d is a copy", pattern, i)
			}
		}
	})
}
