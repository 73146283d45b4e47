package tensor

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestGradientsAtSpecialPoints: where a function has a corner or a quotient has
// no value, the gradient is PyTorch's.
func TestGradientsAtSpecialPoints(t *testing.T) {
	for _, c := range []struct {
		name string
		x    []float64
		f    func(x *Tensor) *Tensor
		want []float64
	}{
		{"relu at 0", []float64{-1, 0, 1}, (*Tensor).ReLU, []float64{0, 0, 1}},
		{"abs at 0", []float64{-1, 0, 1}, (*Tensor).Abs, []float64{-1, 0, 1}},
		{"clamp at its bounds", []float64{-2, -1, 0, 1, 2}, func(x *Tensor) *Tensor { return x.Clamp(-1, 1) }, []float64{0, 1, 1, 1, 0}},
		{"max of ties", []float64{3, 1, 3}, func(x *Tensor) *Tensor { return x.Max() }, []float64{0.5, 0, 0.5}},
		{"max at of ties", []float64{3, 1, 3}, func(x *Tensor) *Tensor { v, _ := x.MaxAt(0); return v }, []float64{1, 0, 0}},
		{"min of ties", []float64{3, 1, 1}, func(x *Tensor) *Tensor { return x.Min() }, []float64{0, 0.5, 0.5}},
		{"maximum of equals", []float64{1, 2}, func(x *Tensor) *Tensor { return x.Maximum(Of(1., 1)) }, []float64{0.5, 1}},
		// The gradient that comes in is infinite where the result is 0.
		{"maximum of a loser", []float64{-1, 4}, func(x *Tensor) *Tensor { return x.Maximum(0).Sqrt() }, []float64{0, 0.25}},
		{"minimum of a loser", []float64{1, -4}, func(x *Tensor) *Tensor { return x.Minimum(0).Neg().Sqrt() }, []float64{0, -0.25}},
		{"max of a loser", []float64{-1, 0}, func(x *Tensor) *Tensor { return x.Max().Sqrt() }, []float64{0, math.Inf(1)}},
		{"max with a NaN", []float64{1, math.NaN()}, func(x *Tensor) *Tensor { return x.Max() }, []float64{0, 1}},
		{"max with a NaN, kept as an axis", []float64{math.NaN(), 1}, func(x *Tensor) *Tensor { return x.Max(KeepDim) }, []float64{1, 0}},
		{"min with two", []float64{math.NaN(), 1, math.NaN()}, func(x *Tensor) *Tensor { return x.Min() }, []float64{0.5, 0, 0.5}},
		{"max over an axis with a NaN", []float64{1, math.NaN()}, func(x *Tensor) *Tensor { return x.Max(0) }, []float64{math.NaN(), math.NaN()}},
		{"prod with a 0", []float64{2, 0, 3}, func(x *Tensor) *Tensor { return x.Prod() }, []float64{0, 6, 0}},
		{"prod with two", []float64{2, 0, 0}, func(x *Tensor) *Tensor { return x.Prod() }, []float64{0, 0, 0}},
		// y = (x₀, x₀x₁, x₀x₁x₂): dΣy/dx = (1 + x₁ + x₁x₂, x₀ + x₀x₂, x₀x₁)
		{"cumprod", []float64{2, 5, 3}, func(x *Tensor) *Tensor { return x.Cumprod(0) }, []float64{21, 8, 10}},
		{"cumprod with a 0", []float64{2, 0, 3}, func(x *Tensor) *Tensor { return x.Cumprod(0) }, []float64{1, 8, 0}},
		{"norm of 0", []float64{0, 0}, func(x *Tensor) *Tensor { return x.Norm() }, []float64{0, 0}},
		{"std of equals", []float64{2, 2}, func(x *Tensor) *Tensor { return x.Std() }, []float64{0, 0}},
		{"pow 0 of 0", []float64{0, 2}, func(x *Tensor) *Tensor { return x.Pow(0) }, []float64{0, 0}},
		{"embedding of one row twice", []float64{1, 2}, func(x *Tensor) *Tensor { return x.View(2, 1).Embedding(Of(1, 1, 0, 1)) }, []float64{1, 3}},
		{"gather of one place twice", []float64{1, 2}, func(x *Tensor) *Tensor { return x.Gather(0, Of(1, 1, 1)) }, []float64{0, 3}},
		{"repeat", []float64{1, 2}, func(x *Tensor) *Tensor { return x.Repeat(3) }, []float64{3, 3}},
		{"rounding", []float64{0.4, 1.5}, (*Tensor).Round, []float64{0, 0}},
		{"saturating conversion", []float64{1, 1e6}, func(x *Tensor) *Tensor { return x.ToSaturating(Float16) }, []float64{1, 1}},
	} {
		x := With(Float64).Of(c.x).RequireGrad()
		c.f(x).Sum().Backward()
		if got := x.Grad().Floats(); !equalFloats(got, c.want) {
			t.Errorf("%s: gradient %v, want %v", c.name, got, c.want)
		}
	}
	one := With(Float64).Scalar(3).RequireGrad()
	one.Cumprod(0).Add(one.Cumsum(-1)).Backward()
	if got := one.Grad().Item(); got != 2 {
		t.Errorf("a single number as a row of one has gradient %g, want 2", got)
	}
}

