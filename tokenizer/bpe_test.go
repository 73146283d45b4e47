package tokenizer

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// encodeNaive is the lecture's encoder: it goes through all merges in order.
func encodeNaive(t *BPE, text string) []int32 {
	ids := []int32{}
	t.special.each(text, func(part string, id int32, special bool) {
		if special {
			ids = append(ids, id)
			return
		}
		t.pattern.each(part, func(piece string, _ bool) {
			p := Byte{}.Encode(piece)
			for _, m := range t.merges {
				p = mergePair(p, m)
			}
			ids = append(ids, p...)
		})
	})
	return ids
}

// TestEncodeMatchesNaive holds the encoder to the loop over all merges, on pieces short and long.
func TestEncodeMatchesNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, pattern := range []*Pattern{nil, GPT2, CL100K, Words} {
		o := TrainOptions{Pattern: pattern, Special: []string{"<|x|>", "<|x|>!"}}
		tok, err := TrainNaive(strings.Join(languages, "\n")+randomText(rng, 2000), 400, o)
		if err != nil {
			t.Fatal(err)
		}
		texts := slices.Concat(awkward, languages, []string{strings.Repeat("a", 1000), strings.Repeat(languages[0], 20)})
		for range 200 {
			texts = append(texts, randomText(rng, rng.IntN(400)))
		}
		for _, text := range texts {
			got, want := tok.Encode(text), encodeNaive(tok, text)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: ids of %q:\n got %v\nwant %v", pattern, text, got, want)
			}
			if again := tok.Encode(text); !slices.Equal(again, got) { // from the cache this time
				t.Fatalf("%v: ids of %q the second time: %v, first %v", pattern, text, again, got)
			}
			back, err := tok.DecodeBytes(got)
			if err != nil || string(back) != text {
				t.Fatalf("%v: round trip of %q gives %q, %v", pattern, text, back, err)
			}
			if decoded := tok.Decode(got); decoded != DecodeUTF8([]byte(text)) {
				t.Fatalf("%v: Decode of the ids of %q gives %q", pattern, text, decoded)
			}
		}
	}
}

// TestLongEqualsShort compares the two ways of merging a piece, also with ranks whose merges overlap.
func TestLongEqualsShort(t *testing.T) {
	e := newEncoder(mustEmbedded(t, embeddedCL100K).ours)
	for _, text := range languages {
		if len(text) == 0 {
			continue
		}
		text = text[:min(len(text), longPiece)]
		short, long := e.merge(nil, text), e.mergeLong(nil, text)
		if !slices.Equal(short, long) {
			t.Errorf("%q: short gives %v, long %v", text, short, long)
		}
	}
}

func TestSpecialTokens(t *testing.T) {
	tok, err := NewBPE([]Merge{{'a', 'b', 256}}, GPT2, map[string]int32{"<|end|>": 300, "<|end|><|end|>": 301, "ab ": 302})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tok.VocabSize(), 303; got != want {
		t.Errorf("VocabSize = %d, want %d", got, want)
	}
	for _, c := range []struct {
		text string
		want []int32
	}{
		{"ab", []int32{256}},
		{"ab<|end|>ab", []int32{256, 300, 256}},
		{"<|end|><|end|><|end|>", []int32{301, 300}}, // the longer one first
		{"ab ab", []int32{302, 256}},
		{"<|end", Byte{}.Encode("<|end")},
		{"<|end|<|end|>", append(Byte{}.Encode("<|end|"), 300)},
	} {
		if got := tok.Encode(c.text); !slices.Equal(got, c.want) {
			t.Errorf("Encode(%q) = %v, want %v", c.text, got, c.want)
		}
		if got := tok.Decode(tok.Encode(c.text)); got != c.text {
			t.Errorf("round trip of %q gives %q", c.text, got)
		}
	}
	if got, want := tok.EncodeOrdinary("<|end|>"), (Byte{}).Encode("<|end|>"); !slices.Equal(got, want) {
		t.Errorf("EncodeOrdinary = %v, want %v", got, want)
	}
	_, err = tok.EncodeStrict("xy<|end|>")
	var e *SpecialTokenError
	if !errors.As(err, &e) || e.Token != "<|end|>" || e.Offset != 2 {
		t.Errorf("EncodeStrict says %v", err)
	}
	if ids, err := tok.EncodeStrict("xab"); err != nil || !slices.Equal(ids, []int32{'x', 256}) {
		t.Errorf("EncodeStrict = %v, %v", ids, err)
	}
	if got, want := tok.Special(), map[string]int32{"<|end|>": 300, "<|end|><|end|>": 301, "ab ": 302}; !reflect.DeepEqual(got, want) {
		t.Errorf("Special = %v, want %v", got, want)
	}
}

