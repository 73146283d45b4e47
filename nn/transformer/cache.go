package transformer

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// Cache holds the keys and values of tokens that a model has seen, so that the next one
// costs a pass over one token instead of the whole sequence. Its memory is allocated at
// once: 2·layers·B·K·positions·d elements.
type Cache struct {
	Length int // how many tokens it holds; make it smaller to go back

	layers []layerCache
	batch  int
	config Config
}

// layerCache is the part for one layer.
type layerCache struct{ keys, values *tensor.Tensor } // [B K positions d]

// NewCache returns an empty cache for a batch of sequences of up to positions tokens, in
// the dtype and on the device of the model; 0 positions means the model's whole context.
func (m *LM) NewCache(batch, positions int) *Cache {
	if positions == 0 {
		positions = m.config.Context
	}
	if batch < 1 || positions < 1 || positions > m.config.Context {
		fail(tensor.ErrValue, "new cache", fmt.Sprintf("%s of %s", humanize.Count(batch, "sequence"), humanize.Count(positions, "token")), fmt.Sprintf("give at least 1 of each, and at most the context of %s", humanize.Count(m.config.Context, "token")))
	}
	c := &Cache{batch: batch, config: m.config}
	for _, layer := range m.Layers {
		w := layer.Attn.KProj.Weight
		empty := func() *tensor.Tensor {
			return tensor.With(w.Dtype(), w.Device()).Zeros(batch, m.config.KVHeads, positions, m.config.HeadSize())
		}
		c.layers = append(c.layers, layerCache{empty(), empty()})
	}
	return c
}

// Bytes returns the memory that the cache takes.
func (c *Cache) Bytes() int {
	n := 0
	for _, l := range c.layers {
		n += l.keys.Bytes() + l.values.Bytes()
	}
	return n
}

// Next appends ids [B T] to those in the cache and returns the logits [B V] of what
// comes after the last. The first call, with the whole prompt, is called prefill; the
// calls with one token each are called decode. No graph is kept: there is no gradient.
//
// It panics, and leaves the cache unchanged, if the cache was made by a model of other
// sizes or for another batch, if it is full, or if an id is not in the vocabulary.
func (m *LM) Next(ids *tensor.Tensor, cache *Cache) *tensor.Tensor {
	m.checkCache(ids, cache)
	var logits *tensor.Tensor
	tensor.NoGrad(func() {
		x := m.residual("next", ids, cache)
		last := x.Narrow(-2, x.Size(-2)-1, 1).Squeeze(-2)
		logits = m.logits(m.LNFinal.Forward(last))
	})
	cache.Length += ids.Size(-1)
	return logits
}

func (m *LM) checkCache(ids *tensor.Tensor, cache *Cache) {
	switch {
	case cache == nil:
		fail(tensor.ErrValue, "next", "the cache is nil", "make one with NewCache")
	case ids.Dim() != 2 || ids.Size(0) != cache.batch || ids.Size(1) == 0:
		fail(tensor.ErrShape, "next", fmt.Sprintf("ids have shape %v and the cache is for %s", ids.Shape(), humanize.Count(cache.batch, "sequence")), "give [B T], with at least one token")
	case cache.config != m.config:
		fail(tensor.ErrValue, "next", "the cache was made by a model of other sizes", "make one with this model's NewCache")
	case cache.Length < 0 || cache.Length+ids.Size(1) > cache.layers[0].keys.Size(2):
		fail(tensor.ErrShape, "next", fmt.Sprintf("%s after the %d in the cache are more than the %d it has room for", humanize.Count(ids.Size(1), "token"), cache.Length, cache.layers[0].keys.Size(2)), "make a larger cache, or stop here")
	}
	for i, layer := range m.Layers {
		if w, k := layer.Attn.KProj.Weight, cache.layers[i].keys; w.Dtype() != k.Dtype() || w.Device() != k.Device() {
			fail(tensor.ErrDtype, "next", fmt.Sprintf("the cache is %s on %s and the model is %s on %s", k.Dtype(), k.Device(), w.Dtype(), w.Device()), "make a new cache after nn.To")
		}
	}
}

// append writes keys and values [... K T d] after the first start ones and returns all
// of them, as views of the cache.
func (l *layerCache) append(k, v *tensor.Tensor, start int) (keys, values *tensor.Tensor) {
	n := k.Size(-2)
	l.keys.Narrow(2, start, n).CopyFrom(k)
	l.values.Narrow(2, start, n).CopyFrom(v)
	return l.keys.Narrow(2, 0, start+n), l.values.Narrow(2, 0, start+n)
}

// Reorder makes sequence i of the batch continue what sequence from[i] was, as a search
// over several continuations needs. It panics unless from names a sequence of the cache
// for each one.
func (c *Cache) Reorder(from ...int) {
	if len(from) != c.batch || slices.Min(from) < 0 || slices.Max(from) >= c.batch {
		fail(tensor.ErrValue, "reorder", fmt.Sprintf("%v does not name one of %s for each", from, humanize.Count(c.batch, "sequence")), "")
	}
	tensor.NoGrad(func() {
		for _, l := range c.layers {
			for _, t := range []*tensor.Tensor{l.keys, l.values} {
				held := t.Narrow(2, 0, c.Length)
				held.CopyFrom(held.IndexSelect(0, from))
			}
		}
	})
}
