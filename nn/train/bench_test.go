package train_test

import (
	"fmt"
	"testing"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// Training steps: forward, backward, step and zeroing of gradients.
func BenchmarkStep(b *testing.B) {
	g := tensor.NewGenerator(1)
	steps := func(b *testing.B, opt *optim.Optimizer, loss func() *tensor.Tensor) {
		step := func() {
			loss().Backward()
			opt.Step()
			opt.ZeroGrad(true)
		}
		b.Run("collected", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
		b.Run("freed", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) { step() })
			}
		})
	}
	for _, size := range []struct{ dim, layers, batch int }{{64, 2, 8}, {1024, 4, 256}} {
		b.Run(fmt.Sprintf("cruncher D=%d L=%d B=%d", size.dim, size.layers, size.batch), func(b *testing.B) {
			model := nn.NewCruncher(size.dim, size.layers, g)
			x, y := tensor.With(g).Randn(size.batch, size.dim), tensor.With(g).Randn(size.batch)
			steps(b, optim.NewSGD(nn.Parameters(model), 1e-4), func() *tensor.Tensor { return nn.MSE(model.Forward(x), y) })
		})
	}
	b.Run("mlp", func(b *testing.B) {
		model := nn.NewMLP([]int{784, 512, 512, 10}, nil, g)
		x, y := tensor.With(g).Randn(128, 784), tensor.Arange(128).Remainder(10).To(tensor.Int64)
		steps(b, optim.NewAdamW(nn.Parameters(model), 1e-3), func() *tensor.Tensor { return nn.CrossEntropy(model.Forward(x), y) })
	})
	b.Run("deep network in bf16 autocast", func(b *testing.B) {
		model := nn.NewDeepNetwork(512, 4, g)
		x := tensor.With(g).Randn(128, 512)
		opt := optim.NewAdamW(nn.Parameters(model), 1e-3)
		steps(b, opt, func() (loss *tensor.Tensor) {
			tensor.Autocast(tensor.BFloat16, func() { loss = model.Forward(x).To(tensor.Float32).Square().Mean() })
			return loss
		})
	})
}
