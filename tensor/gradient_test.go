package tensor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

// wantFloats compares with a relative tolerance of 1e-6: a few roundings of
// float32.
func wantFloats(t *testing.T, name string, got *Tensor, want ...float64) {
	t.Helper()
	if got == nil {
		t.Fatalf("%s is nil, want %v", name, want)
	}
	values := got.Floats()
	same := len(values) == len(want)
	for i := 0; same && i < len(want); i++ {
		same = math.Abs(values[i]-want[i]) <= 1e-6*max(1, math.Abs(want[i]))
	}
	if !same {
		t.Errorf("%s = %v, want %v", name, values, want)
	}
}

func wantPanic(t *testing.T, kind error, text string, f func()) {
	t.Helper()
	err := Try(f)
	if err == nil {
		t.Fatalf("no panic, want %v: %q", kind, text)
	}
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Errorf("panic %q (kind %v), want kind %v with %q", err, errors.Unwrap(err), kind, text)
	}
}

func TestGradientOfTheLecture(t *testing.T) {
	x := Of(1., 2, 3)
	w := Of(1., 1, 1).RequireGrad()
	pred := x.Matmul(w)
	loss := pred.Sub(5).Pow(2).Mul(0.5)
	wantFloats(t, "loss", loss, 0.5)
	loss.Backward()
	wantFloats(t, "w.grad", w.Grad(), 1, 2, 3)
	for name, v := range map[string]*Tensor{"x": x, "pred": pred, "loss": loss} {
		if v.Grad() != nil {
			t.Errorf("%s has a gradient, want none", name)
		}
	}
}

func TestGradients(t *testing.T) {
	matrix := func() *Tensor { return Of([]float64{1, 2, 3}, []float64{4, 5, 6}).RequireGrad() }
	weights := Of([]float64{1, -1}, []float64{2, 0}, []float64{0.5, 3})
	tests := []struct {
		name string
		f    func(x *Tensor) *Tensor
		want []float64
	}{
		{"x+x accumulates", func(x *Tensor) *Tensor { return x.Add(x).Sum() }, []float64{2, 2, 2, 2, 2, 2}},
		{"broadcast operand", func(x *Tensor) *Tensor { return x.Select(0, 0).Mul(Of([]float64{1, 1, 1}, []float64{2, 3, 4})).Sum() }, []float64{3, 4, 5, 0, 0, 0}},
		{"div", func(x *Tensor) *Tensor { return Scalar(6).Div(x).Sum() }, []float64{-6, -1.5, -6. / 9, -6. / 16, -6. / 25, -6. / 36}},
		{"pow", func(x *Tensor) *Tensor { return x.Pow(3).Sum() }, []float64{3, 12, 27, 48, 75, 108}},
		{"exponent", func(x *Tensor) *Tensor { return Scalar(2).Pow(x).Sum() }, []float64{2 * math.Ln2, 4 * math.Ln2, 8 * math.Ln2, 16 * math.Ln2, 32 * math.Ln2, 64 * math.Ln2}},
		{"sqrt", func(x *Tensor) *Tensor { return x.Sqrt().Sum() }, []float64{0.5, 0.5 / math.Sqrt2, 0.5 / math.Sqrt(3), 0.25, 0.5 / math.Sqrt(5), 0.5 / math.Sqrt(6)}},
		{"mean over rows", func(x *Tensor) *Tensor { return x.Mean(0).Mul(Of(1., 10, 100)).Sum() }, []float64{0.5, 5, 50, 0.5, 5, 50}},
		{"matmul", func(x *Tensor) *Tensor { return x.Matmul(weights).Sum() }, []float64{0, 2, 3.5, 0, 2, 3.5}},
		{"matmul of a transpose", func(x *Tensor) *Tensor { return weights.T().Matmul(x.T()).Sum() }, []float64{0, 2, 3.5, 0, 2, 3.5}},
		{"matrix times vector", func(x *Tensor) *Tensor { return x.Matmul(Of(1., 2, 3)).Sum() }, []float64{1, 2, 3, 1, 2, 3}},
		{"vector times matrix", func(x *Tensor) *Tensor { return Of(1., 2).Matmul(x).Sum() }, []float64{1, 1, 1, 2, 2, 2}},
		{"expand", func(x *Tensor) *Tensor { return x.Unsqueeze(0).Expand(5, 2, 3).Sum() }, []float64{5, 5, 5, 5, 5, 5}},
		{"slice", func(x *Tensor) *Tensor { return x.Slice(1, 0, 3, 2).Sum() }, []float64{1, 0, 1, 1, 0, 1}},
		{"permute and reshape", func(x *Tensor) *Tensor { return x.Permute(1, 0).Reshape(6).Mul(Arange(6)).Sum() }, []float64{0, 2, 4, 1, 3, 5}},
		{"diagonal", func(x *Tensor) *Tensor { return x.Diagonal(1, 0, 1).Sum() }, []float64{0, 1, 0, 0, 0, 1}},
		{"overlapping windows", func(x *Tensor) *Tensor { return x.Unfold(1, 2, 1).Sum() }, []float64{1, 2, 1, 1, 2, 1}},
		{"to float64 and back", func(x *Tensor) *Tensor { return x.To(Float64).Mul(2).To(Float32).Sum() }, []float64{2, 2, 2, 2, 2, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := matrix()
			tt.f(x).Backward()
			if !slices.Equal(x.Grad().Shape(), x.Shape()) || x.Grad().Dtype() != x.Dtype() {
				t.Errorf("gradient has shape %v and dtype %v, want those of x", x.Grad().Shape(), x.Grad().Dtype())
			}
			wantFloats(t, "gradient", x.Grad(), tt.want...)
		})
	}
}

