package tensor

import (
	"fmt"
	"math"
	"testing"

	"github.com/lectern-go/lectern/internal/naive"
)

// TestFastScatter compares Scatter, ScatterAdd and IndexAdd with one element after the other, in all dtypes and layouts
// and along each axis, where they take whole rows and where positions are for a part of the other axes.
func TestFastScatter(t *testing.T) {
	for _, d := range []Dtype{Float32, Float64, Int64, Int32, Uint8, Bool} {
		base := mixed(d, 1, 5, 33, 7)
		if d.IsFloat() {
			base = base.NanToNum(1, 2, 3)
		}
		for axis := range 3 {
			for _, part := range []int{0, 1} {
				shape := base.Shape()
				shape[axis] = 9
				if part == 1 {
					shape[(axis+1)%3]--
				}
				at := With(NewGenerator(2)).Randint(0, base.Size(axis), shape...)
				v := mixed(d, 3, shape...)
				if d.IsFloat() {
					v = v.NanToNum(-1, 5, -6)
				}
				for layout, x := range map[string]*Tensor{"contiguous": base, "transposed": base.Transpose(0, 2).Contiguous().Transpose(0, 2)} {
					put, added := x.Floats(), x.Floats()
					places, values := at.Ints(), v.Floats()
					for i := range places {
						index := naive.Position(i, shape)
						index[axis] = int(places[i])
						to := naive.Flat(index, x.Shape())
						put[to] = values[i]
						added[to] = d.Round(added[to] + values[i])
						if d == Bool {
							added[to] = min(added[to], 1)
						}
					}
					what := fmt.Sprintf("%s, axis %d, part %d, %s", d, axis, part, layout)
					checkFast(t, what+", scatter", x.Scatter(axis, at, v), func(i int) float64 { return put[i] })
					checkFast(t, what+", scatter add", x.ScatterAdd(axis, at, v), func(i int) float64 { return added[i] })
					if !d.IsFloat() || part == 1 {
						continue
					}
					traced := x.Clone().RequireGrad().Scatter(axis, at, v)
					checkFast(t, what+", scatter with a gradient", traced, func(i int) float64 { return put[i] })
				}
			}
			rows := With(NewGenerator(4)).Randint(0, base.Size(axis), 11)
			shape := base.Shape()
			shape[axis] = 11
			v := mixed(d, 5, shape...)
			if d.IsFloat() {
				v = v.NanToNum(-1, 5, -6)
			}
			want, values, places := base.Floats(), v.Floats(), rows.Ints()
			for i, value := range values {
				index := naive.Position(i, shape)
				index[axis] = int(places[index[axis]])
				to := naive.Flat(index, base.Shape())
				want[to] = d.Round(want[to] + value)
				if d == Bool {
					want[to] = min(want[to], 1)
				}
			}
			checkFast(t, fmt.Sprintf("%s, index add, axis %d", d, axis), base.IndexAdd(axis, rows, v), func(i int) float64 { return want[i] })
		}
	}
}

// TestFastSetIndex compares with one element after the other: rows of all lengths, positions that are
// negative, that come twice, and of two axes.
func TestFastSetIndex(t *testing.T) {
	for _, d := range []Dtype{Float32, Int64, Int32, Uint8, BFloat16} {
		base := mixed(d, 1, 5, 6, 260).NanToNum(1, 2, 3)
		for axis := range 3 {
			for name, index := range map[string]*Tensor{"a vector": Of(1, 0, -1, 1, 3), "a matrix": Of([]int{4, 2}, []int{-2, 4}), "none": With(Int64).Zeros(0)} {
				shape := base.Shape()
				part := append(append(append([]int{}, shape[:axis]...), index.Shape()...), shape[axis+1:]...)
				for kind, v := range map[string]any{"a tensor": mixed(d, 2, part...).NanToNum(4, 5, 6), "a row": mixed(d, 3, part[len(part)-1]).NanToNum(4, 5, 6), "a number": 7} {
					want, places := base.Floats(), index.Ints()
					values := operand("", v).To(d).Expand(part...)
					for i, value := range values.Floats() {
						at := naive.Position(i, part)
						inner := at[axis+index.Dim():]
						p := int(places[naive.Flat(at[axis:axis+index.Dim()], index.Shape())])
						if p < 0 {
							p += shape[axis]
						}
						to := append(append(append([]int{}, at[:axis]...), p), inner...)
						want[naive.Flat(to, shape)] = value
					}
					items := make([]any, axis, axis+1)
					for i := range items {
						items[i] = All
					}
					items = append(items, index)
					got := base.Clone().SetIndex(v, items...)
					checkFast(t, fmt.Sprintf("%s, axis %d, %s, %s", d, axis, name, kind), got, func(i int) float64 { return want[i] })
					turned := base.Transpose(0, 2).Contiguous().Transpose(0, 2).SetIndex(v, items...)
					checkFast(t, fmt.Sprintf("%s, axis %d, %s, %s, transposed", d, axis, name, kind), turned, func(i int) float64 { return want[i] })
				}
			}
		}
	}
	x := Arange(0, 12).View(4, 3)
	x.SetIndex(x.Narrow(0, 1, 2), []int{2, 3}) // what it reads of itself it reads before
	wantTensor(t, "of itself", x, "int64[4 3][0 1 2 3 4 5 3 4 5 6 7 8]")
	for name, f := range map[string]func(){
		"out of range": func() { x.SetIndex(1, []int{4}) }, "a shape": func() { x.SetIndex(Ones(5), []int{1, 2}) }, "too many": func() { x.SetIndex(1, All, All, []int{1}) },
	} {
		version := x.storage.Version.Load()
		if Try(f) == nil || x.storage.Version.Load() != version {
			t.Errorf("%s: no error, or x has changed", name)
		}
	}
}

