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
