package bench

import (
	"context"
	_ "embed"
	"fmt"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

//go:embed tensor.py
var tensorPeers string

func init() {
	register("peers", "tensor", "what a call costs beside PyTorch: operations on 8×8 matrices", tensorGroup)
	children["tensor-calls"] = tensorCall
}

// smallCalls are operations so small that the call itself is what they cost.
// Python has the same names.
var smallCalls = map[string]func(x, y *tensor.Tensor) *tensor.Tensor{
	"add":         func(x, y *tensor.Tensor) *tensor.Tensor { return x.Add(y) },
	"mul by 2":    func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Mul(2) },
	"transpose":   func(x, _ *tensor.Tensor) *tensor.Tensor { return x.T() },
	"matmul":      func(x, y *tensor.Tensor) *tensor.Tensor { return x.Matmul(y) },
	"sum":         func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Sum() },
	"softmax":     func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Softmax(1) },
	"first row":   func(x, _ *tensor.Tensor) *tensor.Tensor { return x.Index(0) },
	"to bfloat16": func(x, _ *tensor.Tensor) *tensor.Tensor { return x.To(tensor.BFloat16) },
}

// smallOrder is the order in which the calls are shown.
var smallOrder = []string{"add", "mul by 2", "transpose", "first row", "sum", "matmul", "softmax", "to bfloat16"}

func tensorGroup(ctx context.Context, r *report) error {
	py, err := python(ctx, "torch==2.10.0", "numpy")
	if err != nil {
		r.absent("PyTorch", err)
		return nil
	}
	for _, call := range smallOrder {
		best, _, last, err := alternate(r, ours(ctx, 1, "tensor-calls", call), theirs(ctx, py, tensorPeers, nil, call))
		if err != nil {
			return err
		}
		if last[0].Sum != last[1].Sum {
			return fmt.Errorf("%s: the two sides give different results, %s and %s", call, last[0].Sum, last[1].Sum)
		}
		wanted := 0.
		if call == "add" {
			wanted = 2.5 // at most 0.4 of PyTorch's time
		}
		r.compare(call+" of 8×8", best[0]*1e9, "PyTorch", best[1]*1e9, "ns", less, wanted)
	}
	x, y := tensor.Ones(8, 8), tensor.Ones(8, 8)
	r.note("add of 8×8 makes %g allocations", testing.AllocsPerRun(1000, func() { x.Add(y) }))
	return nil
}

func tensorCall(args []string) error {
	f, ok := smallCalls[args[0]]
	if !ok {
		return fmt.Errorf("no call %q", args[0])
	}
	x := tensor.Arange(64).View(8, 8).Remainder(5).To(tensor.Float32)
	y := tensor.Arange(64).View(8, 8).Remainder(3).To(tensor.Float32)
	z := f(x, y)
	answer := measured{Sum: fmt.Sprintf("%s %.3f", pythonList(z.Shape()), z.To(tensor.Float64).Sum().Item())}
	answer.Seconds = bestOf(20000, func() { f(x, y) })
	return answer.print()
}
