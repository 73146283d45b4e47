package tensor

import (
	"fmt"
	"math"
	"testing"
)

// TestLayerNormAgainstSteps compares the loops over rows with the steps that
// other devices take, forward and backward, in rows shorter and longer than a
// block and beside a mean that is large.
func TestLayerNormAgainstSteps(t *testing.T) {
	for _, dtype := range []Dtype{Float32, Float64, BFloat16} {
		for _, n := range []int{1, 3, 16, 100, 1024, 1025, 3000} {
			t.Run(fmt.Sprintf("%s %d", dtype, n), func(t *testing.T) {
				g := NewGenerator(uint64(n))
				made := func(shape ...int) *Tensor { return With(g).Randn(shape...).To(dtype) }
				x, w, b, up := made(n, 5).T().Add(3), made(n), made(n), made(5, n)
				results := func(norm func(x, w, b *Tensor) *Tensor) []*Tensor {
					in := []*Tensor{x.Detach().RequireGrad(), w.Detach().RequireGrad(), b.Detach().RequireGrad()}
					y := norm(in[0], in[1], in[2])
					y.Mul(up).Sum().Backward()
					return []*Tensor{y.Detach(), in[0].Grad(), in[1].Grad(), in[2].Grad()}
				}
				const eps = 1e-3
				got := results(func(x, w, b *Tensor) *Tensor { return x.LayerNorm([]int{n}, w, b, eps) })
				want := results(func(x, w, b *Tensor) *Tensor {
					y, _ := rowNorm{1, eps}.standardize(x.To(Float64))
					return y.Mul(w.To(Float64)).Add(b.To(Float64))
				})
				near := map[Dtype]float64{Float32: 3e-5, Float64: 1e-12, BFloat16: 0.05}[dtype]
				for i, name := range []string{"result", "gradient of x", "gradient of weight", "gradient of bias"} {
					scale := 1 + want[i].To(Float64).Abs().Max().Item()
					if off := got[i].To(Float64).Sub(want[i].To(Float64)).Abs().Max().Item(); !(off <= near*scale) {
						t.Errorf("%s is off by %.3g, with numbers up to %.3g", name, off, scale)
					}
				}
			})
		}
	}
}

func TestLayerNormOfSpecialRows(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	x := Of([]float64{2, 2, 2}, []float64{1, nan, 3}, []float64{1, inf, 3}, []float64{1, 2, 3})
	y := x.LayerNorm([]int{3}, nil, nil, 0)
	if got := y.At(3, 2); math.Abs(got-1.2247449) > 1e-6 {
		t.Errorf("3 of 1, 2, 3 becomes %v", got)
	}
	for row := range 3 { // 0/0, NaN, Inf-Inf
		if got := y.At(row, 1); !math.IsNaN(got) {
			t.Errorf("row %d: %v, want NaN", row, got)
		}
	}
	if got := With(Float32).Zeros(0, 3).LayerNorm([]int{3}, nil, nil, 1e-5).Len(); got != 0 {
		t.Errorf("%d elements of no rows", got)
	}
}
