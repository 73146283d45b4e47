package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lectern-go/lectern/internal/race"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Loops that go through memory in another order than elements have, or through several
// elements at a time, come into play from some sizes on, and end in the middle of what they
// do at a time. Each is compared with its naive version: one element after the other.

// fastDtypes have elements of all sizes and kinds.
var fastDtypes = []Dtype{Float32, Float64, BFloat16, Int64, Int32, Int16, Uint8, Bool}

// fastShapes are such that strips, panels and vectors end early.
var fastShapes = [][]int{{70, 131}, {5, 33, 67}, {2, 4, 5, 101}, {1, 4500}, {300, 9}}

func init() {
	if race.Enabled { // which is ten times slower
		fastShapes = fastShapes[1:3]
	}
}

// mixed returns numbers of a dtype, small and large, with NaN and infinities among floats.
func mixed(d Dtype, seed uint64, shape ...int) *Tensor {
	x := With(Float64, NewGenerator(seed)).Uniform(-20, 20, shape...)
	if d == Bool {
		return x.Gt(0)
	}
	if !d.IsFloat() {
		if d == Uint8 {
			x = x.Abs()
		}
		return x.Round().To(d)
	}
	values := Data[float64](x)
	for i := range values {
		switch (i + int(seed)) % 97 {
		case 3:
			values[i] = math.Inf(1)
		case 5:
			values[i] = math.Inf(-1)
		case 7:
			values[i] = math.NaN()
		case 11:
			values[i] = math.Copysign(0, -1)
		case 13:
			values[i] = 0
		}
	}
	return x.To(d)
}

// fastLayouts lie in memory in other orders than their elements have.
func fastLayouts(x *Tensor) map[string]*Tensor {
	last := x.Dim() - 1
	turned := func(a, b int) *Tensor { return x.Transpose(a, b).Contiguous().Transpose(a, b) }
	all := map[string]*Tensor{
		"contiguous":      x,
		"transposed":      turned(last-1, last),
		"first axis last": turned(0, last),
		"every other":     Stack(last+1, x, x).Select(last+1, 0),
		"within another":  Cat(last, x, x).Narrow(last, x.Size(last), x.Size(last)),
		"one row":         x.Narrow(0, 0, 1).Expand(x.Shape()...),
		"one column":      x.Narrow(last, 1, 1).Expand(x.Shape()...),
	}
	columns := all["transposed"].T()
	all["transposed, within another"] = Cat(last-1, columns, columns).Narrow(last-1, x.Size(last), x.Size(last)).T()
	return all
}

// elementsOf returns the elements one by one, by the layout alone.
func elementsOf(x *Tensor) []float64 {
	memory := x.alias(ContiguousLayout(x.storage.Size / x.dtype.Size())).Floats()
	values := make([]float64, x.Len())
	for i := range values {
		values[i] = memory[x.layout.Place(i)]
	}
	return values
}

func sameElement(a, b float64) bool { return a == b || a != a && b != b }

func checkFast(t *testing.T, what string, got *Tensor, want func(i int) float64) {
	t.Helper()
	for i, v := range elementsOf(got) {
		if w := want(i); !sameElement(v, w) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, v, w)
		}
	}
}

func TestFastCopies(t *testing.T) {
	for _, shape := range fastShapes {
		for _, d := range fastDtypes {
			x := mixed(d, 1, shape...)
			for name, v := range fastLayouts(x) {
				what := fmt.Sprintf("%v of %v, %s", d, shape, name)
				want := elementsOf(v)
				checkFast(t, what+": contiguous", v.Contiguous(), func(i int) float64 { return want[i] })
				for other, into := range fastLayouts(mixed(d, 2, shape...)) {
					if other != "contiguous" && other != "transposed" && other != "every other" {
						continue
					}
					into.CopyFrom(v)
					checkFast(t, what+" into "+other, into, func(i int) float64 { return want[i] })
				}
				if d == Float32 || d == BFloat16 {
					wide := v.To(Float64)
					checkFast(t, what+" as float64", wide, func(i int) float64 { return want[i] })
				}
			}
		}
	}
}

