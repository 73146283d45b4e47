package diagram_test

import (
	"fmt"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/plots/diagram"
	"github.com/lectern-go/lectern/tensor"
	"github.com/lectern-go/lectern/tokenizer"
)

// The text of a figure is what it shows, for those who can't see it.
func ExampleBits() {
	fmt.Println(diagram.Bits(1e-8, tensor.Float16, tensor.BFloat16))
	// Output:
	// Bits of 1e-08: float16 0 00000 0000000000 is (-1)^0 · 0 · 2^-14 = 0; bfloat16 0 01100100 0101100 is (-1)^0 · 1.34375 · 2^-27 = 1.00117e-08
}

func ExampleDensity() {
	fmt.Println(diagram.Density(1, 2, tensor.Float8E4M3, tensor.BFloat16, tensor.Float16))
	// Output:
	// Numbers between 1 and 2: float8_e4m3fn has 9 numbers; bfloat16 has 129 numbers; float16 has 1,025 numbers
}

func ExampleStorage() {
	x := tensor.Arange(6).View(2, 3)
	fmt.Println(diagram.Storage(diagram.View("x", x), diagram.View("x.T()", x.T())))
	// Output:
	// Storage and strides: x has shape [2 3] and strides [3 1]; x.T() has shape [3 2] and strides [1 3], same storage as x
}

func ExampleMatmul() {
	fmt.Println(diagram.Matmul(tensor.Ones(4, 8, 16, 32), tensor.Ones(32, 2), "batch", "sequence"))
	// Output:
	// Matrix product: [4 8 16 32] times [32 2] is [4 8 16 2], 32 products of [16 32] by [32 2], 65,536 FLOPs
}

func ExampleBroadcast() {
	fmt.Println(diagram.Broadcast(tensor.Ones(2, 3), tensor.Ones(2, 1)))
	// Output:
	// Broadcasting: [2 3] plus [2 1], repeated to [2 3], is [2 3]
}

func ExampleEinops() {
	fmt.Println(diagram.Einops(einops.Explain("... (heads hidden1) -> ... heads hidden1", []int{2, 3, 8}, einops.Axis("heads", 2))))
	fmt.Println(diagram.Einops(einops.ExplainEinsum("batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2", []int{2, 3, 4}, []int{2, 5, 4})))
	// Output:
	// rearrange ... (heads hidden1) -> ... heads hidden1: [2 3 8] becomes [2 3 2 4] by View
	// einsum batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2: [[2 3 4] [2 5 4]] become [2 3 5] by Matmul over hidden
}

// The data x needs no gradient, so the first product has one gradient and
// backward costs less than twice as much as forward.
func ExamplePasses() {
	const B, D, K = 16, 8, 4
	w1, w2 := tensor.Ones(D, D).RequireGrad(), tensor.Ones(D, K).RequireGrad()
	fmt.Println(diagram.Passes(func() {
		x := tensor.Ones(B, D)
		x.Matmul(w1).Matmul(w2).Pow(2).Mean().Backward()
	}))
	// Output:
	// FLOPs of a forward and a backward pass: product 1 of [16 8] by [8 8], 2,048; product 2 of [16 8] by [8 4], 1,024; gradient of product 2 with respect to its input, 1,024; gradient of product 2 with respect to its weight, 1,024; gradient of product 1 with respect to its weight, 2,048; forward 3,072, backward 4,096: 1.33 times as many
}

func ExampleModules() {
	fmt.Println(diagram.Modules("Layer", []tensor.NamedTensor{
		tensor.Named("weight", tensor.Zeros(4, 2)), tensor.Named("bias", tensor.Zeros(2)),
	}))
	// Output:
	// Modules of Layer, 10 elements: weight [4 2], bias [2]
}

// While a model works on one batch, the next is fetched.
func ExampleTimeline() {
	fetch := diagram.Lane{Name: "fetch", Spans: []diagram.Span{{From: 0, To: 3, Label: "1"}, {From: 3, To: 6, Label: "2"}}}
	model := diagram.Lane{Name: "model", Spans: []diagram.Span{{From: 3, To: 6, Label: "1"}, {From: 6, To: 9, Label: "2"}}}
	fmt.Println(diagram.Timeline("ms", fetch, model))
	// Output:
	// Who is busy when: fetch is busy for 6 of 9 ms; model is busy for 6 of 9 ms
}

func ExampleMerges() {
	steps, err := tokenizer.Steps("the cat in the hat", 3)
	fmt.Println(diagram.Merges(steps), err)
	// Output:
	// Byte-pair merges as trees, 18 bytes in 12 tokens: 1: t + h → th, seen 2 times; 2: th + e → the, seen 2 times; 3: the + ␣ → the␣, seen 2 times <nil>
}

func ExampleMemory() {
	formula := accounting.TrainingMemory{Width: 4, Layers: 2, Batch: 2, StatePerParameter: 1}
	fmt.Println(diagram.Memory(diagram.Bar("formula", formula.Bytes())))
	// Output:
	// Memory by category: formula 496 bytes (parameters 144, gradients 144, optimizer state 144, activations 64)
}