func TestUnknownIDs(t *testing.T) {
	bpe, err := NewBPE([]Merge{{'a', 'b', 256}}, nil, map[string]int32{"<|end|>": 300})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tok interface {
			Tokenizer
			DecodeBytes([]int32) ([]byte, error)
		}
		ids   []int32
		want  string
		index int
	}{
		{Character{}, []int32{'a', -1, 0x110000, 0xd800, 'b'}, "a\ufffd\ufffd\ufffdb", 1},
		{Byte{}, []int32{'a', 256, -1, 'b'}, "a\ufffd\ufffdb", 1},
		{NewWord(GPT2, "ab"), []int32{1, 2, -5, 0}, "ab\ufffd\ufffd<unk>", 1},
		{bpe, []int32{256, 300, 257, -1, math.MaxInt32, 'c'}, "ab<|end|>\ufffd\ufffd\ufffdc", 2},
		{bpe, []int32{0xf0, 0x9f, 400}, "\ufffd\ufffd", 2},
	} {
		if got := c.tok.Decode(c.ids); got != c.want {
			t.Errorf("%T.Decode(%v) = %q, want %q", c.tok, c.ids, got, c.want)
		}
		_, err := c.tok.DecodeBytes(c.ids)
		var e *UnknownIDError
		if !errors.As(err, &e) || e.Index != c.index || e.ID != c.ids[c.index] || e.Vocab != c.tok.VocabSize() {
			t.Errorf("%T.DecodeBytes(%v) says %v", c.tok, c.ids, err)
		}
	}
	if got, want := (Character{}).Encode("a\xff\xf0\x9fb"), []int32{'a', 0xfffd, 0xfffd, 'b'}; !slices.Equal(got, want) {
		t.Errorf("Character.Encode of broken UTF-8 = %v, want %v", got, want)
	}
}

func TestNewBPEErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		merges  []Merge
		special map[string]int32
		want    string
	}{
		{"unknown left", []Merge{{300, 'a', 256}}, nil, "no byte or earlier merge is token 300"},
		{"unknown right", []Merge{{'a', -1, 256}}, nil, "is token -1"},
		{"later token", []Merge{{257, 'a', 256}, {'a', 'b', 257}}, nil, "token 257"},
		{"pair twice", []Merge{{'a', 'b', 256}, {'a', 'b', 257}}, nil, "an earlier merge made them 256"},
		{"id twice", []Merge{{'a', 'b', 256}, {'c', 'd', 256}}, nil, `"ab" and "cd" both have id 256`},
		{"id of a byte", []Merge{{'a', 'b', 97}}, nil, "both have id 97"},
		{"negative id", []Merge{{'a', 'b', -256}}, nil, "id -256"},
		{"huge id", []Merge{{'a', 'b', 1 << 30}}, nil, "no large gaps"},
		{"empty special", nil, map[string]int32{"": 256}, "is empty"},
		{"special at a byte", nil, map[string]int32{"x": 97}, `which is token "a"`},
		{"negative special", nil, map[string]int32{"x": -1}, "count from 0"},
		{"two specials", nil, map[string]int32{"x": 256, "y": 256}, "both have id 256"},
	} {
		_, err := NewBPE(c.merges, nil, c.special)
		var e *VocabError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want a *VocabError with %q", c.name, err, c.want)
		}
	}
	// Two merges may make one token, as in files of other trainers.
	tok, err := NewBPE([]Merge{{'a', 'b', 256}, {'b', 'c', 257}, {256, 'c', 258}, {'a', 257, 258}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := tok.Encode("abc"); !slices.Equal(got, []int32{258}) {
		t.Errorf("Encode = %v", got)
	}
}

func TestDecodeUTF8(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"ok é 世 🌍", "ok é 世 🌍"},
		{"\xff", "\ufffd"},
		{"\xf0\x9f\x8c", "\ufffd"},             // one run, cut off
		{"\xf0\x9f\x8cX", "\ufffdX"},           // one run, then a letter
		{"\xc0\xaf", "\ufffd\ufffd"},           // c0 begins no character
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"}, // a surrogate
		{"\xe0\x80\x80", "\ufffd\ufffd\ufffd"}, // too long a spelling
		{"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
		{"\xe4\xbd\xe4\xbd\xa0", "\ufffd你"},
	} {
		if got := DecodeUTF8([]byte(c.in)); got != c.want {
			t.Errorf("DecodeUTF8(%q) = %q, want %q", c.in, got, c.want)
		}
		err := CheckUTF8([]byte(c.in))
		if (err == nil) != (c.in == c.want) {
			t.Errorf("CheckUTF8(%q) = %v", c.in, err)
		}
	}
	var e *InvalidUTF8Error
	if err := CheckUTF8([]byte("ok \xf0\x9f go")); !errors.As(err, &e) || e.Offset != 3 || string(e.Bytes) != "\xf0\x9f" {
		t.Errorf("CheckUTF8 says %v", err)
	}
}