// TestFastRows runs operations along an axis and over it.
func TestFastRows(t *testing.T) {
	for _, shape := range fastShapes {
		for _, d := range []Dtype{Float32, Float64, BFloat16, Int32} {
			x := mixed(d, 3, shape...)
			for name, v := range fastLayouts(x) {
				plain := v.Clone().Contiguous()
				for axis := range v.Dim() {
					// The naive version has each row by itself, as a vector.
					rows := v.Movedim(axis, -1)
					n, all := v.Size(axis), elementsOf(rows)
					vector := func(i int) *Tensor {
						return With(Float64).Of(all[i*n : (i+1)*n]).To(d)
					}
					what := fmt.Sprintf("%v of %v, %s, axis %d", d, shape, name, axis)
					for op, f := range map[string]func(x *Tensor, axis int) *Tensor{
						"cumsum": (*Tensor).Cumsum, "cumprod": (*Tensor).Cumprod, "softmax": (*Tensor).Softmax,
						"sort": func(x *Tensor, axis int) *Tensor { s, _ := x.Sort(axis, false); return s },
					} {
						got := f(v, axis).Movedim(axis, -1)
						for _, i := range []int{0, 1, rows.Len()/n - 1} {
							if i >= rows.Len()/n {
								continue
							}
							want := f(vector(i), 0)
							checkFast(t, fmt.Sprintf("%s: %s, row %d", what, op, i), got.Reshape(-1, n).Select(0, i), func(j int) float64 { return want.At(j) })
						}
					}
					for op, f := range map[string]func(x *Tensor, axes ...int) *Tensor{"sum": (*Tensor).Sum, "max": (*Tensor).Max, "min": (*Tensor).Min, "argmax": (*Tensor).Argmax, "argmin": (*Tensor).Argmin} {
						got, same := f(v, axis).Reshape(-1), f(plain, axis).Reshape(-1)
						for _, i := range []int{0, rows.Len()/n - 1} {
							want := f(vector(i), 0).Item()
							if g := got.At(i); !sameElement(g, want) || !sameElement(same.At(i), want) {
								t.Fatalf("%s: %s of row %d is %v, want %v", what, op, i, g, want)
							}
						}
					}
				}
			}
		}
	}
}

func TestFastChoices(t *testing.T) {
	for _, shape := range fastShapes {
		masks := fastLayouts(mixed(Bool, 4, shape...))
		for _, d := range fastDtypes {
			x, y := mixed(d, 5, shape...), mixed(d, 6, shape...)
			left, right := elementsOf(x), elementsOf(y)
			for name, mask := range masks {
				set := elementsOf(mask)
				what := fmt.Sprintf("%v of %v, mask %s", d, shape, name)
				checkFast(t, what+": where", Where(mask, x, y), func(i int) float64 {
					if set[i] != 0 {
						return left[i]
					}
					return right[i]
				})
				checkFast(t, what+": masked fill", x.MaskedFill(mask, 1), func(i int) float64 {
					if set[i] != 0 {
						return 1
					}
					return left[i]
				})
			}
		}
		for name, a := range masks {
			b := mixed(Bool, 7, shape...)
			left, right := elementsOf(a), elementsOf(b)
			for op, f := range map[string]struct {
				run  func(x *Tensor, y any) *Tensor
				want func(a, b bool) bool
			}{
				"and": {(*Tensor).And, func(a, b bool) bool { return a && b }}, "or": {(*Tensor).Or, func(a, b bool) bool { return a || b }},
				"xor":         {(*Tensor).Xor, func(a, b bool) bool { return a != b }},
				"logical and": {(*Tensor).LogicalAnd, func(a, b bool) bool { return a && b }}, "logical or": {(*Tensor).LogicalOr, func(a, b bool) bool { return a || b }},
				"logical xor": {(*Tensor).LogicalXor, func(a, b bool) bool { return a != b }},
				"not":         {func(x *Tensor, _ any) *Tensor { return x.Not() }, func(a, _ bool) bool { return !a }},
				"logical not": {func(x *Tensor, _ any) *Tensor { return x.LogicalNot() }, func(a, _ bool) bool { return !a }},
			} {
				checkFast(t, fmt.Sprintf("%s of %v, %s", op, shape, name), f.run(a, b), func(i int) float64 { return loops.Truth[float64](f.want(left[i] != 0, right[i] != 0)) })
			}
		}
	}
}

