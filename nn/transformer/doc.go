// Package transformer has the language model that the primitives of this library add up
// to: a decoder-only Transformer with pre-normalization, rotary positions and a gated
// feed-forward layer, as in LLaMA and in the first assignment of CS336. The same code
// runs GPT-2, whose files [OpenGPT2] reads.
//
//	model := transformer.New(transformer.Config{
//		Vocabulary: 10_000, Context: 256, Layers: 4, Width: 256, Heads: 8,
//	})
//	loss := model.Loss(x, y)                       // ids [B T] and the ids that follow them
//	for id := range model.Generate(prompt, transformer.Sampling{Temperature: 0.8, TopP: 0.9}) {
//		fmt.Print(vocabulary.Decode([]int32{id}))
//	}
//
// Read it in this order:
//
//   - config.go: the sizes, and what follows from them
//   - model.go: ids → embeddings → blocks → logits
//   - attention.go: queries, keys, values, heads; rope.go: where a token is
//   - feedforward.go: what happens to each token alone
//   - cache.go: keys and values that are computed once, for generation
//   - generate.go, sample.go: one token after the other
//   - gpt2.go: weights under the names that GPT-2 has
//
// Shapes are written with B sequences in a batch, T tokens in a sequence, V ids in the
// vocabulary, D features of a token (the width), H heads of d = D/H features, and K heads
// of keys and values.
package transformer

import "github.com/lectern-go/lectern/tensor"

func fail(kind error, op, reason, hint string) {
	(&tensor.Error{Package: "transformer", Kind: kind, Op: op, Reason: reason, Hint: hint}).Panic()
}
