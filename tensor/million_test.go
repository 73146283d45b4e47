package tensor

import (
	"math"
	"testing"

	"github.com/lectern-go/lectern/internal/race"
)

// TestAMillionElements: a sum or product over a million elements is as exact as a single rounding nearly
// allows, in every reduction and scan, along an axis in memory or across it, and in its gradient. One by one in float32
// they would be wrong in the second digit.
func TestAMillionElements(t *testing.T) {
	if race.Enabled {
		t.Skip("large, and the race detector sees the same with less")
	}
	const n = 1 << 20
	far := func(got, want *Tensor) float64 { // relative to the largest element
		return got.To(Float64).Sub(want).Abs().Max().Item() / max(want.Abs().Max().Item(), math.SmallestNonzeroFloat64)
	}
	type scan func(x *Tensor, axis int) *Tensor
	over := func(f func(x *Tensor, axes ...int) *Tensor) scan {
		return func(x *Tensor, axis int) *Tensor { return f(x, axis) }
	}
	for _, row := range []struct {
		name      string
		low, high float64
		f         scan
	}{
		{"sum", 0, 1, over((*Tensor).Sum)}, {"mean", 0, 1, over((*Tensor).Mean)}, {"var", 0, 1, over((*Tensor).Var)}, {"std", 0, 1, over((*Tensor).Std)},
		{"norm", 0, 1, over((*Tensor).Norm)}, {"logsumexp", -1, 1, over((*Tensor).LogSumExp)}, {"prod", 1 - 1e-6, 1 + 2e-6, over((*Tensor).Prod)},
		{"cumsum", 0, 1, (*Tensor).Cumsum}, {"cumprod", 1 - 1e-6, 1 + 2e-6, (*Tensor).Cumprod},
		{"softmax", -1, 1, (*Tensor).Softmax}, {"log softmax", -1, 1, (*Tensor).LogSoftmax},
		{"repeated", 0, 1, func(x *Tensor, axis int) *Tensor { return x.Select(axis, 0).Unsqueeze(axis).Expand(x.Shape()...) }},
		{"dot", 0, 1, func(x *Tensor, axis int) *Tensor { return x.Movedim(axis, -1).Matmul(x.Movedim(axis, 0)) }},
		{"layer norm", 0, 1, func(x *Tensor, axis int) *Tensor { return x.Movedim(axis, -1).LayerNorm([]int{n}, nil, nil, 1e-5) }},
		{"rms norm", 0, 1, func(x *Tensor, axis int) *Tensor { return x.Movedim(axis, -1).RMSNorm(nil, 1e-5) }},
		{"weights of a layer norm", 0, 1, func(x *Tensor, axis int) *Tensor {
			rows := With(Float32, NewGenerator(5)).Uniform(0, 1, n, 2).Add(Of(0, 3)).To(x.Dtype())
			w := x.Movedim(axis, 0).Select(0, 0)
			return rows.LayerNorm(w.Shape(), w, w, 1e-5)
		}},
		{"cross entropy", -1, 1, func(x *Tensor, axis int) *Tensor {
			return x.Movedim(axis, 0).CrossEntropy(1, With(Int64).Zeros(n), -1).Mean()
		}},
		{"attention", -1, 1, func(x *Tensor, axis int) *Tensor {
			keys := x.Movedim(axis, 0)
			return Attention(keys.Narrow(0, 0, 1), keys, keys, AttentionSettings{})
		}},
	} {
		for axis, shape := range [][]int{{n, 2}, {2, n}} {
			x := With(NewGenerator(1)).Uniform(row.low, row.high, shape...)
			run := func(x *Tensor) (out, grad *Tensor) {
				x.RequireGrad()
				out = row.f(x, axis)
				out.Mul(With(Float32, NewGenerator(2)).Uniform(0, 1, out.Shape()...).To(out.Dtype())).Sum().Backward()
				return out.Detach(), x.Grad()
			}
			out, grad := run(x)
			want, wantGrad := run(x.Detach().To(Float64))
			if off := far(out, want); !(off <= 2e-6) {
				t.Errorf("%s along axis %d: off by %.2g of the largest element", row.name, axis, off)
			}
			if off := far(grad, wantGrad); !(off <= 2e-6) {
				t.Errorf("gradient of %s along axis %d: off by %.2g of the largest element", row.name, axis, off)
			}
		}
	}
}
