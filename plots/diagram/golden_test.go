package diagram

import (
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/plots/internal/golden"
	"github.com/lectern-go/lectern/tensor"
	"github.com/lectern-go/lectern/tokenizer"
)

// twoLayers is the lecture's forward and backward pass.
func twoLayers() {
	x := tensor.Ones(16, 8)
	w1, w2 := tensor.Ones(8, 8).RequireGrad(), tensor.Ones(8, 4).RequireGrad()
	x.Matmul(w1).Matmul(w2).Pow(2).Mean().Backward()
}

func lectureMerges(t *testing.T) []tokenizer.Step {
	steps, err := tokenizer.Steps("the cat in the hat", 3)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

func TestFigures(t *testing.T) {
	x := tensor.Arange(16).View(4, 4)
	golden.Check(t, map[string]func() golden.Figure{
		"bits": func() golden.Figure {
			return Bits(1e-8, tensor.Float32, tensor.Float16, tensor.BFloat16, tensor.Float8E4M3, tensor.Float8E5M2)
		},
		"bits-wide": func() golden.Figure { return Bits(-0.1, tensor.Float64, tensor.Int8) },
		"density": func() golden.Figure {
			return Density(-2, 2, tensor.Float8E4M3, tensor.Float8E5M2, tensor.Float16, tensor.Float32)
		},
		"ranges": func() golden.Figure {
			return Ranges(tensor.Float32, tensor.BFloat16, tensor.Float16, tensor.Float8E4M3)
		},
		"storage": func() golden.Figure {
			return Storage(View("x", x), View("x[:, 1]", x.Select(1, 1)), View("x.T()", x.T()))
		},
		"strips": func() golden.Figure {
			return Strips("Numbers drawn",
				Strip{"two layers", []Part{{"layer 1", 8}, {"layer 2", 8}, {"order", 10}}},
				Strip{"three layers", []Part{{"layer 1", 8}, {"layer 2", 8}, {"layer 3", 8}, {"order", 10}}})
		},
		"strips-legend": func() golden.Figure {
			return Strips("Weights", Strip{"2:4", []Part{{"weight", 1}, {"zero", 2}, {"weight", 1}, {"", 1}, {"zero", 1}, {"weight", 2}, {"zero", 1}}})
		},
		"devices": func() golden.Figure {
			h100, err := accounting.LookUp("NVIDIA H100 80GB HBM3")
			if err != nil {
				t.Fatal(err)
			}
			return Devices(h100, 50e9, 64e9)
		},
		"graph":           func() golden.Figure { return Graph(lectureGraph()) },
		"graph-gradients": func() golden.Figure { return Graph(lectureGradients()) },
		"matmul": func() golden.Figure {
			return Matmul(tensor.Ones(4, 8, 16, 32), tensor.Ones(32, 2), "batch", "sequence")
		},
		"matmul-plain": func() golden.Figure { return Matmul(tensor.Ones(16, 32), tensor.Ones(32, 2)) },
		"broadcast": func() golden.Figure {
			return Broadcast(tensor.Arange(6).View(2, 3), tensor.Of([]float64{100}, []float64{200}))
		},
		"broadcast-both": func() golden.Figure { return Broadcast(tensor.Arange(10).View(10, 1), tensor.Of(10., 20, 30)) },
		"einops-split": func() golden.Figure {
			return Einops(einops.Explain("batch seq (heads hidden) -> batch heads seq hidden", []int{2, 3, 8}, einops.Axis("heads", 2)))
		},
		"einops-reduce": func() golden.Figure { return Einops(einops.Explain("batch seq hidden -> batch seq", []int{2, 3, 8})) },
		"einops-repeat": func() golden.Figure {
			return Einops(einops.Explain("seq -> batch seq", []int{3}, einops.Axis("batch", 4)))
		},
		"einops-einsum": func() golden.Figure {
			return Einops(einops.ExplainEinsum("batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2", []int{2, 3, 4}, []int{2, 5, 4}))
		},
		"heat": func() golden.Figure {
			names := []string{"the", "cat", "sat"}
			return Heat("Attention", names, names, tensor.Of([]float64{1, 0, 0}, []float64{.25, .75, 0}, []float64{.1, .6, .3}))
		},
		"heat-integers": func() golden.Figure {
			return Heat("Tiles", []string{"k0", "k1"}, []string{"j0", "j1"}, tensor.Of([]float64{0, 1}, []float64{0, 2}))
		},
		"flow": func() golden.Figure {
			x, scores := tensor.Zeros(5, 8), tensor.Zeros(5, 5)
			return Flow("Attention", Step("x", x), Step("queries", x, "x"), Step("keys", x, "x"), Step("values", x, "x"),
				Step("scores", scores, "queries", "keys"), Step("mask, softmax", scores, "scores"), Step("mean of values", x, "mask, softmax", "values"))
		},
		"flow-residual": func() golden.Figure {
			x := tensor.Zeros(2, 5, 8)
			return Flow("A block", Step("x", x), Step("norm", x, "x"), Step("attention", x, "norm"), Step("+", x, "attention", "x"),
				Step("norm 2", x, "+"), Step("feed-forward", x, "norm 2"), Step("+ ", x, "feed-forward", "+"))
		},
		"merges":   func() golden.Figure { return Merges(lectureMerges(t)) },
		"passes":   func() golden.Figure { return Passes(twoLayers) },
		"modules":  func() golden.Figure { return Modules("Model", cruncher()) },
		"timeline": func() golden.Figure { return overlapped(6) },
		"memory": func() golden.Figure {
			predicted := accounting.TrainingMemory{Width: 4, Layers: 2, Batch: 2, StatePerParameter: 1}.Bytes()
			measured := predicted
			measured[accounting.Activations], measured[accounting.Data], measured[accounting.Temporary] = 112, 40, 72
			return Memory(Bar("formula", predicted), Bar("measured", measured))
		},
	})
}
