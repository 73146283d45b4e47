package assignment

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tokenizer"
)

// trainCorpus trains as the assignment asks: a vocabulary of 500 with one special token,
// which leaves 243 merges.
func trainCorpus(t testing.TB) *tokenizer.BPE {
	file, err := os.Open("testdata/corpus.en")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	trained, err := tokenizer.Train(context.Background(), file, 500-256-1, tokenizer.TrainOptions{
		Pattern: tokenizer.GPT2, Ties: tokenizer.GreatestPair, Special: []string{endOfText},
	})
	if err != nil {
		t.Fatal(err)
	}
	return trained
}

// The assignment's limit is 1.5 s; here it takes about a hundredth of it.
func BenchmarkTrainBPE(b *testing.B) {
	for b.Loop() {
		trainCorpus(b)
	}
}

func TestTrainBPE(t *testing.T) {
	trained := trainCorpus(t)
	vocab := trained.Vocab()
	var merges [][2]string
	for _, line := range strings.Split(strings.TrimRight(text(t, "train-bpe-reference-merges.txt"), "\n"), "\n") {
		left, right, _ := strings.Cut(strings.TrimRight(line, "\r"), " ")
		merges = append(merges, [2]string{unspell(t, left), unspell(t, right)})
	}
	var got [][2]string
	for _, m := range trained.Merges() {
		got = append(got, [2]string{string(vocab[m.Left]), string(vocab[m.Right])})
	}
	if !slices.Equal(got, merges) {
		t.Errorf("the merges are %q, want %q", got, merges)
	}
	var reference map[string]int
	if err := json.Unmarshal([]byte(text(t, "train-bpe-reference-vocab.json")), &reference); err != nil {
		t.Fatal(err)
	}
	known, ids := map[string]bool{}, map[int]bool{}
	for spelled, id := range reference {
		known[unspell(t, spelled)], ids[id] = true, true
	}
	if len(vocab) != len(reference) {
		t.Errorf("the vocabulary has %d tokens, want %d", len(vocab), len(reference))
	}
	for id, token := range vocab {
		if !known[string(token)] || !ids[id] {
			t.Errorf("token %d, %q, is not in the reference", id, token)
		}
	}
}

// unspell undoes GPT-2's spelling of bytes as printable characters: those that print
// stand for themselves, the others for the characters from U+0100 on.
func unspell(t *testing.T, s string) string {
	var b strings.Builder
	for _, r := range s {
		at := slices.Index(spelling(), r)
		if at < 0 {
			t.Fatalf("%q spells no byte", r)
		}
		b.WriteByte(byte(at))
	}
	return b.String()
}

func spelling() []rune {
	all, next := make([]rune, 256), rune(256)
	for i := range all {
		if r := rune(i); r >= '!' && r <= '~' || r >= '¡' && r <= '¬' || r >= '®' {
			all[i] = r
			continue
		}
		all[i] = next
		next++
	}
	return all
}
