package tokenizer_test

import (
	"slices"
	"testing"

	"github.com/lectern-go/lectern/kernel/persist"
	"github.com/lectern-go/lectern/kernel/persist/celltest"
	"github.com/lectern-go/lectern/tokenizer"
)

// TestFromCellToCell: a tokenizer that one cell of a notebook trains encodes the same in another, which is a process of
// its own.
func TestFromCellToCell(t *testing.T) {
	const text = "the cat sat on the mat<|end|> and the dog"
	train := func(t *testing.T) *tokenizer.BPE {
		options := tokenizer.TrainOptions{Pattern: tokenizer.GPT2, Special: []string{"<|end|>"}}
		b, err := tokenizer.TrainNaive("the theme of the cat that sat there", 12, options)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		bpe, none := train(t), (*tokenizer.BPE)(nil)
		persist.Def("bpe", &bpe, "none", &none)
	}, func(t *testing.T) {
		var bpe, none *tokenizer.BPE
		defer celltest.Begin("bpe", &bpe, "none", &none)()
		got, want := bpe.Encode(text), train(t).Encode(text)
		if !slices.Equal(got, want) || len(got) >= len(text) {
			t.Errorf("%v, want %v", got, want)
		}
		if none != nil {
			t.Error("a nil tokenizer is another one now")
		}
		if back := bpe.Decode(got); back != text {
			t.Errorf("decoded: %q", back)
		}
	})
}
