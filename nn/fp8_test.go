package nn_test

import (
	"math"
	"testing"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

// rounded is what FP8Linear should do to a tensor, said in another way: element by
// element with the format's own rounding.
func rounded(x *tensor.Tensor, format tensor.Dtype, largest float64) *tensor.Tensor {
	scale := math.Exp2(math.Floor(math.Log2(tensor.Finfo(format).Max / largest)))
	values := x.Floats()
	for i, v := range values {
		values[i] = format.Decode(format.EncodeSaturating(v*scale)).Value / scale
	}
	return tensor.With(tensor.Float32).Of(values).View(x.Shape()...)
}

func largest(x *tensor.Tensor) float64 { return x.Detach().Abs().Max().Item() }

func TestFP8LinearIsTrueToTheBit(t *testing.T) {
	g := tensor.NewGenerator(1)
	l := nn.NewFP8Linear(16, 8, nn.NoBias, g)
	x := tensor.With(g).Randn(4, 16).Mul(30).RequireGrad()
	y := l.Forward(x)
	upstream := tensor.With(g).Randn(4, 8).Mul(1e-6)
	y.Backward(tensor.WithGrad(upstream))

	xq := rounded(x.Detach(), tensor.Float8E4M3, largest(x))
	wq := rounded(l.Weight.Detach(), tensor.Float8E4M3, largest(l.Weight))
	gq := rounded(upstream, tensor.Float8E5M2, largest(upstream))
	if want := xq.Matmul(wq.T()); !tensor.Equal(y.Detach(), want) {
		t.Errorf("output %v, want %v", y, want)
	}
	if want := gq.Matmul(wq); !tensor.Equal(x.Grad(), want) {
		t.Errorf("gradient of the input %v, want %v", x.Grad(), want)
	}
	if want := gq.T().Matmul(xq); !tensor.Equal(l.Weight.Grad(), want) {
		t.Errorf("gradient of the weight %v, want %v", l.Weight.Grad(), want)
	}
}

func TestFP8ScaleIsDelayedAndForgets(t *testing.T) {
	l := nn.NewFP8Linear(2, 1, nn.NoBias)
	tensor.NoGrad(func() { l.Weight.Fill(1) })
	forward := func(v float64) float64 { return l.Forward(tensor.Full(v, 1, 2)).Item() }
	if got := forward(1); got != 2 || l.Input.Scale() != 256 {
		t.Errorf("first step: %v with scale %v, want 2 and 256", got, l.Input.Scale())
	}
	// Ten times larger than anything before: the old scale of 256 saturates at 448/256.
	if got := forward(10); got != 3.5 {
		t.Errorf("a sudden growth: got %v, want 3.5", got)
	}
	if got := forward(10); got != 20 || l.Input.Scale() != 32 {
		t.Errorf("a step later: %v with scale %v, want 20 and 32", got, l.Input.Scale())
	}
	for range nn.FP8History {
		forward(1)
	}
	if l.Input.Scale() != 256 {
		t.Errorf("after %d small steps the scale is %v, want 256", nn.FP8History, l.Input.Scale())
	}
	// Gradients have a history of their own.
	back := func(v float64) float64 {
		x := tensor.Full(1, 1, 2).RequireGrad()
		l.Forward(x).Backward(tensor.WithGrad(tensor.Full(v, 1, 1)))
		return x.Grad().At(0, 0)
	}
	if got := back(1); got != 1 || l.Grad.Scale() != 32768 {
		t.Errorf("first gradient: %v with scale %v, want 1 and 32768", got, l.Grad.Scale())
	}
	if got := back(4); got != 57344./32768 || l.Grad.Scale() != 8192 {
		t.Errorf("a sudden growth of gradients: %v and then a scale of %v, want 1.75 and 8192", got, l.Grad.Scale())
	}
	if got := back(4); got != 4 || l.Grad.Steps.Item() != 3 {
		t.Errorf("a step later: %v after %v steps, want 4 after 3", got, l.Grad.Steps.Item())
	}
	nn.Eval(l)
	forward(10)
	if l.Input.Scale() != 256 {
		t.Error("a model in use changed its scale")
	}
	nn.Train(l)
	forward(math.Inf(1))
	if s := l.Input.Scale(); s != 256 {
		t.Errorf("an infinite input left the scale %v", s)
	}
}

func TestFP8StateIsSavedWithTheModel(t *testing.T) {
	a, b := nn.NewFP8Linear(4, 4, nn.WithBias), nn.NewFP8Linear(4, 4, nn.WithBias)
	x := tensor.Randn(3, 4)
	a.Forward(x).Sum().Backward()
	if err := nn.LoadStateDict(b, nn.StateDict(a).Map()); err != nil {
		t.Fatal(err)
	}
	big := x.Mul(100)
	if !tensor.Equal(a.Forward(big).Detach(), b.Forward(big).Detach()) {
		t.Error("the loaded layer computes something else")
	}
	if n := len(nn.Parameters(a)); n != 2 {
		t.Errorf("%d parameters, want weight and bias", n)
	}
}

// What is computed again must be what was computed first, though the scales have moved
// on meanwhile, and it must not count twice in the history.
func TestFP8ComputedAgain(t *testing.T) {
	run := func(recompute bool) (grad *tensor.Tensor, state nn.State) {
		model := nn.Sequential{nn.NewFP8Linear(8, 8, nn.WithBias, tensor.NewGenerator(1)), nn.NewFP8Linear(8, 8, nn.WithBias, tensor.NewGenerator(2))}
		g := tensor.NewGenerator(3)
		for step := range 3 {
			x := tensor.With(g).Randn(4, 8).Mul(math.Pow(5, float64(step))).RequireGrad()
			nn.ZeroGrad(model)
			y := x
			if recompute {
				y = nn.Recompute(model.Forward, x)
			} else {
				y = model.Forward(x)
			}
			y.Square().Sum().Backward()
			grad = x.Grad()
		}
		return grad, nn.StateDict(model)
	}
	want, wantState := run(false)
	got, state := run(true)
	if !tensor.Equal(got, want) {
		t.Errorf("the gradients differ by up to %v", got.Sub(want).Abs().Max().Item())
	}
	for i, p := range state {
		if !tensor.Equal(p.Tensor.Detach(), wantState[i].Tensor.Detach()) {
			t.Errorf("%s is %v, want %v", p.Name, p.Tensor, wantState[i].Tensor)
		}
	}
}