// TestFastPairs runs operations on two tensors of which one is repeated, or int32.
func TestFastPairs(t *testing.T) {
	binary := map[string]struct {
		run  func(x *Tensor, y any) *Tensor
		want func(a, b float64) float64
	}{
		"add": {(*Tensor).Add, func(a, b float64) float64 { return a + b }}, "mul": {(*Tensor).Mul, func(a, b float64) float64 { return a * b }},
		"sub": {(*Tensor).Sub, func(a, b float64) float64 { return a - b }}, "maximum": {(*Tensor).Maximum, func(a, b float64) float64 { return max(a, b) }},
		"minimum": {(*Tensor).Minimum, func(a, b float64) float64 { return min(a, b) }},
	}
	for _, shape := range fastShapes {
		for _, d := range []Dtype{Float32, Float64, Int32, Int64} {
			x := mixed(d, 8, shape...)
			for name, y := range fastLayouts(mixed(d, 9, shape...)) {
				left, right := elementsOf(x), elementsOf(y)
				for op, f := range binary {
					round := func(v float64) float64 {
						if d == Float32 {
							return float64(float32(v))
						}
						return v
					}
					what := fmt.Sprintf("%s of %v, %v, %s", op, d, shape, name)
					checkFast(t, what, f.run(x, y), func(i int) float64 { return round(f.want(left[i], right[i])) })
					checkFast(t, what+" on the left", f.run(y, x), func(i int) float64 { return round(f.want(right[i], left[i])) })
				}
			}
		}
	}
	// int32 overflows as it does in C, whatever the other operand is.
	x := With(Int32).Full(math.MaxInt32-3, 1000)
	for name, y := range map[string]any{"a number": 7, "int8": With(Int8).Full(7, 1000), "one of int32": With(Int32).Scalar(7), "int32": With(Int32).Full(7, 1000)} {
		checkFast(t, "int32 plus "+name, x.Add(y), func(int) float64 { return math.MinInt32 + 3 })
		checkFast(t, "int32 times "+name, x.Mul(y), func(int) float64 { n := int32(math.MaxInt32 - 3); return float64(n * 7) })
	}
}

