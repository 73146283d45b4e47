package tensor

import (
	"fmt"
	"math"
	"testing"

	"github.com/lectern-go/lectern/internal/race"
)

// wholesOf returns integers of so many bits, of both signs, with the extremes among them.
func wholesOf(bits int, seed int64, shape ...int) *Tensor {
	x := With(Int64).Zeros(shape...)
	special := []int64{0, 1, -1, 3, -3, 1<<bits - 1, -1 << bits, 1 << (bits / 2)}
	for i, values := 0, Data[int64](x); i < len(values); i++ {
		if values[i] = special[i/5%len(special)]; i%5 > 0 {
			seed = seed*0x5851f42d4c957f2d + 0x14057b7ef767814f
			values[i] = seed >> (63 - bits) >> (uint(seed) >> 20 % uint(bits))
		}
	}
	return x
}

// TestFastWholes compares the loops over int64 with Go's own arithmetic, in all layouts, for numbers
// that the vector instructions divide and convert and for larger ones. The last numbers alone are large
// in some, so that a part goes each way.
func TestFastWholes(t *testing.T) {
	truth := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	floor := func(a, b int64) int64 {
		if a%b != 0 && (a < 0) != (b < 0) {
			return a/b - 1
		}
		return a / b
	}
	binary := map[string]struct {
		fast func(x, y *Tensor) *Tensor
		want func(a, b int64) int64
	}{
		"add": {func(x, y *Tensor) *Tensor { return x.Add(y) }, func(a, b int64) int64 { return a + b }},
		"sub": {func(x, y *Tensor) *Tensor { return x.Sub(y) }, func(a, b int64) int64 { return a - b }},
		"max": {func(x, y *Tensor) *Tensor { return x.Maximum(y) }, func(a, b int64) int64 { return max(a, b) }},
		"min": {func(x, y *Tensor) *Tensor { return x.Minimum(y) }, func(a, b int64) int64 { return min(a, b) }},
		"eq":  {func(x, y *Tensor) *Tensor { return x.Eq(y) }, func(a, b int64) int64 { return truth(a == b) }},
		"ne":  {func(x, y *Tensor) *Tensor { return x.Ne(y) }, func(a, b int64) int64 { return truth(a != b) }},
		"lt":  {func(x, y *Tensor) *Tensor { return x.Lt(y) }, func(a, b int64) int64 { return truth(a < b) }},
		"le":  {func(x, y *Tensor) *Tensor { return x.Le(y) }, func(a, b int64) int64 { return truth(a <= b) }},
		"gt":  {func(x, y *Tensor) *Tensor { return x.Gt(y) }, func(a, b int64) int64 { return truth(a > b) }},
		"ge":  {func(x, y *Tensor) *Tensor { return x.Ge(y) }, func(a, b int64) int64 { return truth(a >= b) }},
		"and": {func(x, y *Tensor) *Tensor { return x.And(y) }, func(a, b int64) int64 { return a & b }},
		"or":  {func(x, y *Tensor) *Tensor { return x.Or(y) }, func(a, b int64) int64 { return a | b }},
		"xor": {func(x, y *Tensor) *Tensor { return x.Xor(y) }, func(a, b int64) int64 { return a ^ b }},

		"floor divide":      {func(x, y *Tensor) *Tensor { return x.FloorDiv(y) }, floor},
		"truncating divide": {func(x, y *Tensor) *Tensor { return x.TruncDiv(y) }, func(a, b int64) int64 { return a / b }},
		"remainder":         {func(x, y *Tensor) *Tensor { return x.Remainder(y) }, func(a, b int64) int64 { return a - floor(a, b)*b }},
		"fmod":              {func(x, y *Tensor) *Tensor { return x.Fmod(y) }, func(a, b int64) int64 { return a % b }},
	}
	unary := map[string]struct {
		fast func(x *Tensor) *Tensor
		want func(a int64) int64
	}{
		"neg":        {(*Tensor).Neg, func(a int64) int64 { return -a }},
		"abs":        {(*Tensor).Abs, func(a int64) int64 { return max(a, -a) }},
		"sign":       {(*Tensor).Sign, func(a int64) int64 { return truth(a > 0) - truth(a < 0) }},
		"not":        {(*Tensor).Not, func(a int64) int64 { return ^a }},
		"clamp":      {func(x *Tensor) *Tensor { return x.Clamp(-5, 1<<40) }, func(a int64) int64 { return min(max(a, -5), 1<<40) }},
		"to int32":   {func(x *Tensor) *Tensor { return x.To(Int32) }, func(a int64) int64 { return int64(int32(a)) }},
		"to bool":    {func(x *Tensor) *Tensor { return x.To(Bool) }, func(a int64) int64 { return truth(a != 0) }},
		"to float32": {func(x *Tensor) *Tensor { return bitsAsWholes(x.To(Float32)) }, func(a int64) int64 { return int64(int32(math.Float32bits(float32(a)))) }},
		"by float32": {func(x *Tensor) *Tensor { return x.To(Float32).Mul(0.5).To(Int64) }, func(a int64) int64 { return int64(float32(a) * 0.5) }},
		"by int32":   {func(x *Tensor) *Tensor { return x.To(Int32).To(Int64) }, func(a int64) int64 { return int64(int32(a)) }},
	}
	shapes, sizes := [][]int{{7, 9}, {3, 1100}, {0, 4}}, []int{40, 50, 62}
	if race.Enabled { // which is ten times slower
		shapes, sizes = shapes[:1], sizes[1:]
	}
	for _, shape := range shapes {
		for _, bits := range sizes {
			x, y := wholesOf(40, 1, shape...), wholesOf(40, 2, shape...)
			large := Arange(0, float64(x.Len())).View(shape...).Ge(x.Len() - 3)
			x, y = Where(large, wholesOf(bits, 3, shape...), x), Where(large, wholesOf(bits, 4, shape...), y)
			y = Where(y.Eq(0), 7, y)
			for layout, x := range fastLayouts64(x) {
				for other, y := range fastLayouts64(y) {
					a, b := x.Ints(), y.Ints()
					for name, f := range binary {
						checkWholes(t, fmt.Sprintf("%s, %s, %s, %v, %d bits", name, layout, other, shape, bits), f.fast(x, y), func(i int) int64 { return f.want(a[i], b[i]) })
					}
				}
				a := x.Ints()
				for name, f := range unary {
					checkWholes(t, fmt.Sprintf("%s, %s, %v, %d bits", name, layout, shape, bits), f.fast(x), func(i int) int64 { return f.want(a[i]) })
				}
			}
		}
	}
	if Try(func() { wholesOf(40, 1, 3, 1100).Add(1 << 50).FloorDiv(wholesOf(40, 1, 1, 1100)) }) == nil {
		t.Error("a division by 0 is no error")
	}
}

