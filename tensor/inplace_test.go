package tensor

import (
	"testing"
)

// Each program writes in place to what a gradient passes through; the expected
// gradients were worked out by hand and agree with PyTorch's.
func TestInPlaceGradients(t *testing.T) {
	tests := []struct {
		name string
		f    func(x, b *Tensor) *Tensor
		x, b []float64 // nil: no gradient
	}{
		{"product", func(x, b *Tensor) *Tensor { return x.Mul(1).MulInPlace(b) }, []float64{5, 6, 7, 8}, []float64{1, 2, 3, 4}},
		{"old value is needed for b only", func(x, b *Tensor) *Tensor { return x.Mul(2).MulInPlace(b).MulInPlace(10) }, []float64{100, 120, 140, 160}, []float64{20, 40, 60, 80}},
		{"tracked value into an untracked tensor", func(x, b *Tensor) *Tensor { return Zeros(2, 2).AddInPlace(x).AddInPlace(b) }, []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}},
		{"square", func(x, b *Tensor) *Tensor { return x.Mul(1).PowInPlace(2) }, []float64{2, 4, 6, 8}, nil},
		{"quotient", func(x, b *Tensor) *Tensor { return x.Mul(b).DivInPlace(b) }, []float64{1, 1, 1, 1}, []float64{0, 0, 0, 0}},
		{"broadcast operand", func(x, b *Tensor) *Tensor { return x.Mul(1).SubInPlace(b.Select(0, 0)) }, []float64{1, 1, 1, 1}, []float64{-2, -2, 0, 0}},
		{"fill", func(x, b *Tensor) *Tensor { return x.Mul(x).Fill(3) }, []float64{0, 0, 0, 0}, nil},
		{"copy", func(x, b *Tensor) *Tensor { return x.Mul(x).CopyFrom(b.Mul(3)) }, []float64{0, 0, 0, 0}, []float64{3, 3, 3, 3}},
		{"copy with broadcast", func(x, b *Tensor) *Tensor { return x.Mul(x).CopyFrom(b.Select(0, 1)) }, []float64{0, 0, 0, 0}, []float64{0, 0, 2, 2}},
		{"row of a result", func(x, b *Tensor) *Tensor {
			y := x.Mul(x)
			y.Select(0, 0).MulInPlace(5)
			return y
		}, []float64{10, 20, 6, 8}, nil},
		{"element", func(x, b *Tensor) *Tensor {
			y := x.Mul(x)
			y.SetAt(7, 1, 0)
			return y
		}, []float64{2, 4, 0, 8}, nil},
		{"part gets a tracked value", func(x, b *Tensor) *Tensor {
			y := x.Mul(x)
			y.SetIndex(b.Select(0, 0), All, 1)
			return y
		}, []float64{2, 0, 6, 0}, []float64{1, 1, 0, 0}},
		{"picked positions", func(x, b *Tensor) *Tensor {
			y := x.Mul(x)
			y.SetIndex(b.Select(0, 1).Mul(3), Of(1, 0), Of(0, 1))
			return y
		}, []float64{2, 0, 0, 8}, []float64{0, 0, 3, 3}},
		{"position picked twice", func(x, b *Tensor) *Tensor {
			y := x.Mul(x)
			y.SetIndex(b, Of(1, 1))
			return y
		}, []float64{2, 4, 0, 0}, []float64{0, 0, 1, 1}},
		{"all by a mask without axes", func(x, b *Tensor) *Tensor {
			y := x.Mul(x)
			y.SetIndex(b, Of(true).Any())
			return y.Index(Of(true).Any())
		}, []float64{0, 0, 0, 0}, []float64{1, 1, 1, 1}},
		{"nothing by a mask without axes", func(x, b *Tensor) *Tensor {
			y := x.Mul(x)
			y.SetIndex(b, Of(false).Any())
			return y
		}, []float64{2, 4, 6, 8}, nil},
		{"uniform numbers", func(x, b *Tensor) *Tensor { return x.Mul(x).UniformInPlace(0, 1, nil) }, []float64{0, 0, 0, 0}, nil},
		{"normal numbers in a row", func(x, b *Tensor) *Tensor {
			y := x.Mul(x)
			y.Select(0, 0).NormalInPlace(0, 1, nil)
			return y
		}, []float64{0, 0, 6, 8}, nil},
		{"view taken earlier sees random numbers", func(x, b *Tensor) *Tensor {
			y := x.Mul(x)
			early := y.T()
			y.TruncNormalInPlace(0, 1, -1, 1, nil)
			return early
		}, []float64{0, 0, 0, 0}, nil},
		{"tracked value through a view of an untracked tensor", func(x, b *Tensor) *Tensor {
			y := Ones(2, 2)
			y.T().Select(0, 0).MulInPlace(x.Select(0, 1))
			return y.Mul(b)
		}, []float64{0, 0, 5, 7}, []float64{3, 1, 4, 1}},
		{"view taken earlier sees it", func(x, b *Tensor) *Tensor {
			y := x.Mul(1)
			early := y.T()
			y.MulInPlace(b)
			return early.Select(1, 0) // (y00, y01) of the product
		}, []float64{5, 6, 0, 0}, []float64{1, 2, 0, 0}},
		{"sibling view sees it", func(x, b *Tensor) *Tensor {
			y := x.Mul(1)
			row, column := y.Select(0, 1), y.Select(1, 0)
			row.MulInPlace(10)
			return column
		}, []float64{1, 0, 10, 0}, nil},
		{"expanded view sees it", func(x, b *Tensor) *Tensor {
			y := x.Mul(1)
			wide := y.Unsqueeze(0).Expand(3, 2, 2)
			y.MulInPlace(2)
			return wide
		}, []float64{6, 6, 6, 6}, nil},
		{"view of a view", func(x, b *Tensor) *Tensor {
			y := x.Mul(1)
			flat := y.View(4)
			flat.Slice(0, 1, 3, 1).MulInPlace(b.View(4).Slice(0, 0, 2, 1))
			return flat
		}, []float64{1, 5, 6, 1}, []float64{2, 3, 0, 0}},
		{"twice through views", func(x, b *Tensor) *Tensor {
			y := x.Mul(1)
			y.Select(0, 0).MulInPlace(2)
			y.Select(1, 0).MulInPlace(3)
			return y
		}, []float64{6, 2, 3, 1}, nil},
		{"base that is not contiguous", func(x, b *Tensor) *Tensor {
			y := Zeros(4, 4).T().Slice(0, 0, 4, 2).Slice(1, 0, 2, 1).Detach()
			y.CopyFrom(x)
			y.Select(1, 1).MulInPlace(b.Select(1, 0))
			return y
		}, []float64{1, 5, 1, 7}, []float64{2, 0, 4, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := Of([]float64{1, 2}, []float64{3, 4}).RequireGrad()
			b := Of([]float64{5, 6}, []float64{7, 8}).RequireGrad()
			y := tt.f(x, b)
			if !y.RequiresGrad() || y.IsLeaf() {
				t.Error("the result takes no part in a gradient")
			}
			y.Sum().Backward()
			for name, want := range map[string]struct {
				of   *Tensor
				grad []float64
			}{"x.grad": {x, tt.x}, "b.grad": {b, tt.b}} {
				if want.grad != nil {
					wantFloats(t, name, want.of.Grad(), want.grad...)
				} else if want.of.Grad() != nil {
					t.Errorf("%s is %v, want none", name, want.of.Grad())
				}
			}
		})
	}
}