// TestFastOrder runs operations whose operands all lie in memory in one other order, and joins.
func TestFastOrder(t *testing.T) {
	for _, shape := range append(fastShapes, []int{9, 8, 16}, []int{64, 64}) {
		for _, d := range []Dtype{Float32, Float64, BFloat16, Int64, Int32, Bool} {
			others, thirds := fastLayouts(mixed(d, 2, shape...)), fastLayouts(mixed(d, 3, shape...))
			for name, x := range fastLayouts(mixed(d, 1, shape...)) {
				y, z := others[name], thirds[name]
				a, b, c := elementsOf(x), elementsOf(y), elementsOf(z)
				what := fmt.Sprintf("%v of %v, %s", d, shape, name)
				checkFast(t, what+", less", x.Lt(y), func(i int) float64 { return loops.Truth[float64](a[i] < b[i]) })
				checkFast(t, what+", and", x.LogicalAnd(y), func(i int) float64 { return loops.Truth[float64](a[i] != 0 && b[i] != 0) })
				checkFast(t, what+", not", x.LogicalNot(), func(i int) float64 { return loops.Truth[float64](a[i] == 0) })
				last, n := x.Dim()-1, x.Size(-1)
				rolled := func(i int) float64 { return a[i/n*n+(i+n-3)%n] }
				checkFast(t, what+", rolled", x.Roll(last, 3), rolled)
				checkFast(t, what+", joined", Cat(last, x, y.Narrow(last, 0, 0), y), func(i int) float64 {
					if row, at := i/(2*n), i%(2*n); at < n {
						return a[row*n+at]
					} else {
						return b[row*n+at-n]
					}
				})
				if d == Bool {
					checkFast(t, what+", xor", x.Xor(y), func(i int) float64 { return loops.Truth[float64](a[i] != b[i]) })
					continue
				}
				whole := func(v float64) float64 { return With(Float64).Of(v).To(d).At(0) } // as d holds it
				checkFast(t, what+", opposite", x.Neg(), func(i int) float64 { return -a[i] })
				checkFast(t, what+", one more", x.Add(1), func(i int) float64 { return whole(a[i] + 1) })
				checkFast(t, what+", larger", x.Maximum(y), func(i int) float64 { return max(a[i], b[i]) })
				if d == Float64 {
					checkFast(t, what+", addcmul", x.Addcmul(y, z, 1), func(i int) float64 { return a[i] + b[i]*c[i] })
				}
				if d.IsFloat() {
					continue
				}
				sum, top := 0., a[0]
				for _, v := range a {
					sum, top = sum+v, max(top, v)
				}
				if got := x.Sum().Item(); got != sum {
					t.Fatalf("%s: the sum is %v, want %v", what, got, sum)
				}
				if got := x.Max().Item(); got != top {
					t.Fatalf("%s: the largest is %v, want %v", what, got, top)
				}
			}
		}
	}
}

func TestFastPicks(t *testing.T) {
	for _, d := range fastDtypes {
		for _, shape := range [][]int{{40, 50}, {6, 20, 30}} {
			x := mixed(d, 10, shape...)
			all := elementsOf(x)
			for axis, n := range shape {
				inner := layout.Product(shape[axis+1:])
				at := With(NewGenerator(11)).Randint(0, n, shape...)
				places := at.Ints()
				target := func(i int) int { return i/(n*inner)*n*inner + int(places[i])*inner + i%inner }
				what := fmt.Sprintf("%v of %v, axis %d", d, shape, axis)
				for name, v := range fastLayouts(x) {
					if name == "one row" || name == "one column" {
						continue
					}
					checkFast(t, what+", gather, "+name, v.Gather(axis, at), func(i int) float64 { return all[target(i)] })
				}
				row := at.Reshape(-1).Narrow(0, 0, 2*n)
				chosen := row.Ints()
				checkFast(t, what+", index select", x.IndexSelect(axis, row), func(i int) float64 {
					return all[i/(2*n*inner)*n*inner+int(chosen[i/inner%(2*n)])*inner+i%inner]
				})
				if d != Int64 && d != Float64 {
					continue
				}
				v := With(NewGenerator(12)).Randint(-9, 9, shape...).To(d)
				sums := make([]float64, v.Len())
				for i, value := range elementsOf(v) {
					sums[target(i)] += value
				}
				checkFast(t, what+", scatter add", ZerosLike(v).ScatterAdd(axis, at, v), func(i int) float64 { return sums[i] })
			}
		}
		for _, diagonal := range []int{-200, -7, 0, 3, 200} {
			for name, v := range fastLayouts(mixed(d, 13, 3, 70, 90)) {
				all := elementsOf(v)
				keep := func(lower bool) func(i int) float64 {
					return func(i int) float64 {
						row, column := i/90%70, i%90
						if lower && column <= row+diagonal || !lower && column >= row+diagonal {
							return all[i]
						}
						return 0
					}
				}
				checkFast(t, fmt.Sprintf("tril %d of %v, %s", diagonal, d, name), v.Tril(diagonal), keep(true))
				checkFast(t, fmt.Sprintf("triu %d of %v, %s", diagonal, d, name), v.Triu(diagonal), keep(false))
			}
		}
	}
}

