package transformer

import (
	"fmt"
	"math"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

// LM is a language model: for each position of a sequence it gives the logits of the
// token that comes next. The names of its state are those of CS336's first assignment:
// token_embeddings.weight, layers.0.attn.q_proj.weight, layers.0.ffn.w1.weight,
// layers.0.ln1.weight, ln_final.weight, lm_head.weight and so on.
type LM struct {
	TokenEmbeddings    *nn.Embedding // [V D]
	PositionEmbeddings *nn.Embedding // [Context D], only in GPT-2; nil: attention has rotary positions
	Layers             []*Block
	LNFinal            nn.Module  // *nn.RMSNorm, or *nn.LayerNorm in GPT-2
	LMHead             *nn.Linear // D to V; nil: the output layer uses TokenEmbeddings

	// Recompute keeps only the input of each block for backward, which recomputes the
	// rest: a third more FLOPs for a fraction of the memory.
	Recompute bool

	config Config
}

// New returns a model whose weights have the assignment's initial values: normal, with
// variance 2/(in+out) for linear layers and 1 for the embedding, cut off at three
// standard deviations. A tied embedding has variance 1/D, so that logits start small.
// GPT-2's weights have a standard deviation of 0.02; for layers that write into the
// residual stream, it is divided by the square root of their number (Radford et al.
// 2019).
//
// Options are those of [tensor.With]. It panics with a [*tensor.Error] if the sizes
// don't fit each other.
func New(c Config, options ...tensor.Option) *LM {
	c = c.complete()
	m := &LM{config: c}
	embedding := 1.0
	switch {
	case c.GPT2:
		embedding = 0.02
	case c.Tied:
		embedding = 1 / math.Sqrt(float64(c.Width))
	}
	m.TokenEmbeddings = &nn.Embedding{Weight: truncated(embedding, options, c.Vocabulary, c.Width)}
	var rope *RoPE
	if c.GPT2 {
		m.PositionEmbeddings = &nn.Embedding{Weight: truncated(0.02, options, c.Context, c.Width)}
	} else {
		rope = NewRoPE(c.HeadSize(), c.Context, c.Theta)
	}
	for range c.Layers {
		m.Layers = append(m.Layers, newBlock(c, rope, options))
	}
	m.LNFinal = newNorm(c, options)
	if !c.Tied {
		m.LMHead = newLinear(c, c.Width, c.Vocabulary, false, options)
	}
	return m
}

// truncated returns a parameter of normal numbers, none beyond three standard deviations.
func truncated(std float64, options []tensor.Option, shape ...int) *tensor.Tensor {
	return nn.Parameter(tensor.With(options...).TruncNormal(0, std, -3*std, 3*std, shape...))
}

// newLinear returns a linear layer; output says that it writes into the residual stream.
func newLinear(c Config, in, out int, output bool, options []tensor.Option) *nn.Linear {
	std := math.Sqrt(2 / float64(in+out))
	if c.GPT2 {
		std = 0.02
		if output {
			std /= math.Sqrt(2 * float64(c.Layers))
		}
	}
	l := &nn.Linear{Weight: truncated(std, options, out, in)}
	if c.GPT2 {
		l.Bias = nn.Parameter(tensor.With(options...).Zeros(out))
	}
	return l
}

func newNorm(c Config, options []tensor.Option) nn.Module {
	one := nn.Parameter(tensor.With(options...).Ones(c.Width))
	if c.GPT2 {
		return &nn.LayerNorm{Weight: one, Bias: nn.Parameter(tensor.With(options...).Zeros(c.Width)), Shape: []int{c.Width}, Eps: c.Eps}
	}
	return &nn.RMSNorm{Weight: one, Eps: c.Eps}
}

// Config returns the sizes of the model, with zeros replaced by their defaults.
func (m *LM) Config() Config { return m.config }

// Forward takes ids [B T] or [T] to logits [B T V] or [T V]. It panics if an id is not in
// the vocabulary or there are more tokens than the context holds. Inside [tensor.NoGrad], and in Next, what a layer
// makes is freed when the layer ends, except for its result.
func (m *LM) Forward(ids *tensor.Tensor) *tensor.Tensor {
	return m.logits(m.LNFinal.Forward(m.residual("forward", ids, nil)))
}

// Loss returns the mean cross-entropy, in nats, between what Forward predicts for x, ids
// [B T], and the ids y [B T] that come next.
func (m *LM) Loss(x, y *tensor.Tensor) *tensor.Tensor {
	logits := m.Forward(x)
	last := logits.Dim() - 1
	if last == 1 {
		return nn.CrossEntropy(logits, y)
	}
	return nn.CrossEntropy(logits.Flatten(0, last-1), y.Flatten(0, y.Dim()-1))
}

// residual computes what the blocks add up to, [... T D]. With a cache, ids continue
// where those in it end.
func (m *LM) residual(op string, ids *tensor.Tensor, cache *Cache) *tensor.Tensor {
	m.checkLength(op, ids)
	start := 0
	if cache != nil {
		start = cache.Length
	}
	x := m.TokenEmbeddings.Forward(ids)
	if p := m.PositionEmbeddings; p != nil {
		x = x.Add(p.Weight.Narrow(0, start, ids.Size(-1)))
	}
	for i, block := range m.Layers {
		switch {
		case cache != nil:
			x = alone(x, func(x *tensor.Tensor) *tensor.Tensor { return block.forward(x, &cache.layers[i], start) })
		case !tensor.GradEnabled():
			x = alone(x, block.Forward)
		case m.Recompute:
			x = tensor.RecomputeModule(block, x)
		default:
			x = block.Forward(x)
		}
	}
	return x
}

// alone runs a layer whose input nobody needs any more. Without gradients, nothing that it makes is needed either,
// except its result: memory is freed here, not when all layers end or when the collector finds time.
func alone(x *tensor.Tensor, layer func(x *tensor.Tensor) *tensor.Tensor) (y *tensor.Tensor) {
	tensor.FreeAfter(func(keep func(*tensor.Tensor) *tensor.Tensor) { y = keep(layer(x)) })
	x.Free()
	return y
}

// checkLength panics unless ids are one sequence or a batch, with at most as many as the context holds. Next has
// already checked the room in a cache.
func (m *LM) checkLength(op string, ids *tensor.Tensor) {
	if d := ids.Dim(); d < 1 || d > 2 {
		fail(tensor.ErrShape, op, fmt.Sprintf("ids have shape %v", ids.Shape()), "give [T] or [B T]")
	}
	if n := ids.Size(-1); n > m.config.Context {
		fail(tensor.ErrShape, op, fmt.Sprintf("a sequence of %s is longer than the context of %d", humanize.Count(n, "token"), m.config.Context), "cut the sequence, or make a model with a larger Context")
	}
}

// logits multiplies by the output layer.
func (m *LM) logits(x *tensor.Tensor) *tensor.Tensor {
	if m.LMHead == nil {
		return x.MatmulT(m.TokenEmbeddings.Weight)
	}
	return m.LMHead.Forward(x)
}

// Block is one layer: attention, then a feed-forward layer. Each normalizes its input
// first, and is added to it (pre-normalization, Xiong et al. 2020, arXiv:2002.04745).
type Block struct {
	LN1  nn.Module // *nn.RMSNorm or *nn.LayerNorm
	Attn *Attention
	LN2  nn.Module
	FFN  nn.Module // *SwiGLU, or *MLP in GPT-2
}

func newBlock(c Config, rope *RoPE, options []tensor.Option) *Block {
	b := &Block{LN1: newNorm(c, options), Attn: newAttention(c, rope, options), LN2: newNorm(c, options)}
	if c.GPT2 {
		b.FFN = &MLP{Up: newLinear(c, c.Width, c.Hidden, false, options), Down: newLinear(c, c.Hidden, c.Width, true, options)}
	} else {
		b.FFN = &SwiGLU{W1: newLinear(c, c.Width, c.Hidden, false, options), W2: newLinear(c, c.Hidden, c.Width, true, options), W3: newLinear(c, c.Width, c.Hidden, false, options)}
	}
	return b
}

// Forward takes x [... T D] to the same shape.
func (b *Block) Forward(x *tensor.Tensor) *tensor.Tensor { return b.forward(x, nil, 0) }

// forward is Forward for tokens that follow the first start ones, whose keys and values
// are in the cache.
func (b *Block) forward(x *tensor.Tensor, cache *layerCache, start int) *tensor.Tensor {
	x = x.Add(b.Attn.forward(b.LN1.Forward(x), cache, start))
	return x.Add(b.FFN.Forward(b.LN2.Forward(x)))
}
