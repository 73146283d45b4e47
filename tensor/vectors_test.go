package tensor

import (
	"fmt"
	"math"
	"testing"
)

// What runs in vector instructions against what it takes the place of, at lengths that fill no vector
// and in layouts that have no fast path.

// sameBitsAs fails unless two tensors have the same elements, with the same signs of zeros; NaN equals NaN.
func sameBitsAs(t *testing.T, what string, got, want *Tensor) {
	t.Helper()
	if got.dtype != want.dtype || !sameShape(got, want) {
		t.Fatalf("%s: %s%v, want %s%v", what, got.dtype, got.Shape(), want.dtype, want.Shape())
	}
	a, b := got.Floats(), want.Floats()
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) && (a[i] == a[i] || b[i] == b[i]) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, a[i], b[i])
		}
	}
}

// layoutsOf returns x as it is, with other memory between its elements, and turned.
func layoutsOf(x *Tensor) map[string]*Tensor {
	n, m := x.layout.Shape[0], x.layout.Shape[1]
	return map[string]*Tensor{"": x, "turned ": x.T().Contiguous().T(), "spaced ": Cat(1, x, x).Narrow(1, 0, m).Expand(n, m)}
}

func TestInt32AsInt64(t *testing.T) {
	for _, n := range []int{1, 2, 7, 33, 100} {
		a := With(NewGenerator(uint64(n)), Int32).Randint(-50, 50, 3, n)
		b := With(NewGenerator(uint64(n)+1), Int32).Randint(-50, 50, 3, n)
		a.SetIndex(math.MinInt32, 0, 0)
		a.SetIndex(math.MaxInt32, 1, 0)
		b.SetIndex(math.MinInt32, 2, 0)
		binary := map[string]func(x, y *Tensor) *Tensor{}
		for name, f := range map[string]func(*Tensor, any) *Tensor{"eq": (*Tensor).Eq, "ne": (*Tensor).Ne, "lt": (*Tensor).Lt, "le": (*Tensor).Le, "gt": (*Tensor).Gt, "ge": (*Tensor).Ge,
			"and": (*Tensor).And, "or": (*Tensor).Or, "xor": (*Tensor).Xor, "maximum": (*Tensor).Maximum, "minimum": (*Tensor).Minimum} {
			binary[name] = func(x, y *Tensor) *Tensor { return f(x, y) }
			binary[name+" of a number"] = func(x, _ *Tensor) *Tensor { return f(x, -3) }
			binary[name+" of a row"] = func(x, y *Tensor) *Tensor { return f(x, y.Select(0, 2)) }
		}
		unary := map[string]func(x *Tensor) *Tensor{
			"neg": (*Tensor).Neg, "abs": (*Tensor).Abs, "sign": (*Tensor).Sign, "not": (*Tensor).Not, "relu": (*Tensor).ReLU, "clamp": func(x *Tensor) *Tensor { return x.Clamp(-9, 7) },
			"clamp to more": func(x *Tensor) *Tensor { return x.Clamp(-1e12, math.Inf(1)) }, "clamp across": func(x *Tensor) *Tensor { return x.Clamp(5, -5) },
			"to float32": func(x *Tensor) *Tensor { return x.To(Float32) }, "to bool": func(x *Tensor) *Tensor { return x.To(Bool) },
			"sum": func(x *Tensor) *Tensor { return x.Sum() }, "sum 1": func(x *Tensor) *Tensor { return x.Sum(1) }, "sum 0": func(x *Tensor) *Tensor { return x.Sum(0) },
			"max": func(x *Tensor) *Tensor { return x.Max() }, "max 1": func(x *Tensor) *Tensor { return x.Max(1) }, "min": func(x *Tensor) *Tensor { return x.Min() }, "min 1": func(x *Tensor) *Tensor { return x.Min(1) },
		}
		same := func(what string, got, want *Tensor) {
			t.Helper()
			if want.dtype == Int64 && got.dtype == Int32 {
				want = want.To(Int32)
			}
			sameBitsAs(t, what, got, want)
		}
		for layout, x := range layoutsOf(a) {
			for name, f := range binary {
				same(fmt.Sprintf("%s%s, 3x%d", layout, name, n), f(x, b), f(a.To(Int64), b.To(Int64)))
			}
			for name, f := range unary {
				same(fmt.Sprintf("%s%s, 3x%d", layout, name, n), f(x), f(a.To(Int64)))
			}
		}
	}
}

func TestBoolsAsNumbers(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 64, 1025} {
		for _, share := range []float64{0, 0.5, 0.999, 1} {
			a, b := With(NewGenerator(1)).Rand(3, n).Lt(share), With(NewGenerator(2)).Rand(3, n).Lt(0.5)
			x, y := a.To(Float64), b.To(Float64)
			for layout, a := range layoutsOf(a) {
				what := func(op string) string { return fmt.Sprintf("%s%s, 3x%d, %g set", layout, op, n, share) }
				sameBitsAs(t, what("eq"), a.Eq(b), x.Eq(y))
				sameBitsAs(t, what("ne"), a.Ne(b), x.Ne(y))
				sameBitsAs(t, what("logical and"), a.LogicalAnd(b), x.Mul(y).Gt(0))
				sameBitsAs(t, what("or"), a.Or(b), x.Add(y).Gt(0))
				sameBitsAs(t, what("not"), a.Not(), x.Eq(0))
				for axis := range 2 {
					sameBitsAs(t, what("sum"), a.Sum(axis), x.Sum(axis).To(Int64))
					sameBitsAs(t, what("all"), a.All(axis), x.Min(axis).Gt(0))
					sameBitsAs(t, what("any"), a.Any(axis), x.Max(axis).Gt(0))
				}
				sameBitsAs(t, what("all of all"), a.All(), x.Min().Gt(0))
				sameBitsAs(t, what("any of all"), a.Any(), x.Max().Gt(0))
			}
		}
	}
}