// TestFastBlends compares loops for many numbers with those for one.
func TestFastBlends(t *testing.T) {
	for _, d := range []Dtype{Float32, Float64} {
		x, y, z := mixed(d, 14, 70, 131), mixed(d, 15, 70, 131), mixed(d, 16, 70, 131)
		for name, f := range map[string]func(x, y, z *Tensor) *Tensor{
			"lerp a little":  func(x, y, _ *Tensor) *Tensor { return x.Lerp(y, 0.3) },
			"lerp far":       func(x, y, _ *Tensor) *Tensor { return x.Lerp(y, 0.7) },
			"lerp":           func(x, y, z *Tensor) *Tensor { return x.Lerp(y, z) },
			"addcmul":        func(x, y, z *Tensor) *Tensor { return x.Addcmul(y, z, 0.5) },
			"addcdiv":        func(x, y, z *Tensor) *Tensor { return x.Addcdiv(y, z, 0.5) },
			"clamp":          func(x, _, _ *Tensor) *Tensor { return x.Clamp(-3, 4) },
			"clamp, crossed": func(x, _, _ *Tensor) *Tensor { return x.Clamp(4, -3) },
			"sign":           func(x, _, _ *Tensor) *Tensor { return x.Sign() },
			"isnan":          func(x, _, _ *Tensor) *Tensor { return x.IsNaN() },
			"fmod":           func(x, y, _ *Tensor) *Tensor { return x.Fmod(y) },
			"remainder":      func(x, y, _ *Tensor) *Tensor { return x.Remainder(y) },
			"pow":            func(x, _, _ *Tensor) *Tensor { return x.Pow(3) },
			"pow of root":    func(x, _, _ *Tensor) *Tensor { return x.Pow(-1.5) },
			"logaddexp":      func(x, y, _ *Tensor) *Tensor { return x.Logaddexp(y) },
		} {
			got := elementsOf(f(x, y, z))
			for i := 0; i < len(got); i += 7 {
				one := func(t *Tensor) *Tensor { return t.Reshape(-1).Narrow(0, i, 1) }
				if want := f(one(x), one(y), one(z)).Item(); !sameElement(got[i], want) {
					t.Fatalf("%s of %v, element %d: %v, alone %v", name, d, i, got[i], want)
				}
			}
		}
	}
}

// TestFastExtremes has the extreme at each place of rows of many lengths.
func TestFastExtremes(t *testing.T) {
	for _, d := range []Dtype{Float32, Float64} {
		for _, n := range []int{1, 63, 64, 127, 128, 129, 200, 255, 1024, 1100} {
			x := With(d).Zeros(n)
			for i := range n {
				for _, v := range []float64{1, -1, math.NaN()} {
					x.SetAt(v, i)
					high, low := max(v, 0), min(v, 0)
					if n == 1 {
						high, low = v, v
					}
					if got := x.Max().Item(); !sameElement(got, high) {
						t.Fatalf("the largest of %d zeros and %v at %d is %v", n-1, v, i, got)
					}
					if got := x.Min().Item(); !sameElement(got, low) {
						t.Fatalf("the smallest of %d zeros and %v at %d is %v", n-1, v, i, got)
					}
				}
				x.SetAt(0, i)
			}
		}
	}
}

