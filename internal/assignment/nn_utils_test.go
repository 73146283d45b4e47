package assignment

import (
	"math"
	"testing"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

func TestSoftmaxMatchesPyTorch(t *testing.T) {
	x := tensor.Of([]float64{0.4655, 0.8303, 0.9608, 0.9656, 0.6840}, []float64{0.2583, 0.2198, 0.9334, 0.2995, 0.1722}, []float64{0.1573, 0.6860, 0.1327, 0.7284, 0.6811})
	want := tensor.Of(
		[]float64{0.14338332414627075, 0.20650438964366913, 0.23529067635536194, 0.23642279207706451, 0.17839884757995605},
		[]float64{0.16989396512508392, 0.16347736120224, 0.3337107300758362, 0.17703980207443237, 0.15587815642356873},
		[]float64{0.1402314156293869, 0.2379341572523117, 0.13682380318641663, 0.24823948740959167, 0.2367711216211319})
	allClose(t, x.Softmax(-1), want, 1e-7, 1e-6)
	allClose(t, x.Add(100).Softmax(-1), want, 1e-7, 1e-6) // no overflow
}

func TestCrossEntropy(t *testing.T) {
	logits := tensor.Of(
		[]float64{0.1088, 0.1060, 0.6683, 0.5131, 0.0645}, []float64{0.4538, 0.6852, 0.2520, 0.3792, 0.2675},
		[]float64{0.4578, 0.3357, 0.6384, 0.0481, 0.5612}, []float64{0.9639, 0.8864, 0.1585, 0.3038, 0.0350},
		[]float64{0.3356, 0.9013, 0.7052, 0.8294, 0.8334}, []float64{0.6333, 0.4434, 0.1428, 0.5739, 0.3810},
		[]float64{0.9476, 0.5917, 0.7037, 0.2987, 0.6208}, []float64{0.8541, 0.1803, 0.2054, 0.4775, 0.8199})
	targets := tensor.Of(1, 0, 2, 2, 4, 1, 4, 0)
	for scale, want := range map[float64]float64{1: 1.6094727516174316, 1000: 272.9624938964844} { // the second would overflow
		if got := nn.CrossEntropy(logits.Mul(scale), targets).Item(); math.Abs(got-want) > 1e-4+1e-7*want {
			t.Errorf("logits times %g: %v, want %v", scale, got, want)
		}
	}
}

// All gradients are 1, so that their norm is √125, and clipping makes each
// limit/(√125 + 1e-6), as in PyTorch; the frozen parameter has none.
func TestGradientClipping(t *testing.T) {
	const limit = 1e-2
	var params []tensor.NamedTensor
	var all []*tensor.Tensor
	g := tensor.NewGenerator(0)
	for i := range 6 {
		x := nn.Parameter(tensor.With(g).Randn(5, 5))
		if i == 5 {
			x.StopGrad()
		}
		all = append(all, x)
		params = append(params, tensor.Named("p", x))
	}
	tensor.Cat(0, all...).Sum().Backward()
	if norm := optim.ClipGradNorm(params, limit); math.Abs(norm-math.Sqrt(125)) > 1e-5 {
		t.Errorf("the norm is %v, want √125", norm)
	}
	for _, x := range all[:5] {
		allClose(t, x.Grad(), tensor.Full(limit/(math.Sqrt(125)+1e-6), 5, 5), 1e-7, 1e-6)
	}
	if all[5].Grad() != nil {
		t.Error("the frozen parameter has a gradient")
	}
}
