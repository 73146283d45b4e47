package accounting

import (
	"fmt"

	"github.com/lectern-go/lectern/internal/humanize"
)

// Transformer has the sizes of a decoder-only Transformer from which its costs follow.
// Biases are counted if Biases is set (as in GPT-2), otherwise normalizations have
// only weights (as in LLaMA).
type Transformer struct {
	Layers     int
	Width      int // d_model
	Heads      int
	KVHeads    int // key/value heads; 0 means Heads
	Hidden     int // width of the feed-forward layer; 0 means 4·Width
	Gated      bool
	Vocabulary int
	Context    int  // T, the length of a sequence
	Positions  bool // learned position embeddings
	Tied       bool // the output layer shares the embedding's weights
	Biases     bool
}

// Models with published sizes, to check the formulas.
var (
	// GPT2Small is the smallest GPT-2 (Radford et al. 2019).
	GPT2Small = Transformer{Layers: 12, Width: 768, Heads: 12, Vocabulary: 50257, Context: 1024, Positions: true, Tied: true, Biases: true}
	// GPT3 is the 175B model (Brown et al. 2020, arXiv:2005.14165, table 2.1).
	GPT3 = Transformer{Layers: 96, Width: 12288, Heads: 96, Vocabulary: 50257, Context: 2048, Positions: true, Tied: true, Biases: true}
	// Llama3_8B is Llama 3 8B (Grattafiori et al. 2024, arXiv:2407.21783, table 3).
	Llama3_8B = Transformer{Layers: 32, Width: 4096, Heads: 32, KVHeads: 8, Hidden: 14336, Gated: true, Vocabulary: 128256, Context: 8192}
)

func (t Transformer) kvWidth() int {
	if t.KVHeads == 0 {
		return t.Width
	}
	return t.Width / t.Heads * t.KVHeads
}

func (t Transformer) hidden() int {
	if t.Hidden == 0 {
		return 4 * t.Width
	}
	return t.Hidden
}

// LayerParameters returns the parameters of one layer: attention, feed-forward,
// two normalizations.
func (t Transformer) LayerParameters() int {
	d, kv, h := t.Width, t.kvWidth(), t.hidden()
	attention := 2*d*d + 2*d*kv // queries and output, keys and values
	feedForward := 2 * d * h
	if t.Gated {
		feedForward = 3 * d * h
	}
	n := attention + feedForward + 2*d
	if t.Biases {
		n += d + 2*kv + d + h + d // of the six matrices
		n += 2 * d                // of the normalizations
	}
	return n
}

// EmbeddingParameters returns the parameters of the token and position embeddings, and
// of the output layer if it has its own.
func (t Transformer) EmbeddingParameters() int {
	n := t.Vocabulary * t.Width
	if !t.Tied {
		n *= 2
	}
	if t.Positions {
		n += t.Context * t.Width
	}
	return n
}

// Parameters returns the number of parameters, including the last normalization.
func (t Transformer) Parameters() int {
	n := t.Layers*t.LayerParameters() + t.EmbeddingParameters() + t.Width
	if t.Biases {
		n += t.Width
	}
	return n
}

// matmulParameters returns the weights that each token is multiplied by: looking up an
// embedding is not a product, but the output layer is.
func (t Transformer) matmulParameters() int {
	layers := t.Layers * (2*t.Width*t.Width + 2*t.Width*t.kvWidth())
	feedForward := 2
	if t.Gated {
		feedForward = 3
	}
	return layers + t.Layers*feedForward*t.Width*t.hidden() + t.Vocabulary*t.Width
}

// ForwardFLOPsPerToken returns 2 FLOPs for each weight and 4·L·T·D for attention
// over T positions, computed in full as dense kernels do; a kernel that skips what the
// causal mask hides needs half of the latter (Chowdhery et al. 2022, arXiv:2204.02311,
// appendix B).
func (t Transformer) ForwardFLOPsPerToken() int {
	return 2*t.matmulParameters() + 4*t.Layers*t.Context*t.Width
}

