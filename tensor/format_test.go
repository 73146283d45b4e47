package tensor

import (
	"fmt"
	"math"
	"testing"
)

// The texts are PyTorch's, but for "torch." in front of a dtype and the form
// of grad_fn.
func TestString(t *testing.T) {
	tests := []struct {
		name string
		t    *Tensor
		want string
	}{
		{"matrix", Of([]float64{1, 2, 3}, []float64{4, 5, 6}), "tensor([[1., 2., 3.],\n        [4., 5., 6.]])"},
		{"integers align", Arange(16).View(4, 4).Slice(0, 2, 4, 1), "tensor([[ 8,  9, 10, 11],\n        [12, 13, 14, 15]])"},
		{"fractions", Of(0.5, -1.25, 100), "tensor([  0.5000,  -1.2500, 100.0000])"},
		{"small values go scientific", Of(1., 2.5, 3e-5), "tensor([1.0000e+00, 2.5000e+00, 3.0000e-05])"},
		{"wide range goes scientific", Of(1., 2, 3e6), "tensor([1.0000e+00, 2.0000e+00, 3.0000e+06])"},
		{"not finite", Of(math.NaN(), math.Inf(1), math.Inf(-1), 1), "tensor([nan, inf, -inf, 1.])"},
		{"zeros", Zeros(2), "tensor([0., 0.])"},
		{"number", Scalar(3), "tensor(3.)"},
		{"empty", Zeros(0), "tensor([])"},
		{"empty matrix", Zeros(2, 0), "tensor([], size=[2, 0])"},
		{"bool", Of(true, false), "tensor([ True, False])"},
		{"float64", With(Float64).Ones(1), "tensor([1.], dtype=float64)"},
		{"leaf", Of(1.).RequireGrad(), "tensor([1.], requires_grad=True)"},
		{"a note that is too long for the line", Full(0.1, 7).RequireGrad(),
			"tensor([0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000],\n       requires_grad=True)"},
		{"a note that just fits", Full(0.1, 6).RequireGrad(), "tensor([0.1000, 0.1000, 0.1000, 0.1000, 0.1000, 0.1000], requires_grad=True)"},
		{"result", Of(1.).RequireGrad().Mul(2), "tensor([2.], grad_fn=<mul>)"},
		{"three axes", Arange(4).View(2, 1, 2), "tensor([[[0, 1]],\n\n        [[2, 3]]])"},
		{"long vector is wrapped", Arange(25).Mul(1000), "tensor([    0,  1000,  2000,  3000,  4000,  5000,  6000,  7000,  8000,  9000,\n" +
			"        10000, 11000, 12000, 13000, 14000, 15000, 16000, 17000, 18000, 19000,\n        20000, 21000, 22000, 23000, 24000])"},
		{"summarized", Arange(1001), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.t.String(); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if got := fmt.Sprintf("%v", tt.t); got != tt.want {
				t.Errorf("%%v differs from String: %s", got)
			}
		})
	}
}

func TestSummaryOfAMatrix(t *testing.T) {
	want := `tensor([[   0,    1,    2,  ...,   47,   48,   49],
        [  50,   51,   52,  ...,   97,   98,   99],
        [ 100,  101,  102,  ...,  147,  148,  149],
        ...,
        [1850, 1851, 1852,  ..., 1897, 1898, 1899],
        [1900, 1901, 1902,  ..., 1947, 1948, 1949],
        [1950, 1951, 1952,  ..., 1997, 1998, 1999]])`
	if got := Arange(2000).View(40, 50).String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPlusV(t *testing.T) {
	got := fmt.Sprintf("%+v", Arange(16).View(4, 4).T().Index(1, Between(1, 3)))
	want := "tensor([5, 9])\nint64, shape [2], strides [4], offset 5, storage of 128 bytes, version 0"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