func TestCompressionRatio(t *testing.T) {
	if got := CompressionRatio("abcd", []int32{1, 2}); got != 2 {
		t.Errorf("ratio = %v, want 2", got)
	}
	if got := CompressionRatio("", nil); !math.IsNaN(got) {
		t.Errorf("ratio of nothing = %v, want NaN", got)
	}
}

// TestCacheWords checks that no two words share a packed form and a length.
func TestCacheWords(t *testing.T) {
	type key struct {
		packedWord
		n int
	}
	seen := map[key]string{}
	for n := 2; n <= maxCachedBytes; n++ {
		for i := range n { // one byte differs at every place
			for _, b := range []byte{0, 1, 'a'} {
				word := []byte(strings.Repeat("x", n))
				word[i] = b
				k := key{pack(string(word)), n}
				if other, ok := seen[k]; ok && other != string(word) {
					t.Fatalf("%q and %q have the same form", other, word)
				}
				seen[k] = string(word)
			}
		}
	}
}

// TestVocabLimits checks that a few merges cannot ask for any amount of memory.
func TestVocabLimits(t *testing.T) {
	merges := []Merge{{'a', 'a', 256}}
	for id := int32(257); id < 300; id++ {
		merges = append(merges, Merge{id - 1, id - 1, id})
	}
	_, err := NewBPE(merges, nil, nil)
	var e *VocabError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "bytes in all") {
		t.Errorf("43 doublings say %v", err)
	}
}

func TestVocab(t *testing.T) {
	tok, err := NewBPE([]Merge{{'a', 'b', 256}, {256, 'c', 258}}, nil, map[string]int32{"<|end|>": 260})
	if err != nil {
		t.Fatal(err)
	}
	vocab := tok.Vocab()
	if len(vocab) != tok.VocabSize() || string(vocab['z']) != "z" || string(vocab[258]) != "abc" || vocab[257] != nil || string(vocab[260]) != "<|end|>" {
		t.Errorf("vocabulary of %d: %q", len(vocab), vocab[256:])
	}
	vocab[256][0] = 'x'
	if text, ok := tok.Token(256); string(text) != "ab" || !ok {
		t.Errorf("token 256 is %q after a change of the copy", text)
	}
	if text, ok := tok.Token(257); ok {
		t.Errorf("token 257 is %q", text)
	}
	if got := ShowTokens(tok.Vocab(), tok.Encode("abcab\n<|end|>é")); got != `abc|ab|\n|<|end|>|\xc3|\xa9` {
		t.Errorf("ShowTokens = %s", got)
	}
}

// TestKeptTokenizer checks that a tokenizer survives being handed from one cell of a notebook to the next.
func TestKeptTokenizer(t *testing.T) {
	trained, err := TrainNaive(strings.Join(languages, "\n"), 300, TrainOptions{Pattern: CL100K, Special: []string{"<|endoftext|>"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tok := range []*BPE{trained, mustEmbedded(t, embeddedGPT2).ours} {
		state := keepBPE(tok).(*bpeState)
		pattern := new(Pattern)
		restorePattern(pattern, keepPattern(state.Pattern))
		state.Pattern = pattern
		again := new(BPE)
		restoreBPE(again, state)
		same(t, again, tok)
	}
	if keepBPE(new(BPE)) == nil || keepPattern(new(Pattern)) == nil {
		t.Error("zero values give no state")
	}
}
