package tensor

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// TestChainsOfViews applies the same random views to a tensor and to a
// contiguous copy that is made again after each step. The elements must agree, and
// so must the gradients: each element of the result pulls at the one element that
// it shows.
func TestChainsOfViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 4).Draw(t, "shape")
		n := layout.Product(shape)
		base := With(Float64).Arange(0, float64(n), 1).View(shape...).RequireGrad()
		x, y := base, base.Detach().Clone()
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			step, name := drawView(t, x.Shape())
			next, err := try(func() *Tensor { return step(x) })
			if err != nil {
				if name != "view" {
					t.Fatalf("%s of shape %v: %v", name, x.Shape(), err)
				}
				continue // a layout that can't be seen in that shape
			}
			x, y = next, step(y).Contiguous()
			if !slices.Equal(x.Shape(), y.Shape()) || !Equal(x, y) {
				t.Fatalf("after %s: %v with strides %v, the copy has %v", name, x, x.Strides(), y)
			}
			if x.IsContiguous() != slices.Equal(significant(x), significant(x.inOrderCopy())) && x.Len() > 0 {
				t.Fatalf("after %s: shape %v strides %v, contiguous is %v", name, x.Shape(), x.Strides(), x.IsContiguous())
			}
		}
		want := ZerosLike(base)
		weights := With(Float64).Arange(1, float64(x.Len()+1), 1)
		for i, at := range y.Ints() {
			Data[float64](want)[at] += weights.At(i)
		}
		x.Mul(weights.View(x.Shape()...)).Sum().Backward()
		if !Equal(base.Grad(), want) {
			t.Fatalf("gradient %v, want %v", base.Grad(), want)
		}
	})
}

// significant returns the strides of axes of more than one position.
func significant(x *Tensor) []int {
	var strides []int
	for i, size := range x.Shape() {
		if size > 1 {
			strides = append(strides, x.Stride(i))
		}
	}
	return strides
}

// drawView draws a view that the shape allows; only "view" may fail, for lack of
// strides.
func drawView(t *rapid.T, shape []int) (step func(x *Tensor) *Tensor, name string) {
	rank := len(shape)
	integer := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
	kinds := []string{"unsqueeze", "squeeze", "view", "reshape", "expand"}
	if rank > 0 {
		kinds = append(kinds, "transpose", "permute", "narrow", "slice", "flatten", "split")
	}
	if rank > 1 {
		kinds = append(kinds, "diagonal", "select")
	}
	name = rapid.SampledFrom(kinds).Draw(t, "view")
	axis := func() int { return integer(-rank, rank-1, "axis") }
	size := func(a int) int { return shape[(a+rank)%rank] }
	switch name {
	case "unsqueeze":
		a := integer(-rank-1, rank, "axis")
		return func(x *Tensor) *Tensor { return x.Unsqueeze(a) }, name
	case "squeeze":
		return func(x *Tensor) *Tensor { return x.Squeeze() }, name
	case "view", "reshape":
		to := drawShape(t, layout.Product(shape))
		if name == "view" {
			return func(x *Tensor) *Tensor { return x.View(to...) }, name
		}
		return func(x *Tensor) *Tensor { return x.Reshape(to...) }, name
	case "expand":
		to := slices.Clone(shape)
		for i := range to {
			if to[i] == 1 {
				to[i] = integer(0, 3, "size")
			}
		}
		if integer(0, 3, "more") == 0 && rank < 5 {
			to = append([]int{2}, to...)
		}
		return func(x *Tensor) *Tensor { return x.Expand(to...) }, name
	case "transpose":
		a, b := axis(), axis()
		return func(x *Tensor) *Tensor { return x.Transpose(a, b) }, name
	case "permute":
		axes := make([]int, rank)
		for i := range axes {
			axes[i] = i
		}
		axes = rapid.Permutation(axes).Draw(t, "axes")
		return func(x *Tensor) *Tensor { return x.Permute(axes...) }, name
	case "narrow":
		a := axis()
		start := integer(0, size(a), "start")
		length := integer(0, size(a)-start, "length")
		return func(x *Tensor) *Tensor { return x.Narrow(a, start, length) }, name
	case "slice":
		a := axis()
		start, stop, every := integer(-6, 6, "start"), integer(-6, 6, "stop"), integer(1, 3, "step")
		return func(x *Tensor) *Tensor { return x.Slice(a, start, stop, every) }, name
	case "flatten":
		first := integer(0, rank-1, "first")
		last := integer(first, rank-1, "last")
		return func(x *Tensor) *Tensor { return x.Flatten(first, last) }, name
	case "split":
		a := axis()
		part := integer(1, 3, "size")
		return func(x *Tensor) *Tensor { return x.Split(a, part)[0] }, name
	case "diagonal":
		a := integer(0, rank-2, "axis")
		b := integer(a+1, rank-1, "axis")
		offset := integer(-2, 2, "offset")
		return func(x *Tensor) *Tensor { return x.Diagonal(offset, a, b) }, name
	default: // select
		a := axis()
		if size(a) == 0 {
			return func(x *Tensor) *Tensor { return x.Transpose(0, -1) }, "transpose"
		}
		i := integer(-size(a), size(a)-1, "position")
		return func(x *Tensor) *Tensor { return x.Select(a, i) }, name
	}
}

