package nn_test

import (
	"fmt"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// The lecture's account of a training step, for D=4, L=2, B=2: 36 parameters, 16
// activations, 36 gradients and 36 sums of AdaGrad, in float32. Measured, there are
// 2 activations more: the differences that the loss squares, one for each row.
func ExampleNewCruncher_memory() {
	g := tensor.NewGenerator(0)
	model := nn.NewCruncher(4, 2, g)
	opt := optim.NewLectureAdaGrad(nn.Parameters(model), 0.01)
	x, y := tensor.With(g).Randn(2, 4).SetRole(tensor.Input), tensor.Of(4., 5).SetRole(tensor.Input)
	r := accounting.Memory(func() {
		nn.MSE(model.Forward(x), y).Backward()
		opt.Step()
	}, nn.Parameters(model).Tensors()...)
	fmt.Println("parameters     ", r.Highest[accounting.Parameters])
	fmt.Println("gradients      ", r.Highest[accounting.Gradients])
	fmt.Println("optimizer state", r.Highest[accounting.OptimizerState])
	fmt.Println("activations    ", r.Highest[accounting.Activations])
	// Output:
	// parameters      144
	// gradients       144
	// optimizer state 144
	// activations     72
}

// What is kept for backward of a deep network: everything, a part of the batch at a
// time, and segments of blocks that are computed again.
func ExampleNewDeepNetwork() {
	const B, D, L = 16, 32, 9
	activations := func(parts, segment int) int {
		g := tensor.NewGenerator(0)
		model := nn.NewDeepNetwork(D, L, g, tensor.BFloat16)
		model.Segment = segment
		x := tensor.With(g, tensor.BFloat16).Randn(B, D).SetRole(tensor.Input)
		r := accounting.Memory(func() {
			for _, part := range x.Chunk(0, parts) {
				model.Forward(part).Sum().Div(float64(parts)).Backward()
			}
		}, nn.Parameters(model).Tensors()...)
		return r.Highest[accounting.Activations]
	}
	fmt.Println("2·B·D·L          ", 2*B*D*L)
	fmt.Println("all at once      ", activations(1, 0))
	fmt.Println("a quarter at once", activations(4, 0))
	fmt.Println("segments of 3    ", activations(1, 3)) // the inputs of two, and one in full
	// Output:
	// 2·B·D·L           9216
	// all at once       9216
	// a quarter at once 2304
	// segments of 3     5120
}
