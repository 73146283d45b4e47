package accounting_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/tensor"
)

// The lecture's own sizes for a GPU, by formula: nothing is computed.
func ExampleTwoLayerFLOPs() {
	const B, D, K = 16384, 32768, 8192
	forward, backward, x := accounting.TwoLayerFLOPs(B, D, K)
	fmt.Printf("forward  2BDD + 2BDK = %.4g\n", forward)
	fmt.Printf("backward 2BDD + 4BDK = %.4g, with the gradient of x %.4g\n", backward, backward+x)
	fmt.Printf("6·tokens·parameters  = %.4g\n", 6.*B*(D*D+D*K))
	// Output:
	// forward  2BDD + 2BDK = 4.398e+13
	// backward 2BDD + 4BDK = 5.278e+13, with the gradient of x 8.796e+13
	// 6·tokens·parameters  = 1.319e+14
}

// What the training of known models took, against the rule of thumb and the
// threshold of the order of 2023 that was revoked in 2025.
func ExampleTrainingFLOPs() {
	gpt3 := accounting.TrainingFLOPs(174.6e9, 300e9)
	fmt.Printf("GPT-3: %.3g FLOPs\n", gpt3)
	fmt.Printf("1e26 FLOPs are %.0f times as many\n", 1e26/gpt3)
	a100, _ := accounting.LookUp("NVIDIA A100-SXM4-80GB")
	h100, _ := accounting.LookUp("NVIDIA H100 80GB HBM3")
	fmt.Printf("A100: %.4g in bf16, %.4g in fp32\n", a100.PerSecond[accounting.BF16], a100.PerSecond[accounting.FP32])
	fmt.Printf("H100: %.4g in bf16, twice that with 2:4 sparsity; %.4g in fp32\n", h100.PerSecond[accounting.BF16], h100.PerSecond[accounting.FP32])
	// Output:
	// GPT-3: 3.14e+23 FLOPs
	// 1e26 FLOPs are 318 times as many
	// A100: 3.12e+14 in bf16, 1.95e+13 in fp32
	// H100: 9.895e+14 in bf16, twice that with 2:4 sparsity; 6.7e+13 in fp32
}

// deepNetwork is the network of section 23: L blocks relu(x·w) of width D.
type deepNetwork struct {
	ws []*tensor.Tensor
}

func newDeepNetwork(width, layers int) *deepNetwork {
	n := &deepNetwork{}
	for i := range layers {
		w := tensor.With(tensor.NewGenerator(uint64(i))).Randn(width, width).Mul(1 / math.Sqrt(float64(width)))
		n.ws = append(n.ws, w.RequireGrad())
	}
	return n
}

func (n *deepNetwork) parameters() (count int) {
	for _, w := range n.ws {
		count += w.Len()
	}
	return count
}

// keepNothing, as k, keeps the first input alone.
const keepNothing = -1

// forward runs the blocks; of every k of them only the input is kept, of all the
// results if k is 0.
func (n *deepNetwork) forward(x *tensor.Tensor, k int) *tensor.Tensor {
	run := func(x *tensor.Tensor, ws []*tensor.Tensor) *tensor.Tensor {
		for _, w := range ws {
			x = x.Matmul(w).ReLU()
		}
		return x
	}
	switch k {
	case 0:
		return run(x, n.ws)
	case keepNothing:
		last := len(n.ws) - 1
		if last < 0 {
			return x
		}
		// The blocks before the last are run again for each block behind them.
		return tensor.Recompute(func(in ...*tensor.Tensor) *tensor.Tensor {
			before := &deepNetwork{n.ws[:last]}
			return run(before.forward(in[0], keepNothing), n.ws[last:])
		}, x)
	}
	for at := 0; at < len(n.ws); at += k {
		part := n.ws[at:min(at+k, len(n.ws))]
		x = tensor.Recompute(func(in ...*tensor.Tensor) *tensor.Tensor { return run(in[0], part) }, x)
	}
	return x
}

