package transformer

import (
	"fmt"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

// Attention is causal multi-head self-attention (Vaswani et al. 2017, arXiv:1706.03762):
// each token asks, with one query per head, what the tokens up to it hold. With fewer
// key/value heads than query heads, groups of query heads share them (Ainslie et al.
// 2023, arXiv:2305.13245).
type Attention struct {
	QProj      *nn.Linear // D to H·d
	KProj      *nn.Linear // D to K·d
	VProj      *nn.Linear // D to K·d
	OutputProj *nn.Linear // H·d to D
	Heads      int        // H
	KVHeads    int        // K
	RoPE       *RoPE      // nil: queries and keys carry no positions
}

func newAttention(c Config, rope *RoPE, options []tensor.Option) *Attention {
	kv := c.KVHeads * c.HeadSize()
	return &Attention{
		QProj: newLinear(c, c.Width, c.Width, false, options), KProj: newLinear(c, c.Width, kv, false, options),
		VProj: newLinear(c, c.Width, kv, false, options), OutputProj: newLinear(c, c.Width, c.Width, true, options),
		Heads: c.Heads, KVHeads: c.KVHeads, RoPE: rope,
	}
}

// NewAttention returns attention over x of the given width, without biases. A nil rope
// means no positions. It panics if heads doesn't divide width, or kvHeads doesn't divide
// heads. Options are those of [tensor.With].
func NewAttention(width, heads, kvHeads int, rope *RoPE, options ...tensor.Option) *Attention {
	c := Config{Vocabulary: 1, Context: 1, Layers: 1, Width: width, Heads: heads, KVHeads: kvHeads}.complete()
	if rope != nil && 2*rope.Cos.Size(1) != c.HeadSize() {
		fail(tensor.ErrShape, "new attention", fmt.Sprintf("a head has %s and the rotary positions are for %d", humanize.Count(c.HeadSize(), "feature"), 2*rope.Cos.Size(1)), "")
	}
	return newAttention(c, rope, options)
}

// Forward takes x [... T D] to the same shape. Position t sees the positions up to t.
func (a *Attention) Forward(x *tensor.Tensor) *tensor.Tensor { return a.forward(x, nil, 0) }

func (a *Attention) forward(x *tensor.Tensor, cache *layerCache, start int) *tensor.Tensor {
	q, k, v := split(a.QProj.Forward(x), a.Heads), split(a.KProj.Forward(x), a.KVHeads), split(a.VProj.Forward(x), a.KVHeads)
	if a.RoPE != nil {
		q, k = a.RoPE.rotateHeads(q, start), a.RoPE.rotateHeads(k, start)
	}
	q, k, v = q.Transpose(-3, -2), k.Transpose(-3, -2), v.Transpose(-3, -2) // [... H T d]
	if cache != nil {
		k, v = cache.append(k, v, start)
	}
	out := tensor.Attention(q, k, v, tensor.AttentionSettings{Causal: true})
	return a.OutputProj.Forward(out.Transpose(-3, -2).Flatten(-2, -1))
}

// split takes [... T H·d] to [... T H d].
func split(x *tensor.Tensor, heads int) *tensor.Tensor { return x.Unflatten(-1, heads, -1) }
