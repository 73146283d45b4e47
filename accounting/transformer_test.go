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
	// activations 1,026 MiB per sequence; 306 MiB if attention is computed again, 18 MiB if all is
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