// drawShape draws a shape of n elements.
func drawShape(t *rapid.T, n int) []int {
	if n == 0 {
		return rapid.SampledFrom([][]int{{0}, {0, 3}, {2, 0}}).Draw(t, "shape")
	}
	var shape []int
	for rest := n; rest > 1; {
		var divisors []int
		for d := 2; d <= rest; d++ {
			if rest%d == 0 {
				divisors = append(divisors, d)
			}
		}
		d := rapid.SampledFrom(divisors).Draw(t, "size")
		shape = append(shape, d)
		rest /= d
	}
	if rapid.Bool().Draw(t, "one more") {
		shape = slices.Insert(shape, rapid.IntRange(0, len(shape)).Draw(t, "where"), 1)
	}
	return shape
}

// TestWritesThroughViews: a write through a chain of views shows in the
// base at the elements that the chain shows, and nowhere else.
func TestWritesThroughViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(t, "shape")
		base := With(Float64).Arange(0, float64(layout.Product(shape)), 1).View(shape...)
		x := base
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			step, _ := drawView(t, x.Shape())
			if next, err := try(func() *Tensor { return step(x) }); err == nil && SameStorage(next, x) {
				x = next
			}
		}
		numbers := x.Ints()
		seen := map[int64]bool{}
		repeats := false
		for _, at := range numbers {
			repeats = repeats || seen[at]
			seen[at] = true
		}
		want := base.Floats()
		for at := range seen {
			want[at] = want[at]*2 + 1
		}
		err := Try(func() { x.MulInPlace(2); x.AddInPlace(1) })
		if repeats != (err != nil) {
			t.Fatalf("shape %v strides %v: elements repeat: %v, error: %v", x.Shape(), x.Strides(), repeats, err)
		}
		if err == nil && !equalFloats(base.Floats(), want) {
			t.Fatalf("base %v, want %v", base, want)
		}
	})
}

func TestAliasing(t *testing.T) {
	square := func() *Tensor { return Arange(9).View(3, 3).To(Float32) }
	x := square()
	want := square().Mul(square().Clone())
	if got := x.Mul(x); !Equal(got, want) || !Equal(x, square()) {
		t.Errorf("x·x = %v, want %v; x is now %v", got, want, x)
	}
	for _, c := range []struct {
		name string
		run  func(x *Tensor)
		want *Tensor
	}{
		{"x += x", func(x *Tensor) { x.AddInPlace(x) }, square().Mul(2)},
		{"x += xᵀ", func(x *Tensor) { x.AddInPlace(x.T()) }, square().Add(square().T().Contiguous())},
		{"xᵀ -= x", func(x *Tensor) { x.T().SubInPlace(x) }, square().Sub(square().T().Contiguous())},
		{"x = xᵀ", func(x *Tensor) { x.CopyFrom(x.T()) }, square().T().Contiguous()},
		{"x *= its first row", func(x *Tensor) { x.MulInPlace(x.Index(0)) }, square().Mul(square().Index(0))},
		{"shift up", func(x *Tensor) { x.Narrow(0, 0, 2).CopyFrom(x.Narrow(0, 1, 2)) }, Of([]float64{3, 4, 5}, []float64{6, 7, 8}, []float64{6, 7, 8})},
		{"shift down", func(x *Tensor) { x.Narrow(0, 1, 2).CopyFrom(x.Narrow(0, 0, 2)) }, Of([]float64{0, 1, 2}, []float64{0, 1, 2}, []float64{3, 4, 5})},
		{"by positions", func(x *Tensor) { x.SetIndex(x.Index(0), Of(2, 1)) }, Of([]float64{0, 1, 2}, []float64{0, 1, 2}, []float64{0, 1, 2})},
		{"by mask", func(x *Tensor) { x.SetIndex(-1, x.Gt(4)) }, Of([]float64{0, 1, 2}, []float64{3, 4, -1}, []float64{-1, -1, -1})},
		{"mask of itself", func(x *Tensor) { x.MaskedFillInPlace(x.Gt(x.T()), 9) }, square().MaskedFill(square().Gt(square().T()), 9)},
	} {
		x := square()
		c.run(x)
		if !Equal(x, c.want) {
			t.Errorf("%s:\n%v, want\n%v", c.name, x, c.want)
		}
	}
}

