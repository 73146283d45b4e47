package tokenizer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lectern-go/lectern/tokenizer"
)

func ExampleCharacter() {
	var t tokenizer.Character
	fmt.Println(t.Encode("a🌍"))

	text := "Hello, 🌍! 你好!"
	ids := t.Encode(text)
	fmt.Println(t.Decode(ids) == text)
	fmt.Printf("%d tokens, %.3f bytes per token\n", len(ids), tokenizer.CompressionRatio(text, ids))
	n := tokenizer.AssignedCharacters() // grows with every version of Unicode
	fmt.Println("about 150 thousand characters:", n > 140_000 && n < 180_000)
	// Output:
	// [97 127757]
	// true
	// 13 tokens, 1.538 bytes per token
	// about 150 thousand characters: true
}

func ExampleByte() {
	var t tokenizer.Byte
	for _, id := range t.Encode("🌍") {
		fmt.Printf("%x ", id)
	}
	fmt.Println(t.VocabSize())

	text := "Hello, 🌍! 你好!"
	ids := t.Encode(text)
	fmt.Println(t.Decode(ids) == text, tokenizer.CompressionRatio(text, ids))
	fmt.Printf("%q\n", t.Decode([]int32{0xf0, 0x9f, 0x8c, 'a'})) // three of the four bytes, then a letter
	// Output:
	// f0 9f 8c 8d 256
	// true 1
	// "�a"
}

func ExamplePattern_Split() {
	text := "I'll say supercalifragilisticexpialidocious!"
	fmt.Printf("%q\n", tokenizer.Words.Split(text))
	fmt.Printf("%q\n", tokenizer.GPT2.Split(text))
	// Output:
	// ["I" "'" "ll" " " "say" " " "supercalifragilisticexpialidocious" "!"]
	// ["I" "'ll" " say" " supercalifragilisticexpialidocious" "!"]
}

func ExampleWord() {
	t := tokenizer.NewWord(tokenizer.GPT2, "the cat in the hat")
	ids := t.Encode("the cat in the supercalifragilisticexpialidocious hat")
	fmt.Println(ids, t.VocabSize())
	fmt.Println(t.Decode(ids))
	// Output:
	// [1 2 3 4 0 5] 6
	// the cat in the<unk> hat
}

// The lecture's example: three merges of "the cat in the hat".
func ExampleTrainBPE() {
	text := "the cat in the hat"
	t, err := tokenizer.TrainBPE(text, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range t.Merges() {
		token, _ := t.Token(m.ID)
		fmt.Printf("%d + %d -> %d %q\n", m.Left, m.Right, m.ID, token)
	}
	ids := t.Encode(text)
	fmt.Println(ids, tokenizer.CompressionRatio(text, ids))

	ids = t.Encode("the quick brown fox")
	fmt.Println(ids)
	fmt.Println(t.Decode(ids))
	// Output:
	// 116 + 104 -> 256 "th"
	// 256 + 101 -> 257 "the"
	// 257 + 32 -> 258 "the "
	// [258 99 97 116 32 105 110 32 258 104 97 116] 1.5
	// [258 113 117 105 99 107 32 98 114 111 119 110 32 102 111 120]
	// the quick brown fox
}

func ExampleSteps() {
	steps, err := tokenizer.Steps("the cat in the hat", 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range steps {
		fmt.Printf("%d pairs; %s\n", len(s.Counts), tokenizer.ShowTokens(s.Vocab, s.After))
	}
	fmt.Println(steps[2])
	// Output:
	// 13 pairs; th|e| |c|a|t| |i|n| |th|e| |h|a|t
	// 12 pairs; the| |c|a|t| |i|n| |the| |h|a|t
	// 11 pairs; the |c|a|t| |i|n| |the |h|a|t
	// counts: "the"+" " 2 " "+"c" 1 "c"+"a" 1 "a"+"t" 2 "t"+" " 1 " "+"i" 1 "i"+"n" 1 "n"+" " 1 " "+"the" 1 " "+"h" 1 "h"+"a" 1
	// merge:  "the"+" ", counted 2 times, becomes 258 "the "
	// tokens: the |c|a|t| |i|n| |the |h|a|t
}

func ExampleTrain() {
	corpus := strings.NewReader("low lower lowest<|endoftext|>new newer newest<|endoftext|>")
	t, err := tokenizer.Train(context.Background(), corpus, 6, tokenizer.TrainOptions{
		Pattern: tokenizer.GPT2,
		Special: []string{"<|endoftext|>"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := t.Encode("newer<|endoftext|>")
	for _, id := range ids {
		token, _ := t.Token(id)
		fmt.Printf("%d %q\n", id, token)
	}
	// Output:
	// 258 "ne"
	// 256 "we"
	// 114 "r"
	// 262 "<|endoftext|>"
}

func ExampleBPE_EncodeFile() {
	t, _ := tokenizer.TrainBPE("the cat in the hat", 3)
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "train.bin")
	n, err := t.EncodeFile(context.Background(), path, strings.NewReader("the hat"), tokenizer.StreamOptions{})
	fmt.Println(n, err)
	bytes, err := os.ReadFile(path)
	fmt.Println(bytes, err)
	// Output:
	// 4 <nil>
	// [2 1 0 0 104 0 0 0 97 0 0 0 116 0 0 0] <nil>
}
