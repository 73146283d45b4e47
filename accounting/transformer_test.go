package accounting_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lectern-go/lectern/accounting"
)

func ExampleTransformer() {
	fmt.Print(accounting.GPT2Small)
	// Output:
	// layer       attention 2·768² + 2·768·768, feed-forward 2·768·3072, norms and biases: 7,087,872 parameters
	// model       12 layers + 39,383,808 of embeddings: 124,439,808 parameters
	// forward     2·123,532,032 weights + 4·12·1024·768 of attention = 284,812,800 FLOPs per token
	// training    3 times as many: 854,438,400 FLOPs per token; the rule 6·N gives 746,638,848 (ratio 1.144)
	// KV cache    2·12·768·2 bytes = 36 KiB per token in 16 bits, 36 MiB for a sequence of 1024
	// activations 1,026 MiB per sequence; 306 MiB if attention is recomputed, 18 MiB if everything is
}

// Sizes that the makers of models publish.
func TestTransformerParameters(t *testing.T) {
	if got := accounting.GPT2Small.Parameters(); got != 124_439_808 {
		t.Errorf("GPT-2 small has %d parameters, want 124439808", got)
	}
	if got := accounting.Llama3_8B.Parameters(); got != 8_030_261_248 {
		t.Errorf("Llama 3 8B has %d parameters, want 8030261248", got)
	}
	if got := float64(accounting.GPT3.Parameters()); math.Abs(got-175e9) > 1e9 {
		t.Errorf("GPT-3 has %.4g parameters, want 175e9", got)
	}
	// 3.14e23 FLOPs are what GPT-3's paper reports for 300e9 tokens; the rule of 6.
	if got := accounting.TrainingFLOPs(174.6e9, 300e9); math.Abs(got-3.14e23) > 0.005e23 {
		t.Errorf("training GPT-3 takes %.4g FLOPs, want 3.14e23", got)
	}
	if got := accounting.Llama3_8B.KVCacheBytesPerToken(2); got != 128<<10 {
		t.Errorf("Llama 3 8B keeps %d bytes per token, want 128 KiB", got)
	}
}

func ExampleTransformer_Parts() {
	fmt.Print(accounting.GPT2Small.Parts())
	// Output:
	// part                         parameters    share  FLOPs/token forward    share
	// embedding                    39,383,808   31.6 %                    0    0.0 %
	// projections of attention     28,348,416   22.8 %           56,623,104   19.9 %
	// attention over the context            0    0.0 %           37,748,736   13.3 %
	// feed-forward                 56,669,184   45.5 %          113,246,208   39.8 %
	// normalization                    38,400    0.0 %                    0    0.0 %
	// output layer                          0    0.0 %           77,194,752   27.1 %
	// all                         124,439,808  100.0 %          284,812,800  100.0 %
}

// The parts add up to the whole, for every kind of model.
func TestTransformerParts(t *testing.T) {
	for name, m := range map[string]accounting.Transformer{
		"GPT-2 small": accounting.GPT2Small, "GPT-2 XL": accounting.GPT2XL, "GPT-3": accounting.GPT3, "Llama 3 8B": accounting.Llama3_8B,
		"Llama 3 70B": accounting.Llama3_70B, "tied": {Layers: 3, Width: 12, Heads: 3, KVHeads: 1, Hidden: 20, Gated: true, Vocabulary: 50, Context: 9, Tied: true},
	} {
		parameters, flops := 0, 0
		for _, part := range m.Parts() {
			parameters, flops = parameters+part.Parameters, flops+part.FLOPs
		}
		if parameters != m.Parameters() || flops != m.ForwardFLOPsPerToken() {
			t.Errorf("%s: the parts have %d parameters and %d FLOPs, the model %d and %d", name, parameters, flops, m.Parameters(), m.ForwardFLOPsPerToken())
		}
	}
	for want, m := range map[int]accounting.Transformer{354_823_168: accounting.GPT2Medium, 774_030_080: accounting.GPT2Large, 1_557_611_200: accounting.GPT2XL, 70_553_706_496: accounting.Llama3_70B} {
		if got := m.Parameters(); got != want {
			t.Errorf("%d parameters, and published are %d", got, want)
		}
	}
}

// Reading a prompt has the intensity of a matmul, writing that of a product with as many
// rows as there are sequences.
func TestGenerationOperations(t *testing.T) {
	m := accounting.Llama3_8B
	weights := float64(7_504_658_432) // all but the embedding and the normalizations
	one := m.DecodeOperation(1, 0, 2)
	if want := 2*weights + 4*32*4096; one.FLOPs != want {
		t.Errorf("one token takes %g FLOPs, want %g", one.FLOPs, want)
	}
	if want := 2*weights + 128<<10; one.Bytes != want {
		t.Errorf("one token reads %g bytes, want %g", one.Bytes, want)
	}
	if batch := m.DecodeOperation(64, 0, 2); batch.Intensity() < 60*one.Intensity() {
		t.Errorf("the intensity of 64 sequences is %g, and of one %g", batch.Intensity(), one.Intensity())
	}
	if long := m.DecodeOperation(64, 8191, 2); long.Intensity() > 20 {
		t.Errorf("with a full context the intensity is %g: caches are read for each sequence", long.Intensity())
	}
	prefill := m.PrefillOperation(1, 8192, 2)
	layers := weights - 128256*4096
	if want := 8192*2*layers + 2*128256*4096 + 4*32*4096*8192*8193/2; prefill.FLOPs != want {
		t.Errorf("a prompt takes %g FLOPs, want %g", prefill.FLOPs, want)
	}
	if prefill.Intensity() < 1000 {
		t.Errorf("the intensity of a prompt of 8192 is %g", prefill.Intensity())
	}
}
