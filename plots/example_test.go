package plots_test

import (
	"fmt"
	"math"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/plots"
	"github.com/lectern-go/lectern/tensor"
)

func ExampleLoss() {
	losses := make([]float64, 50)
	for step := range losses {
		losses[step] = 0.1 + 2*math.Exp(-float64(step)/8)
	}
	figure := plots.Loss(plots.Run("lr 0.1", losses))
	fmt.Println(figure)
	// Output:
	// Loss, lr 0.1: loss over step: lr 0.1 goes from 2.1 at 0 to 0.1044 at 49
}

func ExampleSchedules() {
	fmt.Println(plots.Schedules(100, plots.Schedule{Name: "cosine", At: func(step int) float64 {
		return 0.0005 * (1 + math.Cos(math.Pi*float64(step)/99))
	}}))
	// Output:
	// Learning-rate schedules: learning rate over step: cosine goes from 0.001 at 0 to 0 at 99
}

func ExampleRoofline() {
	h100 := accounting.Machine{Name: "H100 bf16", PeakPerSecond: 989.5e12, BytesPerSecond: 3.35e12}
	fmt.Println(plots.Roofline(accounting.Roofline(h100, accounting.ReLUOperation(1024*1024, 2), accounting.MatmulOperation(1024, 2))))
	// Output:
	// Roofline: H100 bf16: 990 TFLOP/s at most, 3.35 TB/s, ridge at 295.4 FLOP/byte; ReLU at 0.25 FLOP/byte could reach 838 GFLOP/s; matmul at 341 FLOP/byte could reach 990 TFLOP/s
}

func ExampleDepth() {
	x := tensor.Linspace(-1, 1, 101)
	fmt.Println(plots.Depth("activation", plots.Stack{Name: "halved by each layer", Layers: []*tensor.Tensor{x, x.Mul(0.5), x.Mul(0.25)}}))
	// Output:
	// Distribution of each layer's activations: halved by each layer, standard deviation by layer: 0.58, 0.29, 0.15
}

func ExamplePaths() {
	loss := func(x, y float64) float64 { return x*x/20 + y*y }
	path := [][2]float64{{-9, 2}}
	for range 30 {
		p := path[len(path)-1]
		path = append(path, [2]float64{p[0] - 0.3*p[0]/10, p[1] - 0.3*2*p[1]})
	}
	fmt.Println(plots.Paths(loss, plots.Plane{MinX: -10, MaxX: 10, MinY: -3, MaxY: 3}, plots.Path{Name: "SGD", Points: path}))
	// Output:
	// Paths of optimizers on a loss of two parameters: SGD goes in 30 steps from (-9, 2), loss 8.05, to (-3.609, 2.31e-12), loss 0.6513
}

func ExampleMFU() {
	fmt.Println(plots.MFU(plots.Utilization{Name: "H100 bf16", Actual: 612e12, Peak: 989.5e12}))
	// Output:
	// Model FLOPs utilization: H100 bf16 0.62: 612 TFLOP/s of 990 TFLOP/s
}

func ExampleRecipes() {
	fmt.Println(plots.Recipes(
		plots.Recipe{Name: "fp32", Loss: 0.41, Seconds: 0.012, Bytes: 41 << 20},
		plots.Recipe{Name: "fp16", Loss: math.NaN(), Seconds: 0.007, Bytes: 24 << 20}))
	// Output:
	// Precision recipes: fp32: loss 0.41, 12 ms a step, 41 MiB; fp16: loss diverged, 7 ms a step, 24 MiB
}