// TestIndexByTensors compares with a loop over the result.
func TestIndexByTensors(t *testing.T) {
	x := Arange(60).View(3, 4, 5)
	i, j := Of(2, 0, -1), Of([]int{0, 3, 1}, []int{2, 2, 2})
	yes, no := x.Sum().Gt(0), x.Sum().Lt(0) // without axes
	for _, c := range []struct {
		name  string
		got   *Tensor
		shape []int
		at    func(p []int) (a, b, c int)
	}{
		{"x[i]", x.Index(i), []int{3, 4, 5}, func(p []int) (int, int, int) { return int(i.At(p[0])), p[1], p[2] }},
		{"x[:, j]", x.Index(All, j), []int{3, 2, 3, 5}, func(p []int) (int, int, int) { return p[0], int(j.At(p[1], p[2])), p[3] }},
		{"x[..., i]", x.Index(Ellipsis, i), []int{3, 4, 3}, func(p []int) (int, int, int) { return p[0], p[1], int(i.At(p[2])) }},
		{"x[i, j]", x.Index(i, j), []int{2, 3, 5}, func(p []int) (int, int, int) { return int(i.At(p[1])), int(j.At(p[0], p[1])), p[2] }},
		{"x[i, :, j]", x.Index(i, All, j), []int{2, 3, 4}, func(p []int) (int, int, int) { return int(i.At(p[1])), p[2], int(j.At(p[0], p[1])) }},
		{"x[:, i, j]", x.Index(All, i, j), []int{3, 2, 3}, func(p []int) (int, int, int) { return p[0], int(i.At(p[2])), int(j.At(p[1], p[2])) }},
		{"x[1, j, 2]", x.Index(1, j, 2), []int{2, 3}, func(p []int) (int, int, int) { return 1, int(j.At(p[0], p[1])), 2 }},
		{"x[x > 57]", x.Index(x.Gt(57)), []int{2}, func(p []int) (int, int, int) { return 2, 3, 3 + p[0] }},
		{"x[:, mask]", x.Index(All, Of(true, false, false, true)), []int{3, 2, 5}, func(p []int) (int, int, int) { return p[0], 3 * p[1], p[2] }},
		{"x[yes]", x.Index(yes), []int{1, 3, 4, 5}, func(p []int) (int, int, int) { return p[1], p[2], p[3] }},
		{"x[no]", x.Index(no), []int{0, 3, 4, 5}, nil},
		{"x[..., yes]", x.Index(Ellipsis, yes), []int{3, 4, 5, 1}, func(p []int) (int, int, int) { return p[0], p[1], p[2] }},
		{"x[:, yes, i]", x.Index(All, yes, i), []int{3, 3, 5}, func(p []int) (int, int, int) { return p[0], int(i.At(p[1])), p[2] }},
		{"x[mask, mask]", x.Index(Of(true, false, true), Of(true, false, false, true)), []int{2, 5}, func(p []int) (int, int, int) { return 2 * p[0], 3 * p[0], p[1] }},
	} {
		if !slices.Equal(c.got.Shape(), c.shape) {
			t.Errorf("%s has shape %v, want %v", c.name, c.got.Shape(), c.shape)
			continue
		}
		for n, v := range c.got.Floats() {
			p := make([]int, len(c.shape))
			for a, rest := len(p)-1, n; a >= 0; a-- {
				p[a] = rest % c.shape[a]
				rest /= c.shape[a]
			}
			i0, i1, i2 := c.at(p)
			if want := x.At(i0, i1, i2); v != want {
				t.Errorf("%s at %v is %g, want %g", c.name, p, v, want)
			}
		}
		// SetIndex reaches the same elements.
		y := x.Clone()
		y.SetIndex(-1, indexOf(c.name, x, i, j)...)
		if changed := y.Eq(-1); !Equal(changed, marked(x, c.got)) {
			t.Errorf("%s = -1 changes %v, want those with the values %v", c.name, x.MaskedSelect(changed), c.got)
		}
	}
	for name, f := range map[string]func(){
		"float index":        func() { x.Index(Of(1.5)) },
		"out of range":       func() { x.Index(Of(3)) },
		"mask of other size": func() { x.Index(Of(true, false)) },
		"too many":           func() { x.Index(i, i, i, i) },
		"unlike shapes":      func() { x.Index(i, Of(0, 1)) },
		"nil":                func() { x.Index((*Tensor)(nil)) },
		"mask behind all":    func() { x.Index(Ellipsis, Ellipsis, Of(true)) },
	} {
		if err := Try(f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// indexOf returns the indices that a row of TestIndexByTensors is named for.
func indexOf(name string, x, i, j *Tensor) []any {
	return map[string][]any{
		"x[i]": {i}, "x[:, j]": {All, j}, "x[..., i]": {Ellipsis, i}, "x[i, j]": {i, j}, "x[i, :, j]": {i, All, j}, "x[:, i, j]": {All, i, j},
		"x[1, j, 2]": {1, j, 2}, "x[x > 57]": {x.Gt(57)}, "x[:, mask]": {All, Of(true, false, false, true)},
		"x[mask, mask]": {Of(true, false, true), Of(true, false, false, true)},
		"x[yes]":        {x.Sum().Gt(0)}, "x[no]": {x.Sum().Lt(0)}, "x[..., yes]": {Ellipsis, x.Sum().Gt(0)}, "x[:, yes, i]": {All, x.Sum().Gt(0), i},
	}[name]
}

// marked returns where the elements of x, which are all different, are among
// those of values.
func marked(x, values *Tensor) *Tensor {
	mask := With(Bool).Zeros(x.Shape()...)
	for _, v := range values.Floats() {
		mask = mask.Or(x.Eq(v))
	}
	return mask
}

// TestResultsDoNotDependOnThreads runs operations that share work.
func TestResultsDoNotDependOnThreads(t *testing.T) {
	x := With(NewGenerator(1)).Randn(700, 301)
	w := With(NewGenerator(2)).Randn(301, 40)
	run := func(threads int) []*Tensor {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		return []*Tensor{x.Sum(), x.Sum(0), x.Mean(1), x.Std(), x.Norm(), x.Softmax(1), x.Softmax(0), x.LogSumExp(0), x.Cumsum(0),
			x.Matmul(w), x.GELU(), x.Prod(1), x.T().Add(1), x.Argmax(0), x.IndexSelect(1, Randperm(301).Mul(0))}
	}
	one, four := run(1), run(4)
	for i := range one {
		if !AllClose(one[i], four[i], 0, 0) {
			t.Errorf("result %d differs between one thread and four", i)
		}
	}
}

// TestReductionsOfEveryLayout reduces tensors large enough for every way of
// going through memory, and asks for the same bits.
func TestReductionsOfEveryLayout(t *testing.T) {
	x := With(NewGenerator(5)).Uniform(0.9, 1.1, 3, 2100, 70)
	orders := [][]int{{2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}}
	orders = orders[:testenv.Cases(len(orders))]
	for name, f := range map[string]func(x *Tensor, axes ...int) *Tensor{
		"sum": (*Tensor).Sum, "mean": (*Tensor).Mean, "prod": (*Tensor).Prod, "max": (*Tensor).Max, "min": (*Tensor).Min, "norm": (*Tensor).Norm,
		"all": (*Tensor).All, "any": (*Tensor).Any,
	} {
		for _, axes := range [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}} {
			want := f(x, axes...)
			for _, order := range orders {
				inverse := make([]int, 3)
				for i, a := range order {
					inverse[a] = i
				}
				other := x.Permute(order...).Contiguous().Permute(inverse...)
				if got := f(other, axes...); !Equal(got, want) {
					t.Errorf("%s over %v depends on the layout: %v for strides %v", name, axes, got.Sub(want).Abs().Max(), other.Strides())
				}
			}
			if got := f(x.To(BFloat16).To(Float32), axes...).To(BFloat16); !Equal(got, f(x.To(BFloat16), axes...).To(BFloat16)) {
				t.Errorf("%s over %v of bfloat16 is not that of float32, rounded once", name, axes)
			}
		}
	}
}

// TestTransposedCopies copies shapes that do not divide into tiles.
func TestTransposedCopies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := func(what string) int { return rapid.SampledFrom([]int{1, 2, 15, 16, 17, 33, 50}).Draw(t, what) }
		d := rapid.SampledFrom([]Dtype{Uint8, BFloat16, Int32, Float64}).Draw(t, "dtype")
		shape := []int{rapid.IntRange(1, 3).Draw(t, "size"), size("size"), size("size"), size("size")}
		order := rapid.Permutation([]int{0, 1, 2, 3}).Draw(t, "order")
		start := rapid.IntRange(0, 1).Draw(t, "start")
		base := Arange(float64(layout.Product(shape)+start)).Remainder(251).To(d).Narrow(0, start, layout.Product(shape)).View(shape...)
		x := base.Permute(order...)
		y := x.Contiguous()
		values, at := y.Floats(), 0
		loops.Walk(&x.layout, 0, x.Len(), func(done, first, run, stride int) {
			for i := range run {
				if want := float64((first + i*stride) % 251); values[at] != want {
					t.Fatalf("shape %v strides %v: element %d is %g, want %g", x.Shape(), x.Strides(), at, values[at], want)
				}
				at++
			}
		})
		if !y.IsContiguous() || at != x.Len() {
			t.Fatalf("the copy has strides %v", y.Strides())
		}
	})
}

