package accounting

import (
	"fmt"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/internal/tabular"
)

// More models with published sizes, to compare costs.
var (
	// GPT2Medium, GPT2Large and GPT2XL are the larger GPT-2s (Radford et al. 2019).
	GPT2Medium = Transformer{Layers: 24, Width: 1024, Heads: 16, Vocabulary: 50257, Context: 1024, Positions: true, Tied: true, Biases: true}
	GPT2Large  = Transformer{Layers: 36, Width: 1280, Heads: 20, Vocabulary: 50257, Context: 1024, Positions: true, Tied: true, Biases: true}
	GPT2XL     = Transformer{Layers: 48, Width: 1600, Heads: 25, Vocabulary: 50257, Context: 1024, Positions: true, Tied: true, Biases: true}
	// Llama3_70B is Llama 3 70B (Grattafiori et al. 2024, arXiv:2407.21783, table 3).
	Llama3_70B = Transformer{Layers: 80, Width: 8192, Heads: 64, KVHeads: 8, Hidden: 28672, Gated: true, Vocabulary: 128256, Context: 8192}
)

// TransformerPart is what one kind of layer costs in the whole model.
type TransformerPart struct {
	Name       string
	Parameters int
	// FLOPs of one token, forward; backward takes twice as many.
	FLOPs int
}

// TransformerParts is a model by its parts; a notebook shows it as a table.
type TransformerParts []TransformerPart

// Parts divides parameters and forward FLOPs among the parts of the model. Attention
// over the context is counted in full, 4·L·T·D; elementwise work, such as
// normalization, is not counted, as in [Transformer.ForwardFLOPsPerToken].
func (t Transformer) Parts() TransformerParts {
	d, kv, h := t.Width, t.kvWidth(), t.hidden()
	matrices := 2
	if t.Gated {
		matrices = 3
	}
	projections, feedForward := t.Layers*(2*d*d+2*d*kv), t.Layers*matrices*d*h
	positions, norms := 0, t.Layers*2*d+d
	attentionBiases, hiddenBiases := 0, 0
	if t.Positions {
		positions = t.Context * d
	}
	if t.Biases {
		norms *= 2
		attentionBiases, hiddenBiases = t.Layers*(2*d+2*kv), t.Layers*(h+d)
	}
	output := t.Vocabulary * d
	parts := TransformerParts{
		{"embedding", t.Vocabulary*d + positions, 0}, // a row is looked up
		{"projections of attention", projections + attentionBiases, 2 * projections},
		{"attention over the context", 0, 4 * t.Layers * t.Context * d},
		{"feed-forward", feedForward + hiddenBiases, 2 * feedForward},
		{"normalization", norms, 0},
		{"output layer", output, 2 * output},
	}
	if t.Tied {
		parts[len(parts)-1].Parameters = 0
	}
	return parts
}

// table has a row for each part, with its percentages, and a last one with the sums.
func (p TransformerParts) table() tabular.Table {
	var parameters, flops int
	for _, part := range p {
		parameters, flops = parameters+part.Parameters, flops+part.FLOPs
	}
	share := func(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(of, 1))) }
	c := tabular.Table{Header: []string{"part", "parameters", "share", "FLOPs/token forward", "share"}}
	for _, part := range append(p[:len(p):len(p)], TransformerPart{"all", parameters, flops}) {
		c.Add(part.Name, humanize.Thousands(part.Parameters), share(part.Parameters, parameters), humanize.Thousands(part.FLOPs), share(part.FLOPs, flops))
	}
	return c
}

// PrefillOperation returns the cost of reading prompts of a number of tokens and keeping
// their keys and values, for elements of a number of bytes: each weight is read once for
// all tokens, and causal attention looks at half of the pairs. Logits are computed for
// the last token of each prompt.
func (t Transformer) PrefillOperation(batch, tokens, element int) Operation {
	weights := t.matmulParameters() - t.Vocabulary*t.Width
	pairs := tokens * (tokens + 1) / 2
	flops := batch * (tokens*2*weights + 2*t.Vocabulary*t.Width + 4*t.Layers*t.Width*pairs)
	bytes := t.matmulParameters()*element + batch*tokens*t.KVCacheBytesPerToken(element)
	return Operation{Name: fmt.Sprintf("prefill of %d × %d", batch, tokens), FLOPs: float64(flops), Bytes: float64(bytes)}
}

// DecodeOperation returns the cost of one more token for each sequence of a batch,
// after a number of tokens: all weights are read once for the batch, and the keys and
// values once for each sequence.
func (t Transformer) DecodeOperation(batch, past, element int) Operation {
	flops := batch * (2*t.matmulParameters() + 4*t.Layers*t.Width*(past+1))
	bytes := t.matmulParameters()*element + batch*(past+1)*t.KVCacheBytesPerToken(element)
	return Operation{Name: fmt.Sprintf("decode of %d after %d", batch, past), FLOPs: float64(flops), Bytes: float64(bytes)}
}

// SavedBytes returns the bytes of activations that package transformer keeps for Backward,
// at their peak, for a batch of full contexts and elements of a number of bytes. With D
// the width, K that of keys, H heads and F the width of the feed-forward layer, a block
// keeps for each token
//
//	6·D + 2·K + H + 3·F numbers, or 2·F without a gate:
//
// the input and the result of both normalizations, queries, keys, values and the result of
// attention, a sum for each head, and the feed-forward layer's. The inputs of
// normalizations and the sums are float32 even if elements are smaller. It keeps none of
// the scores, which take the most in [Transformer.ActivationBytes]. The last normalization
// and the logits add 2·D + V. With RecomputeAll each block keeps its input, and one block
// keeps the rest while backward is in it.
func (t Transformer) SavedBytes(batch, element int, r Recompute) int {
	feedForward := 2 * t.hidden()
	if t.Gated {
		feedForward = 3 * t.hidden()
	}
	wide := max(element, 4)
	block := (4*t.Width+2*t.kvWidth()+feedForward)*element + (2*t.Width+t.Heads)*wide
	end := (t.Width+t.Vocabulary)*element + t.Width*wide
	bytes := t.Layers*block + end
	if r == RecomputeAll {
		inputs := t.Layers * t.Width * element
		if element == wide { // the kept input is the normalization's
			block -= t.Width * element
		}
		bytes = inputs + max(block, end)
	}
	return batch * t.Context * bytes
}

// String returns the table as text in columns.
func (p TransformerParts) String() string { return p.table().String() }

// HTML returns the table for a notebook.
func (p TransformerParts) HTML() string { return p.table().HTML() }