func TestInPlaceSecondDerivative(t *testing.T) {
	x := Of(1., 2, 3).RequireGrad()
	y := x.Mul(x)
	y.Slice(0, 0, 2, 1).MulInPlace(x.Slice(0, 0, 2, 1)) // x³, x³, x²
	y.Sum().Backward(CreateGraph())
	first := x.Grad()
	wantFloats(t, "first", first, 3, 12, 6)
	x.ZeroGrad()
	first.Sum().Backward()
	wantFloats(t, "second", x.Grad(), 6, 12, 2)
}

func TestInPlaceRefusals(t *testing.T) {
	x := Of(1., 2).RequireGrad()
	y := x.Mul(1)
	var quiet *Tensor
	NoGrad(func() { quiet = y.Slice(0, 0, 1, 1) })
	wantPanic(t, ErrWrite, "leaf", func() { x.Fill(0) })
	wantPanic(t, ErrWrite, "leaf", func() { x.SetAt(0, 0) })
	wantPanic(t, ErrWrite, "view of a leaf", func() { x.View(2, 1).MulInPlace(2) })
	wantPanic(t, ErrWrite, "inside NoGrad", func() { quiet.AddInPlace(1) })
	wantPanic(t, ErrWrite, "share one element", func() { y.Unsqueeze(0).Expand(3, 2).AddInPlace(1) })
	wantFloats(t, "x", x, 1, 2)
	wantFloats(t, "y", y, 1, 2)

	s := y.Mul(y)
	y.MulInPlace(y)
	wantPanic(t, ErrGrad, "mul of shape [2]: its left operand, of shape [2], was changed in place", func() { s.Sum().Backward() })
}

