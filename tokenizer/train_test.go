package tokenizer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// awkward are texts that break tokenizers.
var awkward = []string{
	"", "a", "aa", "aaa", "aaaa", "aaaaaaaa", "abab", "ababab", "aabaab", "abcabcabc",
	"the cat in the hat", "low low low low low lower lower widest widest widest newest newest newest newest newest newest",
	"Hello, 🌍! 你好!", "안녕하세요 👋 (hello in Korean!) 😉", "\x00\x00\x00", "\xff\xfe\xf0\x9f\x8c plain",
	"I'll say supercalifragilisticexpialidocious!", "   lots   of \t\t space \n\n\n here  ", "１２３ 123456789 ½ Ⅷ", "it's IT'S ſ'ſ we'Ve",
	"<|endoftext|>", "a<|endoftext|><|endoftext|>b<|pad|>", "你好。\n\n世界。\n  再见", "x \u00a0\u2003 y\u0085z", "e\u0301e\u0301 \u200d\u200c",
}

// randomText returns text with many repetitions over a few letters.
func randomText(rng *rand.Rand, n int) string {
	alphabet := []string{"a", "b", "ab", "c", " ", "  ", "\n", "é", "世", "1", "!", "'s", "<|x|>", "."}
	alphabet = alphabet[:1+rng.IntN(len(alphabet))]
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(alphabet[rng.IntN(len(alphabet))])
	}
	return b.String()
}

// TestTrainMatchesNaive holds the fast trainer to the loop: same merges, same errors.
func TestTrainMatchesNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := append([]string(nil), awkward...)
	for range 60 {
		texts = append(texts, randomText(rng, rng.IntN(300)))
	}
	own, err := Compile(`[a-c]+|\s`)
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []*Pattern{nil, GPT2, CL100K, Words, own} {
		for _, ties := range []Ties{FirstCounted, GreatestPair} {
			for _, special := range [][]string{nil, {"<|endoftext|>", "<|x|>"}} {
				o := TrainOptions{Pattern: pattern, Ties: ties, Special: special, Workers: 3}
				for _, text := range texts {
					merges := rng.IntN(60)
					o.MinCount = int64(rng.IntN(3))
					want, wantErr := TrainNaive(text, merges, o)
					got, gotErr := Train(context.Background(), iotest.OneByteReader(strings.NewReader(text)), merges, o)
					if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
						t.Fatalf("%v, %v, %q: Train says %v, TrainNaive %v", pattern, ties, text, gotErr, wantErr)
					}
					if !reflect.DeepEqual(got.Merges(), want.Merges()) {
						t.Fatalf("%v, %v, %q: Train gives %v, TrainNaive %v", pattern, ties, text, got.Merges(), want.Merges())
					}
					if back := got.Decode(got.Encode(text)); back != DecodeUTF8([]byte(text)) {
						t.Fatalf("%v: round trip of %q gives %q", pattern, text, back)
					}
				}
			}
		}
	}
}

// TestBlocks checks that the size of the blocks in which a corpus is read does not change its pieces.
func TestBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	special, err := newSpecials(map[string]int32{"<|x|>": 0, "a b": 1, "\n\n": 2, "。\n": 3})
	if err != nil {
		t.Fatal(err)
	}
	none, _ := newSpecials(nil)
	own, _ := Compile(`\s+|\S`)
	alphabet := []string{"a", "B", " ", "  ", "\n", "\r\n", "\t", "。", "'s", "'", "1", "22", "世", "\u00a0", "\u0085", "<|x|>", "<|", "|>", "!", "\xff", "\u2003"}
	for _, pattern := range []*Pattern{nil, GPT2, CL100K, Words, own} {
		for _, s := range []*specials{&none, &special} {
			for range 1000 {
				var b strings.Builder
				for range rng.IntN(40) {
					b.WriteString(alphabet[rng.IntN(len(alphabet))])
				}
				text := b.String()
				want := pieces(text, pattern, s)
				r := blockReader{r: iotest.HalfReader(strings.NewReader(text)), pattern: pattern, special: s, size: 1 + rng.IntN(12)}
				var got []string
				for {
					block, err := r.next(context.Background())
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, pieces(block, pattern, s)...)
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%v: %q in blocks of %d gives %q, in one %q", pattern, text, r.size, got, want)
				}
			}
		}
	}
}

func pieces(text string, pattern *Pattern, s *specials) []string {
	var list []string
	s.each(text, func(part string, _ int32, special bool) {
		if special {
			list = append(list, "special "+part)
			return
		}
		pattern.each(part, func(piece string, _ bool) { list = append(list, piece) })
	})
	return list
}