// bitsAsWholes returns the bits of float32 as integers.
func bitsAsWholes(x *Tensor) *Tensor { return x.Contiguous().as(Int32).To(Int64) }

// fastLayouts64 are a few of fastLayouts.
func fastLayouts64(x *Tensor) map[string]*Tensor {
	all := map[string]*Tensor{"contiguous": x, "transposed": x.T().Contiguous().T()}
	if x.Len() > 0 {
		all["one row"] = x.Narrow(0, 0, 1).Expand(x.Shape()...)
		all["one number"] = x.Narrow(0, 0, 1).Narrow(1, 1, 1).Expand(x.Shape()...)
	}
	return all
}

func checkWholes(t *testing.T, what string, got *Tensor, want func(i int) int64) {
	t.Helper()
	for i, v := range got.Ints() {
		if w := want(i); v != w {
			t.Fatalf("%s: element %d is %d, want %d", what, i, v, w)
		}
	}
}

// TestFastConversions compares conversions of awkward numbers, and fillings with them, with
// those of one element at a time.
func TestFastConversions(t *testing.T) {
	shape := []int{3, 401}
	for _, from := range fastDtypes {
		x := mixed(from, 5, shape...)
		if from.IsFloat() { // integers have no NaN and no infinity
			x = Where(x.IsFinite(), x, With(from).Scalar(2.5))
		}
		for layout, x := range fastLayouts(x) {
			values := elementsOf(x)
			for _, to := range fastDtypes {
				got := x.To(to)
				checkFast(t, fmt.Sprintf("%s to %s, %s", from, to, layout), got, func(i int) float64 { return to.Round(values[i]) })
			}
		}
	}
	for _, to := range fastDtypes {
		for _, value := range []float64{0, 1, -3.75, 1 << 20, math.NaN(), math.Inf(-1), math.Copysign(0, -1)} {
			if !to.IsFloat() && (value != value || value < 0) {
				continue
			}
			for _, n := range []int{0, 1, 15, 17, 4097, 1 << 17} {
				want := to.Round(value)
				checkFast(t, fmt.Sprintf("%d of %g as %s", n, value, to), With(to).Full(value, n), func(int) float64 { return want })
			}
		}
	}
}
