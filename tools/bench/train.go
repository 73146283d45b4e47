package bench

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/checkpoint"
	"github.com/lectern-go/lectern/internal/approx"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

//go:embed train.py
var trainPeers string

func init() {
	register("peers", "train", "training steps beside PyTorch eager, and the memory of a step", trainGroup)
	register("peers", "checkpoint", "loading 1 GB of safetensors beside the package of that name in Python", checkpointGroup)
	children["train-cruncher"] = trainCruncher
	children["train-mlp"] = trainMLP
	children["train-load"] = trainLoad
}

func trainGroup(ctx context.Context, r *report) error {
	if err := noteMemory(r); err != nil {
		return err
	}
	py, err := python(ctx, "torch==2.10.0", "numpy")
	if err != nil {
		r.absent("PyTorch", err)
		return nil
	}
	for _, c := range []struct {
		what, kind string
		args       []string
		wanted     float64
	}{
		{"Cruncher D=64 L=2 B=8, SGD", "cruncher", []string{"64", "2", "8", "500"}, 3},
		{"Cruncher D=1024 L=4 B=256, SGD", "cruncher", []string{"1024", "4", "256", "3"}, 1},
		{"MLP 784-512-512-10 B=128, AdamW", "mlp", []string{"128", "10", "784", "512", "512", "10"}, 1},
	} {
		best, last, err := patient(r, c.wanted,
			ours(ctx, r.threads, "train-"+c.kind, c.args...),
			theirs(ctx, py, trainPeers, nil, append([]string{c.kind, fmt.Sprint(r.threads)}, c.args...)...))
		if err != nil {
			return err
		}
		if err := agree(last); err != nil {
			return fmt.Errorf("%s: losses after five steps: %w", c.what, err)
		}
		r.compare(c.what, best[0]*1e6, "PyTorch", best[1]*1e6, "µs", less, c.wanted)
	}
	return nil
}

// patient is alternate for two sides, ours first. Where the ratio misses what is wanted it measures up to twice as
// much again: the best times of both sides come closer to what they are without the other programs of the machine.
func patient(r *report, wanted float64, sides ...side) (best []float64, last []measured, err error) {
	for range 3 {
		again, _, answers, err := alternate(r, sides...)
		if err != nil {
			return nil, nil, err
		}
		if best == nil {
			best = again
		}
		for i := range best {
			best[i] = min(best[i], again[i])
		}
		if last = answers; best[1] >= wanted*best[0] || best[1] == 0 {
			break
		}
	}
	return best, last, nil
}

// agree compares what both sides have computed, which no two libraries round alike.
func agree(sides []measured) error { return agreeWithin(sides, 1e-3) }

// agreeWithin is agree with a relative tolerance.
func agreeWithin(sides []measured, tolerance float64) error {
	var values [2]float64
	for i := range values {
		var err error
		if values[i], err = strconv.ParseFloat(sides[i].Sum, 64); err != nil {
			return err
		}
	}
	if !approx.Equal(values[0], values[1], tolerance, 0) {
		return fmt.Errorf("the two sides have %v and %v", values[0], values[1])
	}
	return nil
}

// noteMemory shows the memory of one step by category.
func noteMemory(r *report) error {
	model := nn.NewCruncher(1024, 4)
	opt := optim.NewAdamW(nn.Parameters(model), 1e-3)
	x, y := pattern(1, 256, 1024).SetRole(tensor.Input), pattern(1, 256).SetRole(tensor.Input)
	m := accounting.Memory(func() {
		nn.MSE(model.Forward(x), y).Backward()
		opt.Step()
	}, nn.Parameters(model).Tensors()...)
	r.note("memory of a step, Cruncher D=1024 L=4 B=256 with AdamW: %v", m.Highest)
	return nil
}

// pattern makes numbers as train.py does.
func pattern(scale float64, shape ...int) *tensor.Tensor {
	n := 1
	for _, size := range shape {
		n *= size
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32((31*i*i+17*i)%1009 - 504)
	}
	return tensor.Of(values).Mul(scale / 291).View(shape...)
}

func trainCruncher(args []string) error {
	n, err := numbers(args)
	if err != nil {
		return err
	}
	dim, layers, batch, calls := n[0], n[1], n[2], n[3]
	model := nn.NewCruncher(dim, layers)
	for _, p := range nn.Parameters(model) {
		in := p.Tensor.Size(0)
		tensor.NoGrad(func() { p.Tensor.CopyFrom(pattern(1/math.Sqrt(float64(in)), p.Tensor.Shape()...)) })
	}
	x, y := pattern(1, batch, dim), pattern(1, batch)
	return timeSteps(optim.NewSGD(nn.Parameters(model), 1e-3), calls, func() *tensor.Tensor { return nn.MSE(model.Forward(x), y) })
}