func TestInPlaceInsideNoGradChangesNoHistory(t *testing.T) {
	x := Of(1., 2).RequireGrad()
	y := x.Mul(3)
	NoGrad(func() { y.AddInPlace(100) })
	y.Sum().Backward()
	wantFloats(t, "x.grad", x.Grad(), 3, 3)
	wantFloats(t, "y", y, 103, 106)
}

func TestRetainedGradientFollowsInPlaceWrites(t *testing.T) {
	x := Of(1., 2).RequireGrad()
	y := x.Mul(3).RetainGrad()
	y.MulInPlace(10)
	y.Mul(2).Sum().Backward()
	wantFloats(t, "y.grad", y.Grad(), 2, 2)

	z := x.Mul(3)
	row := z.Slice(0, 0, 1, 1).RetainGrad()
	row.MulInPlace(10)
	row.Mul(2).Sum().Backward()
	wantFloats(t, "row.grad", row.Grad(), 2)

	v := x.Mul(3)
	early := v.Slice(0, 1, 2, 1).RetainGrad()
	v.MulInPlace(2)
	early.Sum().Backward()
	wantFloats(t, "early.grad", early.Grad(), 1)
	v.MulInPlace(2)
	wantFloats(t, "early.grad after another write", early.Grad(), 1)
}

func TestLeafThatIsAViewIsNoView(t *testing.T) {
	data := Zeros(2, 2)
	row := data.Select(0, 0).RequireGrad()
	data.AddInPlace(Of(1., 2).RequireGrad())
	if !row.IsLeaf() {
		t.Error("a write to its base made a leaf a result")
	}
	row.Sum().Backward()
	wantFloats(t, "row.grad", row.Grad(), 1, 1)
}

func TestFillOfAnExpandedTensor(t *testing.T) {
	x := Of(1., 2, 3).RequireGrad()
	y := x.Mul(1)
	wide := y.Expand(2, 3)
	wide.Slice(1, 0, 2, 1).Fill(7)
	wantFloats(t, "wide", wide, 7, 7, 3, 7, 7, 3)
	y.Add(wide).Sum().Backward()
	wantFloats(t, "x.grad", x.Grad(), 0, 0, 4) // two rows of y, two of wide
}

func TestUsesOfAViewShareItsGradient(t *testing.T) {
	y := Of(1., 2, 3).RequireGrad().Mul(1)
	row := y.Slice(0, 0, 2, 1)
	y.MulInPlace(2)
	used := row.Mul(5)
	row.RetainGrad()
	used.Sum().Backward()
	wantFloats(t, "row.grad", row.Grad(), 5, 5)
}

func TestStopGrad(t *testing.T) {
	x := Of(1., 2).RequireGrad()
	y := x.Mul(2)
	wantPanic(t, ErrGrad, `result of "mul"`, func() { y.StopGrad() })
	if x.StopGrad().RequiresGrad() {
		t.Error("StopGrad left the gradient")
	}
}
