package assignment

import (
	"testing"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// 1,000 steps from PyTorch's initial weight on the inputs that its generator drew. The
// assignment accepts PyTorch's weights or its own.
func TestAdamW(t *testing.T) {
	in := tensors(t, "testdata/adamw.safetensors")
	layer := &nn.Linear{Weight: nn.Parameter(in["weight0"].Clone())}
	opt := optim.NewAdamW(nn.Parameters(layer), 1e-3, optim.WeightDecay(0.01), optim.Betas(0.9, 0.999), optim.Eps(1e-8))
	for i := range in["x"].Size(0) {
		opt.ZeroGrad(true)
		x := in["x"].Index(i)
		y := tensor.Of(x.At(0)+x.At(1), -x.At(2))
		y.Sub(layer.Forward(x)).Square().Sum().Backward()
		opt.Step()
	}
	allClose(t, layer.Weight.Detach(), in["torch"], 1e-5, 1e-4)
	allClose(t, layer.Weight.Detach(), in["snapshot"], 1e-4, 1e-4)
}

func TestGetLRCosineSchedule(t *testing.T) {
	schedule := optim.Cosine{Peak: 1, Final: 0.1, Warmup: 7, Steps: 21}
	want := []float64{
		0, 0.14285714285714285, 0.2857142857142857, 0.42857142857142855, 0.5714285714285714, 0.7142857142857143, 0.8571428571428571, 1.0,
		0.9887175604818206, 0.9554359905560885, 0.9018241671106134, 0.8305704108364301, 0.7452476826029011, 0.6501344202803414, 0.55,
		0.44986557971965857, 0.3547523173970989, 0.26942958916356996, 0.19817583288938662, 0.14456400944391146, 0.11128243951817937,
		0.1, 0.1, 0.1, 0.1,
	}
	got := make([]float64, len(want))
	for it := range got {
		got[it] = schedule.LR(it)
	}
	allClose(t, tensor.With(tensor.Float64).Of(got), tensor.With(tensor.Float64).Of(want), 1e-7, 0)
}
