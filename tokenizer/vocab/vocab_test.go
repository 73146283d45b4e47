package vocab_test

import (
	"slices"
	"testing"

	tiktoken "github.com/tiktoken-go/tokenizer"

	"github.com/lectern-go/lectern/tokenizer/vocab"
)

// The vocabulary that is shipped is the published one, which tiktoken-go calls r50k_base.
func TestGPT2(t *testing.T) {
	peer, err := tiktoken.Get(tiktoken.R50kBase)
	if err != nil {
		t.Fatal(err)
	}
	ours := vocab.GPT2()
	if ours.VocabSize() != 50257 {
		t.Errorf("%d tokens", ours.VocabSize())
	}
	for id := range int32(50256) {
		got, ok := ours.Token(id)
		if want, err := peer.Decode([]uint{uint(id)}); err != nil || !ok || string(got) != want {
			t.Fatalf("token %d is %q, and %q in tiktoken (%v)", id, got, want, err)
		}
	}
	for _, text := range []string{"", "a", " leading, trailing  \n ", "I'll say supercalifragilisticexpialidocious!", "12345 + 6789",
		"Кошка сидит в шляпе, а на улице идёт дождь.", "猫が帽子の中に座っていて、外は雨です。", "🐈‍⬛🎩", "func main() {\n\tfmt.Println()\r\n\n}"} {
		ids, _, err := peer.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]int32, len(ids))
		for i, id := range ids {
			want[i] = int32(id)
		}
		if got := ours.Encode(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, in tiktoken %v", text, got, want)
		}
	}
	if got := ours.Encode("Hello, world<|endoftext|>"); !slices.Equal(got, []int32{15496, 11, 995, 50256}) {
		t.Errorf("Hello, world: %v", got)
	}
}