// TestGradientsOfLargeFloat16: a step on the way may be beyond float16, or too small for it, if the gradient isn't.
func TestGradientsOfLargeFloat16(t *testing.T) {
	wave := make([]float64, 100)
	for i := range wave {
		wave[i] = float64(1000 - i%2*2000)
	}
	for _, c := range []struct {
		name string
		x    []float64
		f    func(x *Tensor) *Tensor
		want []float64 // of the first two
	}{
		{"gelu tanh", []float64{300, -300}, (*Tensor).GELUTanh, []float64{1, 0}},
		{"std", wave, func(x *Tensor) *Tensor { return x.Std() }, []float64{1 / math.Sqrt(9900), -1 / math.Sqrt(9900)}},
		{"atan", []float64{100, 300}, (*Tensor).Atan, []float64{1. / 10001, 1. / 90001}},
		{"asinh", []float64{100, -300}, (*Tensor).Asinh, []float64{1 / math.Sqrt(10001), 1 / math.Sqrt(90001)}},
		{"acosh", []float64{100, 300}, (*Tensor).Acosh, []float64{1 / math.Sqrt(9999), 1 / math.Sqrt(89999)}},
		{"p-norm", []float64{100, 100}, func(x *Tensor) *Tensor { return x.PNorm(3) }, []float64{math.Pow(2, -2./3), math.Pow(2, -2./3)}},
	} {
		x := With(Float16).Of(c.x).RequireGrad()
		c.f(x).Sum().Backward()
		for i, want := range c.want {
			if got, want := x.Grad().At(i), Float16.Round(want); got != want {
				t.Errorf("%s: the gradient at %v is %v, want %v", c.name, c.x[i], got, want)
			}
		}
	}
}

// TestInPlaceForms compares them with the forms that return a new tensor.
func TestInPlaceForms(t *testing.T) {
	x := Of(0.5, 1, 2, 3)
	mask := x.Gt(1)
	for name, f := range map[string][2]func(x *Tensor) *Tensor{
		"neg":          {(*Tensor).NegInPlace, (*Tensor).Neg},
		"abs":          {func(x *Tensor) *Tensor { return x.NegInPlace().AbsInPlace() }, (*Tensor).Abs},
		"exp":          {(*Tensor).ExpInPlace, (*Tensor).Exp},
		"log":          {(*Tensor).LogInPlace, (*Tensor).Log},
		"sqrt":         {(*Tensor).SqrtInPlace, (*Tensor).Sqrt},
		"square":       {(*Tensor).SquareInPlace, (*Tensor).Square},
		"reciprocal":   {(*Tensor).ReciprocalInPlace, (*Tensor).Reciprocal},
		"relu":         {func(x *Tensor) *Tensor { return x.SubInPlace(1).ReLUInPlace() }, func(x *Tensor) *Tensor { return x.Sub(1).ReLU() }},
		"sigmoid":      {(*Tensor).SigmoidInPlace, (*Tensor).Sigmoid},
		"tanh":         {(*Tensor).TanhInPlace, (*Tensor).Tanh},
		"clamp":        {func(x *Tensor) *Tensor { return x.ClampInPlace(1, 2) }, func(x *Tensor) *Tensor { return x.Clamp(1, 2) }},
		"masked fill":  {func(x *Tensor) *Tensor { return x.MaskedFillInPlace(mask, 7) }, func(x *Tensor) *Tensor { return x.MaskedFill(mask, 7) }},
		"remainder":    {func(x *Tensor) *Tensor { return x.RemainderInPlace(2) }, func(x *Tensor) *Tensor { return x.Remainder(2) }},
		"floor divide": {func(x *Tensor) *Tensor { return x.FloorDivInPlace(2) }, func(x *Tensor) *Tensor { return x.FloorDiv(2) }},
		"zero":         {(*Tensor).Zero, ZerosLike},
	} {
		wide := Stack(1, x, x)
		part := wide.Select(1, 1) // every other element
		version := wide.Version()
		if got := f[0](part); got != part || !Equal(part, f[1](x)) || !Equal(wide.Select(1, 0), x) {
			t.Errorf("%s in place: %v, want %v; its neighbors are %v", name, got, f[1](x), wide.Select(1, 0))
		}
		if wide.Version() <= version {
			t.Errorf("%s in place is not counted as a write", name)
		}
	}
	if err := Try(func() { Of(4, 9).SqrtInPlace() }); err == nil || !strings.Contains(err.Error(), "int64") {
		t.Errorf("the root of integers in place: %v", err)
	}
}