// awkwardMatrix has NaN, infinities, zeros of both signs and subnormal numbers among others.
func awkwardMatrix(seed uint64, rows, columns int) *Tensor {
	x := With(NewGenerator(seed)).Randn(rows, columns)
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e-45, -3e38, 2, -2, 1}
	for i := range rows * columns / 3 {
		x.SetIndex(special[(i+int(seed))%len(special)], i*3/columns, i*3%columns)
	}
	return x
}

func TestFloat32AsFloat64(t *testing.T) {
	for _, n := range []int{1, 5, 40} {
		x, y := awkwardMatrix(1, 6, n), awkwardMatrix(2, 6, n)
		wideX, wideY := x.To(Float64), y.To(Float64)
		for layout, x := range layoutsOf(x) {
			what := func(op string) string { return fmt.Sprintf("%s%s, 6x%d", layout, op, n) }
			sameBitsAs(t, what("isinf"), x.IsInf(), wideX.IsInf())
			sameBitsAs(t, what("isfinite"), x.IsFinite(), wideX.IsFinite())
			sameBitsAs(t, what("leaky relu"), x.LeakyReLU(0.5), wideX.LeakyReLU(0.5).To(Float32))
			sameBitsAs(t, what("pow"), x.Pow(y), wideX.Pow(wideY).To(Float32))
			sameBitsAs(t, what("pow of a number"), x.Pow(2.5), wideX.Pow(2.5).To(Float32))
			for axis := range 2 {
				sameBitsAs(t, what("argmax"), x.Argmax(axis), wideX.Argmax(axis))
				sameBitsAs(t, what("argmin"), x.Argmin(axis), wideX.Argmin(axis))
				sameBitsAs(t, what("max"), x.Max(axis), wideX.Max(axis).To(Float32))
				sameBitsAs(t, what("min"), x.Min(axis), wideX.Min(axis).To(Float32))
				sameBitsAs(t, what("flip"), x.Flip(axis), wideX.Flip(axis).To(Float32))
			}
			if n > 1 {
				k := min(n-1, 3)
				a, at := x.TopK(1, k)
				b, wideAt := wideX.TopK(1, k)
				sameBitsAs(t, what("topk"), a, b.To(Float32))
				sameBitsAs(t, what("topk's positions"), at, wideAt)
				_, sorted := x.Sort(1, true)
				sameBitsAs(t, what("topk beside sort"), at, sorted.Narrow(1, 0, k))
				_, at = x.BottomK(1, k)
				_, sorted = x.Sort(1, false)
				sameBitsAs(t, what("bottomk beside sort"), at, sorted.Narrow(1, 0, k))
			}
		}
	}
	// Quotients that are whole, and next to it.
	var a, b []float32
	for i := range 300 {
		q, d := float32(i-150), float32(math.Ldexp(1+float64(i%7)/7, i%9-4))
		a = append(a, q*d, math.Nextafter32(q*d, 1e9), math.Nextafter32(q*d, -1e9))
		b = append(b, d, d, -d)
	}
	a, b = append(a, 1e30, -1e30, float32(math.Inf(1)), 5, 0, float32(math.Copysign(0, -1))), append(b, 1e-3, 3, 2, 0, -1, 2)
	x, y := Of(a), Of(b)
	sameBitsAs(t, "floor divide", x.FloorDiv(y), x.To(Float64).FloorDiv(y.To(Float64)).To(Float32))
}

// TestSoftmaxOfColumns asserts that columns that are gone through side by side have the results of rows.
func TestSoftmaxOfColumns(t *testing.T) {
	for _, shape := range [][]int{{3, 16}, {70, 17}, {1030, 40}, {5, 300}, {1, 16}} {
		x := With(NewGenerator(3)).Randn(shape...).Mul(5)
		if shape[0] > 3 {
			x.SetIndex(math.NaN(), 1, 1)
			x.SetIndex(math.Inf(-1), 2, 2)
			x.SetIndex(math.Inf(1), 2, 3)
		}
		sameBitsAs(t, fmt.Sprint("softmax of columns of ", shape), x.Softmax(0), x.T().Contiguous().Softmax(1).T())
		sameBitsAs(t, fmt.Sprint("log softmax of columns of ", shape), x.LogSoftmax(0), x.T().Contiguous().LogSoftmax(1).T())
		cube := x.Unsqueeze(0).Expand(2, shape[0], shape[1]).Contiguous()
		sameBitsAs(t, fmt.Sprint("softmax in the middle of ", shape), cube.Softmax(1).Select(0, 1), x.Softmax(0))
	}
}

// TestColumnsAsRows asserts that sums and products of columns are made in the order of those of rows.
func TestColumnsAsRows(t *testing.T) {
	for _, shape := range [][]int{{3, 16}, {128, 16}, {129, 64}, {1100, 20}, {260, 300}} {
		x := With(NewGenerator(4)).Uniform(0.9, 1.1, shape...)
		turned := x.T().Contiguous()
		sameBitsAs(t, fmt.Sprint("sum of columns of ", shape), x.Sum(0), turned.Sum(1))
		sameBitsAs(t, fmt.Sprint("product of columns of ", shape), x.Prod(0), turned.Prod(1))
		sameBitsAs(t, fmt.Sprint("mean of columns of ", shape), x.To(Float64).Mean(0), turned.To(Float64).Mean(1))
	}
}
