package tokenizer

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
)

var fuzzTokenizers = sync.OnceValues(func() ([]*BPE, error) {
	var list []*BPE
	for _, p := range []*Pattern{nil, GPT2, CL100K, Words} {
		t, err := TrainNaive(strings.Join(languages, "\n"), 200, TrainOptions{Pattern: p, Special: []string{"<|x|>"}})
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
})

// FuzzRoundTrip checks that every string survives, that the encoder agrees with the loop over all merges, and that a
// stream gives the same ids.
func FuzzRoundTrip(f *testing.F) {
	for _, text := range slices.Concat(awkward, languages) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := fuzzTokenizers()
		if err != nil {
			t.Fatal(err)
		}
		for _, tok := range list {
			ids := tok.Encode(text)
			if want := encodeNaive(tok, text); !slices.Equal(ids, want) {
				t.Fatalf("%v: ids %v, want %v", tok.pattern, ids, want)
			}
			if back, err := tok.DecodeBytes(ids); err != nil || string(back) != text {
				t.Fatalf("%v: round trip of %q gives %q, %v", tok.pattern, text, back, err)
			}
			var streamed []int32
			_, err := tok.EncodeStream(context.Background(), strings.NewReader(text), func(part []int32) error {
				streamed = append(streamed, part...)
				return nil
			}, StreamOptions{Workers: 1})
			if err != nil || !slices.Equal(streamed, ids) {
				t.Fatalf("%v: stream gives %v, %v; want %v", tok.pattern, streamed, err, ids)
			}
		}
		if back, err := (Byte{}).DecodeBytes(Byte{}.Encode(text)); err != nil || string(back) != text {
			t.Fatalf("bytes: %q, %v", back, err)
		}
		if got, want := (Character{}).Decode(Character{}.Encode(text)), DecodeUTF8([]byte(text)); got != want {
			t.Fatalf("characters: %q, want %q", got, want)
		}
	})
}

// FuzzDecode checks that any ids decode to valid UTF-8 without a panic.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{1, 2, 3, 255, 0, 0, 1, 4})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var ids []int32
		for ; len(raw) >= 2; raw = raw[2:] {
			ids = append(ids, int32(int16(raw[0])|int16(raw[1])<<8))
		}
		list, err := fuzzTokenizers()
		if err != nil {
			t.Fatal(err)
		}
		toks := []Tokenizer{Character{}, Byte{}, NewWord(Words, "a b c")}
		for _, tok := range list {
			toks = append(toks, tok)
		}
		for _, tok := range toks {
			if text := tok.Decode(ids); CheckUTF8([]byte(text)) != nil {
				t.Fatalf("%T: %q is not UTF-8", tok, text)
			}
		}
	})
}

// FuzzTrain holds the fast trainer to the loop.
func FuzzTrain(f *testing.F) {
	for _, text := range awkward {
		f.Add(text, uint8(10), false)
	}
	f.Fuzz(func(t *testing.T, text string, merges uint8, greatest bool) {
		for _, p := range []*Pattern{nil, GPT2} {
			o := TrainOptions{Pattern: p, Special: []string{"<|x|>"}}
			if greatest {
				o.Ties = GreatestPair
			}
			want, _ := TrainNaive(text, int(merges), o)
			got, _ := Train(context.Background(), strings.NewReader(text), int(merges), o)
			if !slices.Equal(got.Merges(), want.Merges()) {
				t.Fatalf("%v: %v, want %v", p, got.Merges(), want.Merges())
			}
		}
	})
}

// FuzzRead checks that files of any content give a working tokenizer or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format": "lectern bpe 1", "pattern": "\\w+|.", "special": {"<|x|>": 300}, "merges": [[97, 98, 256]]}`))
	f.Add([]byte(`{"format": "lectern bpe 1", "pattern": null, "special": {}, "ranks": [["IQ==", 0]]}`))
	f.Add([]byte("IQ== 0\nIg== 1\n"))
	f.Add([]byte("#version: 0.2\na b\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		try := func(tok *BPE, err error) {
			if (tok == nil) == (err == nil) {
				t.Fatalf("tokenizer %v and error %v", tok, err)
			}
			if tok == nil {
				return
			}
			text := "ab cab\xff"
			if back, err := tok.DecodeBytes(tok.Encode(text)); err != nil || string(back) != text {
				t.Fatalf("round trip gives %q, %v", back, err)
			}
		}
		try(ReadJSON(bytes.NewReader(raw)))
		try(ParseTiktoken(raw, GPT2, nil))
		if _, err := parseMerges(raw, map[string]int32{"a": 97, "b": 98, "ab": 256}, map[string]bool{"a": true, "b": true}); err != nil && err.Error() == "" {
			t.Fatal("an error without a text")
		}
	})
}
