package tensor_test

import (
	"errors"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

func TestMatmulTIsMatmulOfTheTranspose(t *testing.T) {
	g := tensor.NewGenerator(1)
	for _, shape := range [][]int{{5}, {3, 5}, {2, 3, 5}} {
		b := tensor.With(g).Randn(4, 5)
		up := tensor.With(g).Randn(append(append([]int{}, shape[:len(shape)-1]...), 4)...)
		var results [][]*tensor.Tensor
		x := tensor.With(g).Randn(shape...)
		for _, transposed := range []bool{false, true} {
			x, w := x.Clone().RequireGrad(), b.Clone().RequireGrad()
			y := x.Matmul(w.T())
			if transposed {
				y = x.MatmulT(w)
			}
			y.Backward(tensor.WithGrad(up))
			results = append(results, []*tensor.Tensor{y.Detach(), x.Grad(), w.Grad()})
		}
		for i, want := range results[0] {
			if got := results[1][i]; !tensor.AllClose(got, want, 1e-5, 1e-6) {
				t.Errorf("%v: value %d: got %v, want %v", shape, i, got, want)
			}
		}
	}
	if err := tensor.Try(func() { tensor.Ones(3).MatmulT(tensor.Ones(3)) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a vector on the right: got %v", err)
	}
	if err := tensor.Try(func() { tensor.Ones(2, 3).MatmulT(tensor.Ones(4, 5)) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("inner sizes 3 and 5: got %v", err)
	}
}
