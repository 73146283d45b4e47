package tokenizer

import (
	_ "embed"
	"sync"
)

// gpt2Merges is GPT-2's published merges in their order, each as the ids of its two parts, of two bytes each, the low
// one first. OpenAI published them with the model under a modified MIT licence.
//
//go:embed gpt2.merges
var gpt2Merges string

var gpt2Vocabulary = sync.OnceValues(func() (*BPE, error) {
	var bytes [256]int32
	next := int32(0)
	for _, spelled := range []bool{true, false} { // first the bytes that GPT-2's files write as themselves
		for b, r := range byteToRune {
			if (r < 0x100) == spelled {
				bytes[b] = next
				next++
			}
		}
	}
	merges := make([]Merge, len(gpt2Merges)/4)
	id := func(at int) int32 { return int32(gpt2Merges[at]) | int32(gpt2Merges[at+1])<<8 }
	for i := range merges {
		merges[i] = Merge{Left: id(4 * i), Right: id(4*i + 2), ID: int32(256 + i)}
	}
	return newBPE(bytes, merges, GPT2, map[string]int32{"<|endoftext|>": int32(256 + len(merges))})
})

// NewGPT2 returns GPT-2's tokenizer with its published vocabulary of 50,257 tokens: 256 bytes, 50,000 merges and
// <|endoftext|>. It is built once; nobody can change it.
func NewGPT2() *BPE {
	t, err := gpt2Vocabulary()
	if err != nil {
		panic(err) // the merges are part of the program
	}
	return t
}