func TestSecondDerivative(t *testing.T) {
	x := Of(2.).RequireGrad()
	x.Pow(3).Sum().Backward(CreateGraph())
	first := x.Grad()
	wantFloats(t, "3x²", first, 12)
	x.ZeroGrad()
	first.Sum().Backward()
	wantFloats(t, "6x", x.Grad(), 12)
}

func TestBackwardNeedsASingleNumberOrAGradient(t *testing.T) {
	x := Of(1., 2).RequireGrad()
	wantPanic(t, ErrGrad, "exactly one number", func() { x.Mul(3).Backward() })
	x.Mul(3).Backward(WithGrad(Of(1., 10)))
	wantFloats(t, "gradient", x.Grad(), 3, 30)
}

func TestSecondBackward(t *testing.T) {
	x := Of(1., 2).RequireGrad()
	loss := x.Mul(x).Sum()
	loss.Backward(Retain())
	loss.Backward()
	wantFloats(t, "gradient", x.Grad(), 4, 8)
	wantPanic(t, ErrGrad, `saved by "mul" were released`, func() { loss.Backward() })
	wantFloats(t, "gradient after the error", x.Grad(), 4, 8)
}

func TestSavedValueChangedInPlace(t *testing.T) {
	x, w := Of(1., 2), Of(3., 4).RequireGrad()
	loss := w.Mul(x).Sum()
	x.AddInPlace(1)
	wantPanic(t, ErrGrad, "its right operand, of shape [2], was changed in place", func() { loss.Backward() })
}

func TestOnlyWhatTheDerivativeReadsIsSaved(t *testing.T) {
	x, w := Of(1., 2), Of(3., 4).RequireGrad()
	y := w.Mul(x)
	w.Detach().AddInPlace(1) // w is not read: x needs no gradient
	y.Sum().Backward()
	wantFloats(t, "gradient", w.Grad(), 1, 2)
}

func TestLeafWritesNeedNoGrad(t *testing.T) {
	w := Of(1., 2).RequireGrad()
	wantPanic(t, ErrWrite, "is a leaf that requires a gradient", func() { w.AddInPlace(1) })
	wantPanic(t, ErrWrite, "view of a leaf of shape [2]", func() { w.SetIndex(1, 0) })
	NoGrad(func() { w.AddInPlace(1) })
	wantFloats(t, "w", w, 2, 3)
}

func TestGradientsAreNotShared(t *testing.T) {
	a, b := Of(1.).RequireGrad(), Of(1.).RequireGrad()
	a.Add(b).Sum().Backward()
	if SameStorage(a.Grad(), b.Grad()) {
		t.Error("two leaves hold the same gradient storage")
	}
	a.Grad().MulInPlace(10)
	wantFloats(t, "b.grad", b.Grad(), 1)
}