// TrainingFLOPsPerToken returns three times the forward FLOPs: backward takes twice as
// many.
func (t Transformer) TrainingFLOPsPerToken() int { return 3 * t.ForwardFLOPsPerToken() }

// KVCacheBytesPerToken returns the bytes that generation keeps for each token:
// one key and one value in each layer.
func (t Transformer) KVCacheBytesPerToken(bytesPerElement int) int {
	return 2 * t.Layers * t.kvWidth() * bytesPerElement
}

// Recompute says which activations are recomputed in backward.
type Recompute int

const (
	RecomputeNothing   Recompute = iota
	RecomputeAttention           // the scores and what follows from them
	RecomputeAll                 // all but the input of each layer
)

// ActivationBytes returns the activations of all layers for a batch, with 16-bit
// numbers and dropout (Korthikanti et al. 2022, arXiv:2205.05198, table 2 without
// parallelism): s·b·h·(34 + 5·a·s/h) for each layer; 34·s·b·h if attention is
// recomputed; 2·s·b·h if only inputs are kept. The formula is for a feed-forward layer
// of 4·Width and as many key heads as query heads.
func (t Transformer) ActivationBytes(batch int, r Recompute) int {
	sbh := t.Context * batch * t.Width
	switch r {
	case RecomputeAll:
		return t.Layers * 2 * sbh
	case RecomputeAttention:
		return t.Layers * 34 * sbh
	}
	return t.Layers * (34*sbh + 5*t.Heads*t.Context*t.Context*batch)
}

// String prints the sizes with their derivation.
func (t Transformer) String() string {
	d, kv, h, n := t.Width, t.kvWidth(), t.hidden(), t.Parameters()
	matrices := 2
	if t.Gated {
		matrices = 3
	}
	return fmt.Sprintf("layer       attention 2·%d² + 2·%d·%d, feed-forward %d·%d·%d, norms and biases: %s parameters\n", d, d, kv, matrices, d, h, humanize.Thousands(t.LayerParameters())) +
		fmt.Sprintf("model       %s + %s of embeddings: %s parameters\n", humanize.Count(t.Layers, "layer"), humanize.Thousands(t.EmbeddingParameters()), humanize.Thousands(n)) +
		fmt.Sprintf("forward     2·%s weights + 4·%d·%d·%d of attention = %s FLOPs per token\n", humanize.Thousands(t.matmulParameters()), t.Layers, t.Context, d, humanize.Thousands(t.ForwardFLOPsPerToken())) +
		fmt.Sprintf("training    3 times as many: %s FLOPs per token; the rule 6·N gives %s (ratio %s)\n", humanize.Thousands(t.TrainingFLOPsPerToken()), humanize.Thousands(6*n), trim(float64(t.TrainingFLOPsPerToken())/float64(6*n), 4)) +
		fmt.Sprintf("KV cache    2·%d·%d·2 bytes = %s per token in 16 bits, %s for a sequence of %d\n", t.Layers, kv, humanize.Bytes(t.KVCacheBytesPerToken(2)), humanize.Bytes(t.KVCacheBytesPerToken(2)*t.Context), t.Context) +
		t.activations()
}

// activations prints the activations of one sequence, where the formula holds.
func (t Transformer) activations() string {
	if t.Gated || t.hidden() != 4*t.Width || t.kvWidth() != t.Width {
		return "activations the published formula is for a plain feed-forward layer of 4·width and as many key heads as query heads\n"
	}
	return fmt.Sprintf("activations %s per sequence; %s if attention is recomputed, %s if everything is\n", humanize.Bytes(t.ActivationBytes(1, RecomputeNothing)), humanize.Bytes(t.ActivationBytes(1, RecomputeAttention)), humanize.Bytes(t.ActivationBytes(1, RecomputeAll)))
}

// HTML shows the same text.
func (t Transformer) HTML() string { return preformatted(t.String()) }