// TestResultsLieAsOperands: a result lies in memory as its operands do, watched or not, wherever these agree; and holds
// the same elements as that of operands in row-major order.
func TestResultsLieAsOperands(t *testing.T) {
	g := NewGenerator(3)
	turned := func(x *Tensor) *Tensor { return x.Movedim(0, -1).Contiguous().Movedim(-1, 0) }
	x, y, z := With(g).Uniform(1, 3, 3, 5, 7), With(g).Uniform(1, 3, 3, 5, 7), With(g).Uniform(1, 3, 3, 5, 7)
	row, mask := With(g).Uniform(1, 3, 7), With(g).Rand(3, 5, 7).Gt(0.5)
	column := With(g).Uniform(1, 3, 5, 1)
	tests := []struct {
		name string
		of   func(x, y, z, mask *Tensor) *Tensor
	}{
		{"exp", func(x, _, _, _ *Tensor) *Tensor { return x.Exp() }},
		{"clamp", func(x, _, _, _ *Tensor) *Tensor { return x.Clamp(1.5, 2) }},
		{"add", func(x, y, _, _ *Tensor) *Tensor { return x.Add(y) }},
		{"add number", func(x, _, _, _ *Tensor) *Tensor { return x.Add(2) }},
		{"sub row", func(x, _, _, _ *Tensor) *Tensor { return x.Sub(row) }},
		{"row sub", func(x, _, _, _ *Tensor) *Tensor { return row.Sub(x) }},
		{"mul column", func(x, _, _, _ *Tensor) *Tensor { return x.Mul(column) }},
		{"pow", func(x, y, _, _ *Tensor) *Tensor { return x.Pow(y) }},
		{"less", func(x, y, _, _ *Tensor) *Tensor { return x.Lt(y) }},
		{"not", func(_, _, _, mask *Tensor) *Tensor { return mask.Not() }},
		{"xor", func(_, _, _, mask *Tensor) *Tensor { return mask.Xor(mask) }},
		{"lerp", func(x, y, z, _ *Tensor) *Tensor { return x.Lerp(y, z) }},
		{"addcmul", func(x, y, z, _ *Tensor) *Tensor { return x.Addcmul(y, z, 0.5) }},
		{"where", func(x, y, _, mask *Tensor) *Tensor { return Where(mask, x, y) }},
		{"where number", func(x, _, _, mask *Tensor) *Tensor { return Where(mask, x, 1) }},
		{"masked fill", func(x, _, _, mask *Tensor) *Tensor { return x.MaskedFill(mask, -1) }},
		{"to float64", func(x, _, _, _ *Tensor) *Tensor { return x.To(Float64) }},
		{"to int64", func(x, _, _, _ *Tensor) *Tensor { return x.To(Int64) }},
		{"to saturating", func(x, _, _, _ *Tensor) *Tensor { return x.ToSaturating(Float8E5M2) }},
		{"mixed dtypes", func(x, y, _, _ *Tensor) *Tensor { return x.Mul(y.To(Int64)) }},
		{"isclose", func(x, y, _, _ *Tensor) *Tensor { return IsClose(x, y, 0.1, 0.1) }},
		{"swiglu", func(x, y, _, _ *Tensor) *Tensor { return x.SwiGLU(y) }},
		{"leaky relu", func(x, _, _, _ *Tensor) *Tensor { return x.Sub(2).LeakyReLU(0.1) }},
		{"flip first", func(x, _, _, _ *Tensor) *Tensor { return x.Flip(0) }},
		{"flip all", func(x, _, _, _ *Tensor) *Tensor { return x.Flip(0, 1, 2) }},
		{"flip bools", func(_, _, _, mask *Tensor) *Tensor { return mask.Flip(1) }},
		{"or of a row", func(_, _, _, mask *Tensor) *Tensor { return mask.Or(row.Gt(2)) }},
		{"remainder", func(x, y, _, _ *Tensor) *Tensor { return x.Remainder(y) }},
	}
	for _, tt := range tests {
		want := tt.of(x, y, z, mask)
		check := func(how string) {
			got := tt.of(turned(x), turned(y), turned(z), turned(mask))
			if strides, lie := got.Strides(), turned(x).Strides(); !slices.Equal(strides, lie) {
				t.Errorf("%s%s: strides %v, those of the operands are %v", tt.name, how, strides, lie)
			}
			if !slices.Equal(got.To(Float64).Floats(), want.To(Float64).Floats()) {
				t.Errorf("%s%s: other elements than of operands in order", tt.name, how)
			}
		}
		check("")
		stop := Trace(func(Event) {})
		check(", watched")
		stop()
	}
	if got := turned(x).Add(y); !got.IsContiguous() {
		t.Errorf("of operands that lie in different orders: strides %v", got.Strides())
	}
	into := x.Clone()
	if into.AddInPlace(turned(y)); !into.IsContiguous() || !slices.Equal(into.Floats(), x.Add(y).Floats()) {
		t.Error("in place: another layout or other elements")
	}
}