// TestNaNRules: a NaN is not lost on the way.
func TestNaNRules(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	x := Of(1, nan, -inf, inf)
	for _, c := range []struct {
		name string
		got  *Tensor
		want []float64
	}{
		{"max", x.Max(), []float64{nan}},
		{"min", x.Min(), []float64{nan}},
		{"max without NaN", Of(1., -inf).Max(), []float64{1}},
		{"argmax", x.Argmax(), []float64{1}},
		{"argmin", x.Argmin(), []float64{1}},
		{"maximum", x.Maximum(0), []float64{1, nan, 0, inf}},
		{"minimum", Number(0).Minimum(x), []float64{0, nan, -inf, 0}},
		{"clamp", x.Clamp(-2, 2), []float64{1, nan, -2, 2}},
		{"relu", x.ReLU(), []float64{1, nan, 0, inf}},
		{"equal", x.Eq(x), []float64{1, 0, 1, 1}},
		{"not equal", x.Ne(x), []float64{0, 1, 0, 0}},
		{"all", x.All(), []float64{1}},
		{"to bool", x.To(Bool), []float64{1, 1, 1, 1}},
		{"sorted", first(x.Sort(0, false)), []float64{-inf, 1, inf, nan}},
		{"sorted down", first(x.Sort(0, true)), []float64{nan, inf, 1, -inf}},
		{"sum", x.Sum(), []float64{nan}},
		{"softmax of -inf", Of(0., -inf).Softmax(0), []float64{1, 0}},
		{"softmax of nothing but -inf", Of(-inf, -inf).Softmax(0), []float64{nan, nan}},
		{"logsumexp of -inf", Of(-inf, -inf).LogSumExp(), []float64{-inf}},
		{"logsumexp of inf", Of(inf, 1).LogSumExp(), []float64{inf}},
		{"logsumexp of NaN", Of(nan).LogSumExp(), []float64{nan}},
		{"logsumexp of NaN in bfloat16", With(BFloat16).Of(nan).LogSumExp(), []float64{nan}},
		{"logsumexp of NaN and -inf", Of(nan, -inf).LogSumExp(), []float64{nan}},
		{"logsumexp of NaN and inf", Of(-inf, nan, inf).LogSumExp(), []float64{nan}},
		{"logsumexp of inf and -inf", Of(-inf, inf).LogSumExp(), []float64{inf}},
		{"var of one", Of(3.).Var(), []float64{nan}},
		{"mean of none", Zeros(0).Mean(), []float64{nan}},
		{"remainder", Of(7., -7, 7, -7).Remainder(Of(3., 3, -3, -3)), []float64{1, 2, -2, -1}},
		{"fmod", Of(7., -7, 7, -7).Fmod(Of(3., 3, -3, -3)), []float64{1, -1, 1, -1}},
		{"floor divide", Of(7., -7, 1, -1).FloorDiv(Of(2., 2, 0, inf)), []float64{3, -4, inf, -1}},
	} {
		if got := c.got.Floats(); !equalFloats(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func first(x, _ *Tensor) *Tensor { return x }