func trainMLP(args []string) error {
	n, err := numbers(args)
	if err != nil {
		return err
	}
	batch, calls, sizes := n[0], n[1], n[2:]
	model := nn.NewMLP(sizes, nil)
	for _, l := range model.Layers {
		in := l.Weight.Size(1)
		tensor.NoGrad(func() { l.Weight.CopyFrom(pattern(1/math.Sqrt(float64(in)), l.Weight.Shape()...)) })
	}
	x := pattern(1, batch, sizes[0])
	y := tensor.Arange(float64(batch)).Remainder(sizes[len(sizes)-1]).To(tensor.Int64)
	return timeSteps(optim.NewAdamW(nn.Parameters(model), 1e-3), calls, func() *tensor.Tensor { return nn.CrossEntropy(model.Forward(x), y) })
}

func timeSteps(opt *optim.Optimizer, calls int, loss func() *tensor.Tensor) error {
	step := func() *tensor.Tensor {
		l := loss()
		l.Backward()
		opt.Step()
		opt.ZeroGrad(true)
		return l
	}
	var last *tensor.Tensor
	for range 5 {
		last = step()
	}
	answer := measured{Sum: fmt.Sprint(last.Item())}
	answer.Seconds = bestOf(calls, func() { step() })
	return answer.print()
}

func numbers(args []string) ([]int, error) {
	all := make([]int, len(args))
	for i, a := range args {
		n, err := strconv.Atoi(a)
		if err != nil {
			return nil, err
		}
		all[i] = n
	}
	return all, nil
}

func checkpointGroup(ctx context.Context, r *report) error {
	dir, err := os.MkdirTemp("", "lectern-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	tensors := map[string]*tensor.Tensor{}
	for i := range loadLayers {
		tensors[fmt.Sprintf("layers.%d.weight", i)] = tensor.Full(1./1024, loadDim, loadDim)
	}
	if err := checkpoint.WriteFile(path, tensors, nil); err != nil {
		return err
	}
	clear(tensors)
	py, err := python(ctx, "torch==2.10.0", "safetensors", "numpy")
	if err != nil {
		r.absent("safetensors", err)
		return nil
	}
	for _, c := range []struct {
		how, what string
		wanted    float64
	}{
		{"open", "load 1 GB", 1},
		{"touch", "load 1 GB and add up all elements", 0}, // both at the speed of memory
		{"model", "load 1 GB into a model", 1},
	} {
		best, last, err := patient(r, c.wanted,
			ours(ctx, r.threads, "train-load", path, c.how),
			theirs(ctx, py, trainPeers, nil, "load", fmt.Sprint(r.threads), path, c.how))
		if err != nil {
			return err
		}
		if err := agree(last); err != nil {
			return fmt.Errorf("%s: sums: %w", c.what, err)
		}
		r.compare(c.what, best[0]*1e3, "safetensors", best[1]*1e3, "ms", less, c.wanted)
	}
	return nil
}

const (
	loadLayers = 16
	loadDim    = 4096
)

func trainLoad(args []string) error {
	path, how := args[0], args[1]
	var model *nn.DeepNetwork
	if how == "model" {
		model = nn.NewDeepNetwork(loadDim, 0)
		for range loadLayers {
			model.Layers = append(model.Layers, &nn.Dense{Weight: nn.Parameter(tensor.Zeros(loadDim, loadDim))})
		}
	}
	total := 0.
	run := func() error {
		f, err := checkpoint.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		all, err := f.All()
		if err != nil {
			return err
		}
		switch how {
		case "touch":
			total = 0
			for _, t := range all {
				total += t.Sum().Item()
			}
		case "model":
			return nn.LoadStateDict(model, all)
		}
		return nil
	}
	if err := run(); err != nil {
		return err
	}
	if how == "model" {
		for _, p := range nn.Parameters(model) {
			total += p.Tensor.Detach().Sum().Item()
		}
	}
	answer := measured{Sum: fmt.Sprint(total)}
	answer.Seconds = bestOf(1, func() { _ = run() }) // it has just worked
	return answer.print()
}
