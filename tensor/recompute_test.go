package tensor

import (
	"errors"
	"fmt"
	"testing"
)

// deep is a network of blocks relu(x·w), every k-th of which keeps its input; 0
// keeps all.
func deep(x *Tensor, ws []*Tensor, k int) *Tensor {
	if k == 0 {
		for _, w := range ws {
			x = x.Matmul(w).ReLU()
		}
		return x
	}
	for len(ws) > 0 {
		part := ws[:min(k, len(ws))]
		ws = ws[len(part):]
		x = Recompute(func(in ...*Tensor) *Tensor { return deep(in[0], part, 0) }, x)
	}
	return x
}

func TestRecomputeGivesTheSameGradients(t *testing.T) {
	for _, k := range []int{0, 1, 2, 3, 6} {
		t.Run(fmt.Sprint("every ", k), func(t *testing.T) {
			var ws []*Tensor
			for i := range 6 {
				ws = append(ws, With(NewGenerator(uint64(i))).Randn(5, 5).RequireGrad())
			}
			x := With(NewGenerator(9)).Randn(4, 5).RequireGrad()
			deep(x, ws, k).Square().Sum().Backward()
			gx, g0 := x.Grad(), ws[0].Grad()
			x.ZeroGrad()
			for _, w := range ws {
				w.ZeroGrad()
			}
			deep(x, ws, 0).Square().Sum().Backward()
			if !Equal(gx, x.Grad()) || !Equal(g0, ws[0].Grad()) {
				t.Errorf("gradients differ: %v and %v", gx, x.Grad())
			}
		})
	}
}

func TestRecomputeSavesOnlyInputs(t *testing.T) {
	w := With(NewGenerator(1)).Randn(8, 8).RequireGrad()
	ws := []*Tensor{w, w, w, w}
	x := Ones(4, 8)
	all, few := GraphOf(deep(x, ws, 0)).SavedBytes(), GraphOf(deep(x, ws, 2)).SavedBytes()
	if want := 2 * 4 * 8 * 4; few != want || all <= few+w.Bytes() {
		t.Errorf("the graph keeps %d bytes, with Recompute %d, want %d", all, few, want)
	}
}

func TestRecomputeWithLeavesAlone(t *testing.T) {
	w := Of(2., 3).RequireGrad()
	x := Of(5., 7)
	y := Recompute(func(in ...*Tensor) *Tensor { return in[0].Mul(w).Exp().Log() }, x)
	y.Sum().Backward()
	wantFloats(t, "w.grad", w.Grad(), 5, 7)
	if x.Grad() != nil {
		t.Error("x got a gradient")
	}
}

func TestRecomputeRepeatsRandomNumbers(t *testing.T) {
	Seed(7)
	x := Ones(100).RequireGrad()
	y := Recompute(func(in ...*Tensor) *Tensor { return in[0].Mul(Bernoulli(0.5, 100)) }, x)
	next := DefaultGenerator().String()
	y.Sum().Backward()
	if !Equal(x.Grad(), y.Detach()) {
		t.Error("dropout was different the second time")
	}
	if DefaultGenerator().String() != next {
		t.Error("running again used up random numbers")
	}
}

func TestRecomputeRefusesHiddenResults(t *testing.T) {
	w := Of(2., 3).RequireGrad()
	h := w.Mul(w)
	y := Recompute(func(in ...*Tensor) *Tensor { return in[0].Mul(h) }, w)
	wantPanic(t, ErrGrad, `uses a result of "mul", of shape [2], that was computed before`, func() { y.Sum().Backward() })
	ok := Recompute(func(in ...*Tensor) *Tensor { return in[0].Mul(in[1]) }, w, h)
	ok.Sum().Backward()
	wantFloats(t, "w.grad", w.Grad(), 12, 27)
}

func TestRecomputeOfAnInputItself(t *testing.T) {
	x := Of(1., 2).RequireGrad()
	Recompute(func(in ...*Tensor) *Tensor { return in[0] }, x).Mul(3).Sum().Backward()
	wantFloats(t, "x.grad", x.Grad(), 3, 3)
	NoGrad(func() {
		if Recompute(func(in ...*Tensor) *Tensor { return in[0].Mul(2) }, x).RequiresGrad() {
			t.Error("recorded inside NoGrad")
		}
	})
}

func TestRecomputeHasNoSecondDerivative(t *testing.T) {
	x := Of(1., 2).RequireGrad()
	y := Recompute(func(in ...*Tensor) *Tensor { return in[0].Mul(in[0]) }, x).Sum()
	wantPanic(t, ErrGrad, "gradients of gradients", func() { y.Backward(CreateGraph()) })
}

// Inside an outer segment an inner one is run three times: forward, when the outer one
// is run again, and for its own gradient.
func TestOnceInNestedSegments(t *testing.T) {
	calls := 0
	draw := NewGenerator(1)
	inner := func(in ...*Tensor) *Tensor {
		factor := Once(func() float64 { calls++; return float64(calls) })
		return in[0].Mul(factor).Mul(With(draw).Rand(3))
	}
	outer := func(in ...*Tensor) *Tensor {
		x := in[0].Mul(Once(func() float64 { calls++; return float64(10 * calls) }))
		return Recompute(inner, Recompute(inner, x))
	}
	x := Ones(3).RequireGrad()
	y := Recompute(outer, x)
	next := With(draw).Rand(3)
	y.Sum().Backward(Retain())
	first := x.Grad().Clone()
	x.ZeroGrad()
	y.Sum().Backward()
	again := NewGenerator(1)
	want := Scalar(10 * 2 * 3).Mul(With(again).Rand(3)).Mul(With(again).Rand(3))
	if calls != 3 || !AllClose(y.Detach(), want, 1e-6, 0) || !AllClose(first, want, 1e-6, 0) || !Equal(first, x.Grad()) {
		t.Errorf("%d calls, result %v, gradients %v and %v, want %v", calls, y, first, x.Grad(), want)
	}
	if want := With(again).Rand(3); !Equal(next, want) {
		t.Errorf("afterwards the generator gives %v, want %v", next, want)
	}
}

func TestOnceRefusesAFunctionThatChanges(t *testing.T) {
	runs := 0
	f := func(in ...*Tensor) *Tensor {
		if runs++; runs > 1 {
			return in[0].Mul(Once(func() int { return 2 }))
		}
		return in[0].Mul(Once(func() float64 { return 2 }))
	}
	y := Recompute(f, Ones(2).RequireGrad())
	if err := Try(func() { y.Sum().Backward() }); !errors.Is(err, ErrGrad) {
		t.Errorf("got %v, want ErrGrad", err)
	}
}