func TestCreation(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name  string
		got   *Tensor
		dtype Dtype
		want  []float64
	}{
		{"integers", Of(1, 2), Int64, []float64{1, 2}},
		{"a float among them", Of(1, 2.5), Float32, []float64{1, 2.5}},
		{"bools", Of(true, false), Bool, []float64{1, 0}},
		{"float32 slice", Of([]float32{1}), Float32, []float64{1}},
		{"int32 slice", Of([]int32{-1}), Int32, []float64{-1}},
		{"int16 slice", Of([]int16{-1}), Int16, []float64{-1}},
		{"int8 slice", Of([]int8{-1}), Int8, []float64{-1}},
		{"uint8 slice", Of([]uint8{255}), Uint8, []float64{255}},
		{"int64 slice", Of([]int64{1 << 53}), Int64, []float64{1 << 53}},
		{"bool slice", Of([]bool{true}), Bool, []float64{1}},
		{"nested", Of([][]float64{{1, 2}, {3, 4}}), Float32, []float64{1, 2, 3, 4}},
		{"NaN", Of(nan), Float32, []float64{nan}},
		{"empty", Of([]float64{}), Float32, []float64{}},
		{"as float16", With(Float16).Of(70000, 1), Float16, []float64{math.Inf(1), 1}},
		{"arange", Arange(3), Int64, []float64{0, 1, 2}},
		{"arange of fractions", Arange(0, 1, 0.25), Float32, []float64{0, 0.25, 0.5, 0.75}},
		{"arange to a fraction as int64", With(Int64).Arange(0, 2.7, 1), Int64, []float64{0, 1}},
		{"arange from a fraction as int64", With(Int64).Arange(0.9, 3, 1), Int64, []float64{0, 1, 2}},
		{"arange down from a fraction as int64", With(Int64).Arange(2.7, -0.5, -1), Int64, []float64{2, 1}},
		{"arange to a fraction", Arange(2.7), Float32, []float64{0, 1, 2}},
		{"arange beyond 2⁵³", Arange(1<<60, 1<<60+512, 256), Int64, []float64{1 << 60, 1<<60 + 256}},
		{"arange down", Arange(3, 0, -1), Int64, []float64{3, 2, 1}},
		{"linspace", Linspace(-1, 1, 5), Float32, []float64{-1, -0.5, 0, 0.5, 1}},
		{"linspace of one", Linspace(3, 9, 1), Float32, []float64{3}},
		{"eye", With(Int32).Eye(2), Int32, []float64{1, 0, 0, 1}},
		{"full", Full(7, 2), Float32, []float64{7, 7}},
		{"zeros like", ZerosLike(Of(1, 2)), Int64, []float64{0, 0}},
		{"ones like", OnesLike(With(BFloat16).Of(5, 6)), BFloat16, []float64{1, 1}},
		{"full like", FullLike(Of(true, true), 1), Bool, []float64{1, 1}},
		{"number", Number(2).Sub(Of(1, 2)), Int64, []float64{1, 0}},
		{"float number", Number(2.5).Sub(Of(1, 2)), Float32, []float64{1.5, 0.5}},
		{"one hot", OneHot(Of(2, 0), 3), Int64, []float64{0, 0, 1, 1, 0, 0}},
		{"one hot of as many as there are", OneHot(Of(2, 0)), Int64, []float64{0, 0, 1, 1, 0, 0}},
		{"one hot of uint8", OneHot(With(Uint8).Of(1)), Int64, []float64{0, 1}},
		{"one hot of none", OneHot(Of([]int64{}), 2), Int64, []float64{}},
		{"nonzero", Of([]int{0, 3}, []int{4, 0}).Nonzero(), Int64, []float64{0, 1, 1, 0}},
	} {
		if c.got.Dtype() != c.dtype || !equalFloats(c.got.Floats(), c.want) {
			t.Errorf("%s: %s %v, want %s %v", c.name, c.got.Dtype(), c.got.Floats(), c.dtype, c.want)
		}
	}
	x := With(Float64).Zeros(2, 3).T()
	for name, y := range map[string]*Tensor{"empty": EmptyLike(x), "rand": RandLike(x), "randn": RandnLike(x)} {
		if y.Dtype() != Float64 || !slices.Equal(y.Shape(), []int{3, 2}) || !y.IsContiguous() || SameStorage(x, y) {
			t.Errorf("%s like %s %v: %s %v", name, x.Dtype(), x.Shape(), y.Dtype(), y.Shape())
		}
	}
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"ragged":         {func() { Of([]float64{1, 2, 3}, []float64{4, 5}) }, "row [1] has 2 values, the rows before it have 3"},
		"deep ragged":    {func() { Of([][]int{{1}, {2}}, [][]int{{1}, {2, 3}}) }, "row [1 1] has 2 values"},
		"mixed depth":    {func() { Of([]any{1, []int{2}}) }, "the value at [1] is a slice where its neighbors are numbers"},
		"text":           {func() { Of("a") }, "the value at [0] is a string, not a number"},
		"mixed types":    {func() { Of([]float32{1}, []int32{2}) }, "row [1] is int32, the rows before it float32"},
		"no classes":     {func() { OneHot(Of([]int64{})) }, "the number of classes can't be found"},
		"two classes":    {func() { OneHot(Of(1), 2, 3) }, "2 numbers of classes"},
		"class -1":       {func() { OneHot(Of(-1)) }, "id -1 is out of range for 0 classes"},
		"class 3":        {func() { OneHot(Of(3), 3) }, "id 3 is out of range for 3 classes"},
		"class 0.5":      {func() { OneHot(Of(0.5)) }, "the ids are float32, not integers"},
		"endless":        {func() { Arange(1e300) }, "no memory for 1e+300 elements"},
		"no whole step":  {func() { With(Int64).Arange(0, 5, 0.5) }, "no number of steps"},
		"no step":        {func() { Arange(0, 5, 0) }, "no number of steps"},
		"away":           {func() { Arange(0, 5, -1) }, "no number of steps"},
		"four bounds":    {func() { Arange(1, 2, 3, 4) }, "Arange(start, stop, step)"},
		"negative":       {func() { Zeros(2, -1) }, "size -1 of axis 1 is negative"},
		"beyond memory":  {func() { Empty(1<<40, 1<<40) }, "no memory"},
		"tensor as text": {func() { Number("2") }, "the operand is a string"},
		"tensor":         {func() { Number(x) }, "a tensor already"},
	} {
		if err := Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// TestPartsAreViews: splitting copies nothing.
func TestPartsAreViews(t *testing.T) {
	x := Arange(10).View(5, 2)
	for name, c := range map[string]struct {
		parts []*Tensor
		sizes []int
	}{
		"split":      {x.Split(0, 2), []int{2, 2, 1}},
		"sizes":      {x.SplitSizes(0, 1, 0, 4), []int{1, 0, 4}},
		"chunk":      {x.Chunk(0, 4), []int{2, 2, 1}},
		"split into": {x.SplitInto(0, 4), []int{2, 1, 1, 1}},
		"split at":   {x.SplitAt(0, 1, 4), []int{1, 3, 1}},
	} {
		var sizes []int
		for _, part := range c.parts {
			sizes = append(sizes, part.Size(0))
			if !SameStorage(part, x) {
				t.Errorf("%s copies", name)
			}
		}
		if !slices.Equal(sizes, c.sizes) || !Equal(Cat(0, c.parts...), x) {
			t.Errorf("%s: sizes %v, want %v", name, sizes, c.sizes)
		}
	}
}

func TestGeneratorNumbers(t *testing.T) {
	g := NewGenerator(11)
	for range 1000 {
		if v := g.Float64(); v < 0 || v >= 1 {
			t.Fatalf("Float64 gives %g", v)
		}
		if v := g.Intn(3); v < 0 || v > 2 {
			t.Fatalf("Intn(3) gives %d", v)
		}
	}
	var h Generator
	restoreGenerator(&h, keepGenerator(g))
	if g.Uint64() != h.Uint64() || g.String() != h.String() {
		t.Errorf("a kept generator goes on elsewhere: %v and %v", g, &h)
	}
	if err := Try(func() { g.Intn(0) }); err == nil {
		t.Error("Intn(0): no error")
	}
}

func TestIinfo(t *testing.T) {
	for dtype, want := range map[Dtype]string{
		Int64: "int64: 64 bits, min -9223372036854775808, max 9223372036854775807",
		Int8:  "int8: 8 bits, min -128, max 127",
		Uint8: "uint8: 8 bits, min 0, max 255",
	} {
		if got := Iinfo(dtype).String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := []float64{NVFP4.BitsPerNumber(), MXFP4.BitsPerNumber()}; !equalFloats(got, []float64{4.5, 4.25}) {
		t.Errorf("bits of an FP4 number: %v, want 4.5 and 4.25", got)
	}
	if a, b := Float8E4M3.EncodeSaturating(1e9), Float8E4M3.EncodeSaturating(math.Inf(-1)); a != 0x7e || b != 0xfe {
		t.Errorf("saturating codes %#x and %#x, want 0x7e and 0xfe", a, b)
	}
}
