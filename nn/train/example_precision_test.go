package train_test

import (
	"context"
	"fmt"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/nn/train"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// Weights of 1 that should be 0.5, at a learning rate of 1e-3: below 1 bfloat16 counts in
// steps of 2^-8, and a change of less than half of that is rounded away. So nothing is
// ever learned, unless the optimizer adds the steps up in a float32 copy.
func ExampleRun_bfloat16WeightsStopLearning() {
	run := func(options ...optim.Option) (first, last float64) {
		w := nn.Parameter(tensor.With(tensor.BFloat16).Ones(16))
		x := tensor.With(tensor.NewGenerator(1), tensor.BFloat16).Randn(256, 16)
		y := x.Matmul(tensor.With(tensor.BFloat16).Full(0.5, 16)).To(tensor.Float32)
		points, err := train.Run(context.Background(), train.Config{
			Steps:     500,
			Optimizer: optim.NewSGD([]tensor.NamedTensor{tensor.Named("w", w)}, 1e-3, options...),
			Loss:      func(int) (*tensor.Tensor, error) { return nn.MSE(x.Matmul(w).To(tensor.Float32), y), nil },
			Quiet:     true,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		return points[0].Loss, points[len(points)-1].Loss
	}
	for _, name := range []string{"without a copy", "with one"} {
		var options []optim.Option
		if name == "with one" {
			options = append(options, optim.MasterWeights())
		}
		first, last := run(options...)
		fmt.Printf("%s %.0f %% of the loss is left\n", name, 100*last/first)
	}
	// Output:
	// without a copy 100 % of the loss is left
	// with one 15 % of the loss is left
}

// A loss that is one term among many has small gradients. Those below 6e-8 are 0 in
// float16; a scaled loss saves them.
func ExampleRun_float16LosesSmallGradients() {
	zeros := func(scaler *optim.GradScaler) float64 {
		model := nn.NewMLP([]int{16, 64, 1}, nil, tensor.NewGenerator(1))
		opt := optim.NewSGD(nn.Parameters(model), 0) // gradients only
		x, y := tensor.With(tensor.NewGenerator(2)).Randn(64, 16), tensor.With(tensor.NewGenerator(3)).Randn(64, 1)
		var loss *tensor.Tensor
		tensor.Autocast(tensor.Float16, func() { loss = nn.MSE(model.Forward(x).To(tensor.Float32), y).Mul(1e-6) })
		if scaler != nil {
			loss = scaler.Scale(loss)
		}
		loss.Backward()
		if scaler != nil {
			scaler.Unscale(opt)
		}
		return model.Layers[0].Weight.Grad().Eq(0).To(tensor.Float32).Mean().Item()
	}
	fmt.Printf("without scaling %.0f %% of the gradients are 0\n", 100*zeros(nil))
	fmt.Printf("with scaling %.0f %%\n", 100*zeros(optim.NewGradScaler(optim.ScalerSettings{})))
	// Output:
	// without scaling 68 % of the gradients are 0
	// with scaling 0 %
}