// TestFastPositions compares MaskedSelect and Nonzero with one element after the other.
func TestFastPositions(t *testing.T) {
	for _, shape := range [][]int{{0}, {1}, {70, 131}, {5, 33, 7}, {0, 3}, {3, 0}} {
		for name, mask := range map[string]*Tensor{"some": With(NewGenerator(1)).Rand(shape...).Gt(0.6), "all": With(Bool).Ones(shape...), "none": With(Bool).Zeros(shape...)} {
			x := Arange(0, float64(mask.Len())).View(shape...)
			var flat, rows []float64
			for i, set := range mask.Ints() {
				if set != 0 {
					flat = append(flat, float64(i))
					for _, p := range naive.Position(i, shape) {
						rows = append(rows, float64(p))
					}
				}
			}
			for layout, pair := range map[string][2]*Tensor{"contiguous": {x, mask}, "transposed": {x.Transpose(0, -1).Contiguous().Transpose(0, -1), mask.Transpose(0, -1).Contiguous().Transpose(0, -1)}} {
				what := fmt.Sprintf("%v, %s, %s", shape, name, layout)
				got, places := pair[0].MaskedSelect(pair[1]), pair[1].Nonzero()
				if got.Len() != len(flat) || places.Len() != len(rows) {
					t.Fatalf("%s: %d elements and %v places, want %d and %d", what, got.Len(), places.Shape(), len(flat), len(rows))
				}
				checkFast(t, what, got, func(i int) float64 { return flat[i] })
				checkFast(t, what+", nonzero", places, func(i int) float64 { return rows[i] })
			}
		}
	}
}

// TestFastReplacing looks at every place of NaN and the infinities.
func TestFastReplacing(t *testing.T) {
	for _, d := range []Dtype{Float32, Float64, BFloat16} {
		for name, x := range fastLayouts(mixed(d, 1, 7, 133)) {
			values := elementsOf(x)
			checkFast(t, fmt.Sprintf("%s, %s", d, name), x.NanToNum(7, -8, math.Inf(1)), func(i int) float64 {
				switch v := values[i]; {
				case v != v:
					return 7
				case math.IsInf(v, 1):
					return -8
				case math.IsInf(v, -1):
					return math.Inf(1)
				default:
					return v
				}
			})
		}
	}
}

// TestFastLogic compares logic, weighted means and activations with one number after the other.
// Whole rows of some are above 0.
func TestFastLogic(t *testing.T) {
	truth := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	for _, d := range []Dtype{Float32, Float64, Int64, Int32} {
		for name, x := range fastLayouts(mixed(d, 1, 3, 1301)) {
			y := mixed(d, 2, 3, 1301)
			x, y = x.MaskedFill(mixed(Bool, 3, 3, 1301), 0), y.MaskedFill(mixed(Bool, 4, 3, 1301), 0)
			a, b := x.Floats(), y.Floats()
			what := fmt.Sprintf("%s, %s: ", d, name)
			checkFast(t, what+"and", x.LogicalAnd(y), func(i int) float64 { return truth(a[i] != 0 && b[i] != 0) })
			checkFast(t, what+"or", x.LogicalOr(y), func(i int) float64 { return truth(a[i] != 0 || b[i] != 0) })
			checkFast(t, what+"xor", x.LogicalXor(y), func(i int) float64 { return truth((a[i] != 0) != (b[i] != 0)) })
			checkFast(t, what+"not", x.LogicalNot(), func(i int) float64 { return truth(a[i] == 0) })
			checkFast(t, what+"with a number", x.Lt(3), func(i int) float64 { return truth(a[i] < 3) })
			checkFast(t, what+"a number first", Number(3).Sub(x), func(i int) float64 { return d.Round(3 - a[i]) })
			checkFast(t, what+"square", x.Square(), func(i int) float64 { return d.Round(a[i] * a[i]) })
		}
	}
	for _, x := range []*Tensor{mixed(Float32, 1, 3, 2700), mixed(Float32, 1, 3, 2700).Abs().Add(0.1), mixed(Float32, 1, 3, 2700).Abs()} {
		a := x.Floats()
		checkFast(t, "elu", x.ELU(0.5), func(i int) float64 {
			if a[i] > 0 || a[i] != a[i] {
				return a[i]
			}
			if a[i] == 0 || a[i] < -19 { // where eˣ is too small to count
				return max(-0.5, a[i])
			}
			return x.Reshape(-1).Narrow(0, i, 1).ELU(0.5).Item() // alone, in no whole block
		})
	}
}
