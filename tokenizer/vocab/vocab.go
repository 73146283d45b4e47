// Package vocab has vocabularies that were published with models. They are separate from package tokenizer, so
// that programs that train their own don't carry them.
package vocab

import (
	_ "embed"
	"encoding/base64"
	"strconv"
	"sync"

	"github.com/lectern-go/lectern/tokenizer"
)

// merges are those of GPT-2 in order, each as the ids of its two parts, with two bytes each, the low one first.
// OpenAI published them with the model, (c) 2019, under a modified MIT license.
//
//go:embed gpt2.merges
var merges string

// gpt2 writes the vocabulary as a .tiktoken file and has that parsed: in that format, bytes may have any ids.
var gpt2 = sync.OnceValues(func() (*tokenizer.BPE, error) {
	tokens := make([]string, 0, 256+len(merges)/4)
	for _, printable := range []bool{true, false} { // GPT-2 numbers printable bytes first
		for b := range 256 {
			if (b >= '!' && b <= '~' || b >= 0xa1 && b != 0xad) == printable {
				tokens = append(tokens, string([]byte{byte(b)}))
			}
		}
	}
	for i := 0; i < len(merges); i += 4 {
		left, right := int(merges[i])|int(merges[i+1])<<8, int(merges[i+2])|int(merges[i+3])<<8
		tokens = append(tokens, tokens[left]+tokens[right])
	}
	var text []byte
	for id, token := range tokens {
		text = base64.StdEncoding.AppendEncode(text, []byte(token))
		text = append(strconv.AppendInt(append(text, ' '), int64(id), 10), '\n')
	}
	return tokenizer.ParseTiktoken(text, tokenizer.GPT2, map[string]int32{"<|endoftext|>": int32(len(tokens))})
})

// GPT2 returns GPT-2's tokenizer, with its 50,257 tokens: 256 bytes, 50,000 merges and <|endoftext|>. It is made once
// and never changes.
func GPT2() *tokenizer.BPE {
	t, err := gpt2()
	if err != nil {
		panic(err) // the merges are part of the program
	}
	return t
}