// step computes the gradients, in micro-batches that are added up.
func (n *deepNetwork) step(x *tensor.Tensor, microBatches, k int) {
	for _, part := range x.Chunk(0, microBatches) {
		n.forward(part, k).Sum().Backward()
	}
}

func (n *deepNetwork) takeGradients() (all []*tensor.Tensor) {
	for _, w := range n.ws {
		all = append(all, w.Grad())
		w.ZeroGrad()
	}
	return all
}

func TestDeepNetworkParameters(t *testing.T) {
	if got := newDeepNetwork(8, 3).parameters(); got != 192 {
		t.Errorf("D²L with D=8, L=3: %d, want 192", got)
	}
}

// Gradient accumulation: the same gradient, from a quarter of the activations.
func TestMicroBatches(t *testing.T) {
	const B, D, L = 64, 32, 6
	n := newDeepNetwork(D, L)
	x := tensor.With(tensor.NewGenerator(99)).Randn(B, D).SetRole(tensor.Input)
	measure := func(parts, k int) int {
		r := accounting.Memory(func() { n.step(x, parts, k) }, append(n.ws, x)...)
		return r.Highest[accounting.Activations]
	}
	whole := measure(1, 0)
	want := n.takeGradients()
	quarter := measure(4, 0)
	got := n.takeGradients()
	for i := range want {
		if !tensor.AllClose(got[i], want[i], 1e-4, 1e-4) {
			t.Errorf("layer %d: the gradient of four micro-batches differs from that of the batch", i)
		}
	}
	// Each block's result is the next one's input, and what its own ReLU reads.
	if formula := (accounting.ActivationMemory{Batch: B, Width: D, Layers: L, BytesPerElement: 4}).Bytes(); whole < formula || whole > 2*formula {
		t.Errorf("activations %d bytes, formula %d", whole, formula)
	}
	if 4*quarter != whole {
		t.Errorf("a quarter of the batch holds %d bytes, the whole %d", quarter, whole)
	}
	runtime.KeepAlive(x)
}

// Activation checkpointing: memory against time, for 9 layers. What is run again
// counts as backward.
func ExampleActivationMemory_Checkpointed() {
	const B, D, L = 32, 16, 9
	n := newDeepNetwork(D, L)
	x := tensor.With(tensor.NewGenerator(99)).Randn(B, D).SetRole(tensor.Input)
	formula := accounting.ActivationMemory{Batch: B, Width: D, Layers: L, BytesPerElement: 4}
	layer := formula.Bytes() / L
	measure := func(name string, k, predicted int) {
		memory := accounting.Memory(func() { n.step(x, 1, k) }, append(n.ws, x)...)
		n.takeGradients()
		count := accounting.Count(func() { n.step(x, 1, k) })
		n.takeGradients()
		fmt.Printf("%-24s %2d layers' activations (formula %2d), %.2f times the FLOPs of forward\n", name,
			memory.Highest[accounting.Activations]/layer, predicted/layer, float64(count.MatmulFLOPs())/float64(2*B*D*D*L))
	}
	measure("keep all", 0, formula.Bytes())
	measure("keep each layer's input", 1, formula.Checkpointed(1))
	measure("keep every 3rd", 3, formula.Checkpointed(3))
	measure("keep the first alone", 9, formula.Checkpointed(9))
	measure("keep nothing", keepNothing, 2*layer) // the input and the result of one block
	runtime.KeepAlive(x)
	// Output:
	// keep all                  9 layers' activations (formula  9), 2.89 times the FLOPs of forward
	// keep each layer's input   9 layers' activations (formula  9), 3.89 times the FLOPs of forward
	// keep every 3rd            5 layers' activations (formula  5), 3.89 times the FLOPs of forward
	// keep the first alone      9 layers' activations (formula  9), 3.89 times the FLOPs of forward
	// keep nothing              2 layers' activations (formula  2), 7.89 times the FLOPs of forward
}
