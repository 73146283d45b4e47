package train

import (
	"context"
	"fmt"
	"time"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/internal/tabular"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// A Recipe is a way of training in mixed precision.
type Recipe struct {
	Name    string
	Weights tensor.Dtype // the dtype in which parameters and gradients are stored
	Compute tensor.Dtype // the dtype in which tensor.Autocast computes products
	Master  bool         // a float32 copy of the weights is kept
	Scaled  bool         // the loss is scaled
	FP8     bool         // linear layers are nn.FP8Linear
}

// Recipes are the usual ones, and two that fail.
var Recipes = []Recipe{
	{Name: "float32"},
	{Name: "bf16 autocast", Compute: tensor.BFloat16},
	{Name: "fp16 autocast, no scaling", Compute: tensor.Float16},
	{Name: "fp16 autocast, scaled", Compute: tensor.Float16, Scaled: true},
	{Name: "bf16 weights, no copy", Weights: tensor.BFloat16},
	{Name: "bf16 weights, float32 copy", Weights: tensor.BFloat16, Master: true},
	{Name: "fp8 products", FP8: true},
}

// RecipeResult is the outcome of one recipe.
type RecipeResult struct {
	Recipe
	First, Last    float64          // the error on held-out data, before and after
	Lost           float64          // the fraction of gradients that are 0 in the first step
	Memory         accounting.Bytes // the peak of each category in one step
	SecondsPerStep float64
}

// RecipeTable compares recipes; a notebook shows it as a table.
type RecipeTable []RecipeResult

// Task sizes of CompareRecipes.
const (
	taskInputs  = 16
	taskHidden  = 64
	taskBatch   = 64
	taskLoss    = 1e-5 // the weight of the loss, as if it were one term of a sum over many tokens
	taskRate    = 2e-3
	taskLastLR  = 2e-5
	taskHeldOut = 512
)

// CompareRecipes trains the same small network with each recipe for some steps, on the
// same data from the same initial weights, and measures error, memory and time. The
// task is to imitate another network. Its loss is small, so that gradients in float16
// underflow unless they are scaled, and its learning rate ends small, so that steps in
// bfloat16 are rounded away unless there is a float32 copy.
func CompareRecipes(recipes []Recipe, steps int) (RecipeTable, error) {
	var table RecipeTable
	for _, r := range recipes {
		result, err := r.run(steps)
		if err != nil {
			return nil, fmt.Errorf("recipe %q: %w", r.Name, err)
		}
		table = append(table, result)
	}
	return table, nil
}

func (r Recipe) run(steps int) (RecipeResult, error) {
	result := RecipeResult{Recipe: r}
	teacher := network(nil, tensor.NewGenerator(1))
	for _, p := range nn.Parameters(teacher) { // larger weights, for results of a useful size
		tensor.NoGrad(func() { p.Tensor.MulInPlace(2.5) })
	}
	model := nn.To(network(&r, tensor.NewGenerator(2)), r.Weights)
	draw := tensor.NewGenerator(3)
	batch := func(g *tensor.Generator, n int) (x, y *tensor.Tensor) {
		x = tensor.With(g).Randn(n, taskInputs).SetRole(tensor.Input)
		tensor.Autocast(tensor.Float32, func() { tensor.NoGrad(func() { y = teacher.Forward(x).SetRole(tensor.Input) }) })
		return x, y
	}
	forward := func(x, y *tensor.Tensor) *tensor.Tensor {
		return nn.MSE(model.Forward(x.To(r.Weights)).To(tensor.Float32), y)
	}
	held, want := batch(tensor.NewGenerator(4), taskHeldOut)
	heldOut := func() (loss float64) {
		nn.Eval(model)
		tensor.NoGrad(func() { loss = forward(held, want).Item() })
		nn.Train(model)
		return loss
	}
	var options []optim.Option
	if r.Master {
		options = append(options, optim.MasterWeights())
	}
	opt := optim.NewAdam(nn.Parameters(model), taskRate, append(options, optim.Eps(1e-15))...)
	c := Config{
		Steps: 1, Optimizer: opt, Precision: r.Compute, Quiet: true,
		Schedule: optim.Cosine{Peak: taskRate, Final: taskLastLR, Steps: steps},
		Loss: func(int) (*tensor.Tensor, error) {
			x, y := batch(draw, taskBatch)
			return forward(x, y).Mul(taskLoss), nil
		},
	}
	if r.Scaled {
		c.Scaler = optim.NewGradScaler(optim.ScalerSettings{})
	}
	result.First = heldOut()
	result.Lost = lost(nn.Parameters(model), c)
	var err error
	result.Memory = accounting.Memory(func() { _, err = Run(context.Background(), c) }, nn.StateDict(model).Tensors()...).Highest
	if err != nil {
		return result, err
	}
	c.Steps = steps - 1
	start := time.Now()
	_, err = Run(context.Background(), c)
	result.SecondsPerStep = time.Since(start).Seconds() / float64(max(c.Steps, 1))
	result.Last = heldOut()
	return result, err
}

// network is the network of the task; r is nil for the teacher.
func network(r *Recipe, g *tensor.Generator) nn.Sequential {
	linear := func(in, out int) nn.Module {
		if r != nil && r.FP8 {
			return nn.NewFP8Linear(in, out, nn.WithBias, g)
		}
		return nn.NewLinear(in, out, nn.WithBias, g)
	}
	return nn.Sequential{linear(taskInputs, taskHidden), nn.ReLU{}, linear(taskHidden, taskHidden), nn.ReLU{}, linear(taskHidden, taskInputs)}
}

// lost returns the fraction of gradients that are 0 after one backward pass.
func lost(params []tensor.NamedTensor, c Config) float64 {
	var loss *tensor.Tensor
	tensor.Autocast(c.Precision, func() { loss, _ = c.Loss(0) })
	if c.Scaler != nil {
		loss = c.Scaler.Scale(loss)
	}
	loss.Backward()
	zeros, all := 0., 0
	for _, p := range params {
		zeros += p.Tensor.Grad().Eq(0).Sum().Item()
		all += p.Tensor.Len()
		p.Tensor.ZeroGrad()
	}
	return zeros / float64(all)
}

func (t RecipeTable) table() tabular.Table {
	size := func(bytes int) string { return fmt.Sprintf("%.0f KiB", float64(bytes)/1024) }
	c := tabular.Table{Header: []string{"recipe", "error before", "after", "gradients of 0", "weights", "gradients", "optimizer", "activations", "ms/step"}}
	for _, r := range t {
		c.Add(r.Name, fmt.Sprintf("%.3f", r.First), fmt.Sprintf("%.3f", r.Last), fmt.Sprintf("%.1f%%", 100*r.Lost),
			size(r.Memory[accounting.Parameters]), size(r.Memory[accounting.Gradients]), size(r.Memory[accounting.OptimizerState]), size(r.Memory[accounting.Activations]),
			fmt.Sprintf("%.2f", 1e3*r.SecondsPerStep))
	}
	return c
}

// String returns the table as text in columns.
func (t RecipeTable) String() string { return t.table().String() }

// HTML returns the table for a notebook.
func (t RecipeTable) HTML() string { return t.table().HTML() }
