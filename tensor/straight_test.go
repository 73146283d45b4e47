package tensor_test

import (
	"errors"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

func TestStraightThroughTakesTheValueAndTheGradient(t *testing.T) {
	x := tensor.Of(1.4, 2.6).RequireGrad()
	y := tensor.StraightThrough(x, x.Detach().Round())
	y.Mul(3).Sum().Backward()
	if !tensor.Equal(y.Detach(), tensor.Of(1., 3)) || !tensor.Equal(x.Grad(), tensor.Of(3., 3)) {
		t.Errorf("value %v, gradient %v", y, x.Grad())
	}
	if err := tensor.Try(func() { tensor.StraightThrough(x, tensor.Of(1.)) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("other shape: got %v", err)
	}
}