func TestRetainGradAndDetach(t *testing.T) {
	x := Of(1., 2).RequireGrad()
	h := x.Mul(3).RetainGrad()
	h.Add(h.Detach()).Sum().Backward()
	wantFloats(t, "h.grad", h.Grad(), 1, 1)
	wantFloats(t, "x.grad", x.Grad(), 3, 3)
	wantPanic(t, ErrGrad, "does not take part", func() { Of(1.).RetainGrad() })
	wantPanic(t, ErrDtype, "only floating-point", func() { Of(1).RequireGrad() })
}

func TestHook(t *testing.T) {
	x := Of(1., 2).RequireGrad()
	x.OnGrad(func(g *Tensor) *Tensor { return g.Mul(10) })
	x.Sum().Backward()
	wantFloats(t, "gradient", x.Grad(), 10, 10)

	seen := 0
	y := Of(1., 2).RequireGrad()
	y.OnGrad(func(g *Tensor) *Tensor { seen++; return nil })
	y.Sum().Backward()
	wantFloats(t, "gradient behind a hook that only looks", y.Grad(), 1, 1)
	if seen != 1 {
		t.Errorf("the hook was called %d times", seen)
	}
	y.OnGrad(func(g *Tensor) *Tensor { return g.Sum() })
	wantPanic(t, ErrShape, "a hook must return a gradient of the same shape", func() { y.Sum().Backward() })
}

func TestNoGradHoldsForItsGoroutineOnly(t *testing.T) {
	x := Of(1.).RequireGrad()
	inside, done := make(chan bool), make(chan bool)
	var wait sync.WaitGroup
	wait.Go(func() {
		NoGrad(func() {
			NoGrad(func() {})
			if x.Mul(2).RequiresGrad() {
				t.Error("an operation inside NoGrad was recorded")
			}
			close(inside)
			<-done
		})
		if !x.Mul(2).RequiresGrad() {
			t.Error("an operation after NoGrad was not recorded")
		}
	})
	<-inside
	if !x.Mul(2).RequiresGrad() {
		t.Error("NoGrad of another goroutine stopped recording here")
	}
	close(done)
	wait.Wait()
}

func TestLongChain(t *testing.T) {
	x := Of(1.).RequireGrad()
	y := x
	for range 100_000 {
		y = y.Add(1)
	}
	y.Sum().Backward()
	wantFloats(t, "gradient", x.Grad(), 1)
}

// TestGrad: x³y has the slopes 3x²y and x³, and 3x² between them. Nothing is left in any tensor.
func TestGrad(t *testing.T) {
	x, y := Of(2., -3).RequireGrad(), Of(5., 7).RequireGrad()
	cube := x.Mul(x).Mul(x)
	loss := cube.Mul(y).Sum()
	g := Grad(loss, y, x, cube, x)
	for i, want := range [][]float64{{8, -27}, {60, 189}, {5, 7}, {60, 189}} {
		wantFloats(t, fmt.Sprint("gradient ", i), g[i].Detach(), want...)
	}
	wantFloats(t, "second derivative", Grad(g[1].Sum(), x)[0].Detach(), 60, -126)
	wantFloats(t, "mixed derivative", Grad(g[1].Sum(), y)[0].Detach(), 12, 27)
	wantFloats(t, "third derivative", Grad(Grad(g[1].Sum(), x)[0].Sum(), x)[0].Detach(), 30, 42)
	if x.Grad() != nil || y.Grad() != nil || cube.Grad() != nil {
		t.Errorf("gradients %v, %v and %v were left", x.Grad(), y.Grad(), cube.Grad())
	}
	loss.Backward() // as if Grad had not been called
	wantFloats(t, "Backward's", x.Grad(), 60, 189)
	wantPanic(t, ErrGrad, "the loss was not computed from input 1", func() { Grad(x.Sum(), x, y) })
	wantPanic(t, ErrGrad, "input 0 takes no part in a gradient", func() { Grad(x.Sum(), Of(1.)) })
	wantPanic(t, ErrGrad, "exactly one number", func() { Grad(x.Mul(2), x) })
	wantPanic(t, ErrGrad, "was not computed from one that requires a gradient", func() { Grad(Of(1.)) })
}
