package transformer

import (
	"fmt"
	"iter"
	"slices"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// Generate continues a prompt, one id at a time: each is there as soon as it is chosen,
// so text can be shown while the rest of it is computed. The prompt is read once, then
// each token costs one pass; keys and values stay in a cache. The memory of each pass is
// freed.
//
//	for id := range model.Generate(vocabulary.Encode("Once upon a time"), transformer.Sampling{Max: 100}) {
//		fmt.Print(vocabulary.Decode([]int32{id}))
//	}
//
// It panics if the prompt is empty, is longer than the context or has an id that is not
// in the vocabulary, or if a setting makes no sense.
func (m *LM) Generate(prompt []int32, s Sampling) iter.Seq[int32] {
	s.check()
	room := m.config.Context - len(prompt)
	if len(prompt) == 0 || room < 0 {
		fail(tensor.ErrShape, "generate", fmt.Sprintf("the prompt has %s and the context %d", humanize.Count(len(prompt), "token"), m.config.Context), "give at least one, such as the end-of-text token, and at most the context")
	}
	for _, id := range prompt {
		if id < 0 || int(id) >= m.config.Vocabulary {
			fail(tensor.ErrValue, "generate", fmt.Sprintf("id %d of the prompt is not in the vocabulary of %d", id, m.config.Vocabulary), "encode the prompt with the tokenizer that the model was trained with")
		}
	}
	prompt = slices.Clone(prompt)
	n := room + 1 // the last token is chosen, but need not be read
	if s.Max > 0 {
		n = min(n, s.Max)
	}
	return func(yield func(int32) bool) {
		cache := m.NewCache(1, min(len(prompt)+n, m.config.Context))
		ids := prompt
		for range n {
			id := m.choose(ids, cache, s)
			if slices.Contains(s.Stop, id) || !yield(id) {
				return
			}
			ids = []int32{id}
		}
	}
}

// choose reads ids and returns the next one.
func (m *LM) choose(ids []int32, cache *Cache, s Sampling) (id int32) {
	tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) {
		x := tensor.With(m.TokenEmbeddings.Weight.Device()).Of(ids).View(1, -1)
		id = s.Choose(m.Next(x, cache).Squeeze(0))
	})
	return id
}
