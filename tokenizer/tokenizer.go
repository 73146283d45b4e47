package tokenizer

import (
	"fmt"
	"math"
)

// Tokenizer is what the four tokenizers have in common.
type Tokenizer interface {
	// Encode returns the ids of a text. It accepts any string.
	Encode(text string) []int32
	// Decode returns the text of ids. It accepts any ids.
	Decode(ids []int32) string
	// VocabSize returns a number larger than every id that Encode can return: the rows that an
	// embedding table needs.
	VocabSize() int
}

// CompressionRatio returns the bytes of text per token: the higher, the shorter the sequences that a model has
// to read. It is NaN when there are no tokens.
func CompressionRatio(text string, ids []int32) float64 {
	if len(ids) == 0 {
		return math.NaN()
	}
	return float64(len(text)) / float64(len(ids))
}

// UnknownIDError reports an id that no token of the vocabulary has.
type UnknownIDError struct {
	ID    int32
	Index int // where the id is in the decoded list
	Vocab int // VocabSize of the tokenizer
}

func (e *UnknownIDError) Error() string {
	return fmt.Sprintf("tokenizer: decode: id %d at index %d names no token in this vocabulary of %d; were the ids made by another tokenizer?", e.ID, e.Index, e.Vocab)
}

// replacement is U+FFFD in UTF-8, what stands for anything that has no text.
const replacement = "\uFFFD"
