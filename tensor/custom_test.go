package tensor

import (
	"errors"
	"strings"
	"testing"
)

// cubed is x³, which keeps only x².
var cubed = Function{
	Name: "cube",
	Forward: func(in []*Tensor) (*Tensor, []*Tensor) {
		square := in[0].Mul(in[0])
		return square.Mul(in[0]), []*Tensor{square}
	},
	Gradient: func(saved []*Tensor, g *Tensor) []*Tensor {
		return []*Tensor{g.Mul(saved[0]).Mul(3)}
	},
}

func TestFunction(t *testing.T) {
	x := Of(1., 2, -3).RequireGrad()
	y := Apply(cubed, x)
	y.Sum().Backward()
	if !Equal(y.Detach(), Of(1., 8, -27)) || !Equal(x.Grad(), Of(3., 12, 27)) {
		t.Errorf("%v with gradient %v", y, x.Grad())
	}
	if err := Try(func() { y.Sum().Backward() }); !errors.Is(err, ErrGrad) {
		t.Errorf("a second Backward: %v", err)
	}
}

func TestFunctionWhatItSavedWasChanged(t *testing.T) {
	x := Of(1., 2).RequireGrad()
	y := Apply(Function{Name: "twice", Forward: func(in []*Tensor) (*Tensor, []*Tensor) { return in[0].Mul(2), in },
		Gradient: func(_ []*Tensor, g *Tensor) []*Tensor { return []*Tensor{g.Mul(2)} }}, x)
	NoGrad(func() { x.Fill(5) })
	err := Try(func() { y.Sum().Backward() })
	if !errors.Is(err, ErrGrad) || !strings.Contains(err.Error(), "changed in place") {
		t.Errorf("%v", err)
	}
}

func TestFunctionOfAnotherShape(t *testing.T) {
	x := Of(1., 2).RequireGrad()
	y := Apply(Function{Name: "odd", Forward: func(in []*Tensor) (*Tensor, []*Tensor) { return in[0].Mul(2), nil },
		Gradient: func(_ []*Tensor, g *Tensor) []*Tensor { return []*Tensor{g.Sum()} }}, x)
	err := Try(func() { y.Sum().Backward() })
	if !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), "odd: [2]: the gradient of input 0 has shape []") {
		t.Errorf("%v", err)
	}
}

// TestFunctionsThatAreIncomplete: a missing part of a Function, or one too many, is named with the Function.
func TestFunctionsThatAreIncomplete(t *testing.T) {
	type gradients = func([]*Tensor, *Tensor) []*Tensor
	product := func(in []*Tensor) (*Tensor, []*Tensor) { return in[0].Mul(in[1]), nil }
	for _, c := range []struct {
		name    string
		forward func([]*Tensor) (*Tensor, []*Tensor)
		grads   gradients
		kind    error
		text    string
	}{
		{"none", product, func([]*Tensor, *Tensor) []*Tensor { return nil }, ErrValue, "half: [2] x [2]: Gradient returned 0 gradients for 2 inputs"},
		{"too few", product, func(_ []*Tensor, g *Tensor) []*Tensor { return []*Tensor{g} }, ErrValue, "Gradient returned 1 gradient for 2 inputs"},
		{"too many", product, func(_ []*Tensor, g *Tensor) []*Tensor { return []*Tensor{g, g, g} }, ErrValue, "Gradient returned 3 gradients for 2 inputs"},
		{"no Gradient", product, nil, ErrGrad, "half: [2] x [2]: the Function has no Gradient"},
		{"no Forward", nil, nil, ErrValue, "the Function has no Forward"},
		{"no result", func([]*Tensor) (*Tensor, []*Tensor) { return nil, nil }, nil, ErrValue, "Forward returned no result"},
		{"nothing saved", func(in []*Tensor) (*Tensor, []*Tensor) { return in[0].Neg(), []*Tensor{nil} }, nil, ErrValue, "value 0 that Forward saves is nil"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, y := Of(1., 2).RequireGrad(), Of(3., 4).RequireGrad()
			wantPanic(t, c.kind, c.text, func() { Apply(Function{Name: "half", Forward: c.forward, Gradient: c.grads}, x, y).Sum().Backward() })
			if x.Grad() != nil || y.Grad() != nil {
				t.Errorf("gradients %v and %v were left", x.Grad(), y.Grad())
			}
		})
	}

	// A nil gradient is 0, and without anything that requires one Gradient is never called.
	x, y := Of(1., 2).RequireGrad(), Of(3., 4).RequireGrad()
	Apply(Function{Name: "half", Forward: product, Gradient: func(_ []*Tensor, g *Tensor) []*Tensor { return []*Tensor{nil, g} }}, x, y).Sum().Backward()
	wantFloats(t, "of the first", x.Grad(), 0, 0)
	wantFloats(t, "of the second", y.Grad(), 1, 1)
	wantFloats(t, "without gradients", Apply(Function{Name: "half", Forward: product}, Of(1., 2), Of(3., 4)), 3, 8)
}
