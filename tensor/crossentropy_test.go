package tensor

import (
	"errors"
	"math"
	"testing"
)

// crossEntropySteps is the cross-entropy of the operations that it stands for.
func crossEntropySteps(x *Tensor, axis int, target *Tensor, ignore int) *Tensor {
	ignored := target.Eq(ignore)
	at := target.MaskedFill(ignored, 0).Unsqueeze(axis)
	return x.LogSoftmax(axis).Gather(axis, at).Squeeze(axis).Neg().MaskedFill(ignored, 0)
}

// TestCrossEntropyIsItsSteps compares it with them, in values and both derivatives, for
// rows that are spread over threads, too.
func TestCrossEntropyIsItsSteps(t *testing.T) {
	g := NewGenerator(3)
	const ignore = 7
	for _, c := range []struct {
		shape []int
		axis  int
		dtype Dtype
		close float64
	}{
		{[]int{5, 9}, 1, Float64, 1e-13}, {[]int{9}, 0, Float64, 1e-13}, {[]int{3, 11, 4}, 1, Float64, 1e-13},
		{[]int{300, 1000}, 1, Float32, 1e-5}, {[]int{2, 1000, 33}, 1, Float32, 1e-5}, {[]int{40, 50}, 1, BFloat16, 0.02},
	} {
		x := With(g, Float64).Normal(0, 3, c.shape...).To(c.dtype)
		rows := x.Select(c.axis, 0).Shape()
		target := With(g).Randint(0, 9, rows...)
		weight := With(g, Float64).Uniform(-1, 1, rows...).To(c.dtype)
		type answer struct{ loss, first, second *Tensor }
		run := func(loss func(x *Tensor, axis int, target *Tensor, ignore int) *Tensor) answer {
			x := x.Clone().RequireGrad()
			y := loss(x, c.axis, target, ignore)
			y.Mul(weight).Sum().Backward(CreateGraph())
			first := x.Grad()
			x.ZeroGrad()
			first.Square().Sum().Backward()
			return answer{y.Detach(), first.Detach(), x.Grad()}
		}
		got, want := run((*Tensor).CrossEntropy), run(crossEntropySteps)
		for what, pair := range map[string][2]*Tensor{"loss": {got.loss, want.loss}, "gradient": {got.first, want.first}, "gradient's gradient": {got.second, want.second}} {
			if pair[0].Dtype() != c.dtype || !AllClose(pair[0], pair[1], c.close, c.close) {
				t.Errorf("%v of %s: the %s differs from that of the steps", c.shape, c.dtype, what)
			}
		}
		fused := x.Clone().RequireGrad() // by the operation, where above the steps of the graph were taken
		fused.CrossEntropy(c.axis, target, ignore).Mul(weight).Sum().Backward()
		if !AllClose(fused.Grad(), want.first, c.close, c.close) {
			t.Errorf("%v of %s: the gradient in one operation differs from that of the steps", c.shape, c.dtype)
		}
	}
}

// TestCrossEntropyPassesOverWhatIsIgnored in both derivatives, whatever stands there.
func TestCrossEntropyPassesOverWhatIsIgnored(t *testing.T) {
	for _, spoilt := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		x := With(Float64).Of([]float64{1, 2}, []float64{spoilt, 1}).RequireGrad()
		loss := x.CrossEntropy(1, Of(0, 9), 9)
		loss.Sum().Backward(CreateGraph())
		first := x.Grad()
		x.ZeroGrad()
		first.Square().Sum().Backward()
		for what, got := range map[string]*Tensor{"loss": loss, "gradient": first, "gradient's gradient": x.Grad()} {
			if got.Detach().IsFinite().All().Item() == 0 || got.Detach().Select(0, 1).Abs().Sum().Item() != 0 {
				t.Errorf("beside %g: the %s is %v", spoilt, what, got)
			}
		}
	}
}

// TestCrossEntropyMakesOneLargeTensor is why it exists: nothing of the size of the logits
// but their gradient.
func TestCrossEntropyMakesOneLargeTensor(t *testing.T) {
	x := With(NewGenerator(1)).Randn(64, 500).RequireGrad()
	target := With(NewGenerator(2)).Randint(0, 500, 64)
	large := func(f func()) (n int) {
		for _, e := range collect(f) {
			if e.Kind == Allocated && e.Size >= x.Bytes()/4 {
				n++
			}
		}
		return n
	}
	var loss *Tensor
	if n := large(func() { loss = x.CrossEntropy(1, target, -100).Mean() }); n != 0 {
		t.Errorf("forward makes %d tensors of about the size of the logits, want none", n)
	}
	if n := large(func() { loss.Backward() }); n != 1 {
		t.Errorf("backward makes %d tensors of about the size of the logits, want 1, the gradient", n)
	}
}

// TestCrossEntropyUnderAutocast: the loss of small logits has the digits of float32, as if
// they had been converted before, and they get a gradient of their own dtype.
func TestCrossEntropyUnderAutocast(t *testing.T) {
	x := With(NewGenerator(1), BFloat16).Randn(6, 40).RequireGrad()
	target := Of(0, 39, 7, 2, 2, 1)
	var loss *Tensor
	Autocast(BFloat16, func() { loss = x.CrossEntropy(1, target, 7) })
	if want := x.To(Float32).CrossEntropy(1, target, 7); loss.Dtype() != Float32 || !AllClose(loss, want, 0, 0) {
		t.Errorf("%v, want %v", loss, want)
	}
	for _, options := range [][]BackwardOption{{Retain()}, {CreateGraph()}} {
		x.ZeroGrad()
		loss.Backward(append(options, WithGrad(OnesLike(loss)))...)
		got := x.Grad()
		wide := x.Detach().To(Float32).RequireGrad()
		wide.CrossEntropy(1, target, 7).Sum().Backward()
		if want := wide.Grad().To(BFloat16); got.Dtype() != BFloat16 || !AllClose(got, want, 0.01, 1e-6) {
			t.Errorf("gradient %v, want %v", got, want)
		}
	}
}

// TestCrossEntropyRefuses what fits no class.
func TestCrossEntropyRefuses(t *testing.T) {
	x := Zeros(2, 3)
	for _, c := range []struct {
		axis   int
		target *Tensor
		kind   error
	}{
		{1, Of(0, 3), ErrIndex}, {1, Of(0, -1), ErrIndex}, {1, Of(0, 1, 2), ErrShape}, {0, Of(0, 1), ErrShape},
		{1, Of(0., 1), ErrDtype}, {2, Of(0, 1), ErrIndex}, {1, nil, ErrValue},
	} {
		if err := Try(func() { x.CrossEntropy(c.axis, c.target, -100) }); !errors.Is(err, c.kind) {
			t.Errorf("along %d with %v: %v, want %v", c.axis, c.target, err, c.kind)
		}
	}
}
