package assignment

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/tokenizer"
)

const endOfText = "<|endoftext|>"

// gpt2 is GPT-2's tokenizer, read from its two files as the assignment does. They are
// written from the table of internal/oracle, which has the same tokens.
var gpt2 = sync.OnceValue(func() *tokenizer.BPE {
	file, err := os.Open("../oracle/testdata/assets/gpt2.ranks.gz")
	must(err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	must(err)
	ranks, err := io.ReadAll(unzipped)
	must(err)
	table, err := tokenizer.ParseTiktoken(ranks, tokenizer.GPT2, map[string]int32{endOfText: 50256})
	must(err)
	dir, err := os.MkdirTemp("", "gpt2")
	must(err)
	defer os.RemoveAll(dir)
	vocab, merges := filepath.Join(dir, "vocab.json"), filepath.Join(dir, "merges.txt")
	must(table.SaveGPT2(vocab, merges))
	t, err := tokenizer.LoadGPT2(vocab, merges, tokenizer.GPT2)
	must(err)
	return t
})

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// texts are what the tests encode, besides the files.
var texts = map[string]string{
	"empty":                    "",
	"single character":         "s",
	"single unicode character": "🙃",
	"ascii string":             "Hello, how are you?",
	"unicode string":           "Héllò hôw are ü? 🙃",
	"special tokens":           "Héllò hôw <|endoftext|><|endoftext|> are ü? 🙃<|endoftext|>",
}

// read returns a text by its name here, or that of its file.
func read(t *testing.T, name string) string {
	if s, ok := texts[name]; ok {
		return s
	}
	return text(t, name)
}

// tiktokenIDs returns what tiktoken made of a text, with the special token allowed.
func tiktokenIDs(t *testing.T, name string) []int32 {
	var all map[string][]int32
	if err := json.Unmarshal([]byte(text(t, "tiktoken.json")), &all); err != nil {
		t.Fatal(err)
	}
	ids, ok := all[name]
	if !ok {
		t.Fatalf("tiktoken.json has no %q", name)
	}
	return ids
}

// roundtrip encodes without special tokens, and decodes.
func roundtrip(t *testing.T, name string) {
	t.Helper()
	want := read(t, name)
	if got := gpt2().Decode(gpt2().EncodeOrdinary(want)); got != want {
		t.Errorf("%q came back as %q", want, got)
	}
}

// matches compares ids with tiktoken's, and decodes.
func matches(t *testing.T, name string) []int32 {
	t.Helper()
	want := read(t, name)
	ids := gpt2().Encode(want)
	if answer := tiktokenIDs(t, name); !slices.Equal(ids, answer) {
		t.Errorf("%q is %v, and with tiktoken %v", want, ids, answer)
	}
	if got := gpt2().Decode(ids); got != want {
		t.Errorf("%q came back as %q", want, got)
	}
	return ids
}

// pieces decodes each id by itself.
func pieces(t *tokenizer.BPE, ids []int32) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = t.Decode([]int32{id})
	}
	return all
}

func count(all []string, s string) int {
	n := 0
	for _, x := range all {
		if x == s {
			n++
		}
	}
	return n
}

func TestRoundtripEmpty(t *testing.T) { roundtrip(t, "empty") }

func TestEmptyMatchesTiktoken(t *testing.T) {
	if ids := matches(t, "empty"); len(ids) != 0 {
		t.Errorf("nothing has the ids %v", ids)
	}
}

func TestRoundtripSingleCharacter(t *testing.T) { roundtrip(t, "single character") }

func TestSingleCharacterMatchesTiktoken(t *testing.T) {
	if got := pieces(gpt2(), matches(t, "single character")); !slices.Equal(got, []string{"s"}) {
		t.Errorf("the tokens are %q", got)
	}
}

func TestRoundtripSingleUnicodeCharacter(t *testing.T) { roundtrip(t, "single unicode character") }

func TestSingleUnicodeCharacterMatchesTiktoken(t *testing.T) { matches(t, "single unicode character") }

func TestRoundtripASCIIString(t *testing.T) { roundtrip(t, "ascii string") }

func TestASCIIStringMatchesTiktoken(t *testing.T) {
	got := pieces(gpt2(), matches(t, "ascii string"))
	if want := []string{"Hello", ",", " how", " are", " you", "?"}; !slices.Equal(got, want) {
		t.Errorf("the tokens are %q, want %q", got, want)
	}
}

func TestRoundtripUnicodeString(t *testing.T) { roundtrip(t, "unicode string") }

func TestUnicodeStringMatchesTiktoken(t *testing.T) { matches(t, "unicode string") }

func TestRoundtripUnicodeStringWithSpecialTokens(t *testing.T) {
	want := texts["special tokens"]
	ids := gpt2().Encode(want)
	if n := count(pieces(gpt2(), ids), endOfText); n != 3 {
		t.Errorf("%d of 3 special tokens were kept whole", n)
	}
	if got := gpt2().Decode(ids); got != want {
		t.Errorf("%q came back as %q", want, got)
	}
}

func TestUnicodeStringWithSpecialTokensMatchesTiktoken(t *testing.T) { matches(t, "special tokens") }

func TestOverlappingSpecialTokens(t *testing.T) {
	double := endOfText + endOfText
	tok, err := tokenizer.NewBPE(gpt2().Merges(), tokenizer.GPT2, map[string]int32{endOfText: 50256, double: 50257})
	if err != nil {
		t.Fatal(err)
	}
	want := "Hello, how <|endoftext|><|endoftext|> are you?<|endoftext|>"
	ids := tok.Encode(want)
	all := pieces(tok, ids)
	if count(all, endOfText) != 1 || count(all, double) != 1 {
		t.Errorf("the tokens are %q: the double one is not kept whole", all)
	}
	if got := tok.Decode(ids); got != want {
		t.Errorf("%q came back as %q", want, got)
	}
}

func TestAddressRoundtrip(t *testing.T)           { roundtrip(t, "address.txt") }
func TestAddressMatchesTiktoken(t *testing.T)     { matches(t, "address.txt") }
func TestGermanRoundtrip(t *testing.T)            { roundtrip(t, "german.txt") }
func TestGermanMatchesTiktoken(t *testing.T)      { matches(t, "german.txt") }
func TestTinyStoriesSampleRoundtrip(t *testing.T) { roundtrip(t, "tinystories_sample.txt") }
func TestTinyStoriesMatchesTiktoken(t *testing.T) { matches(t, "tinystories_sample.txt") }

// stream encodes a text that is read piece by piece.
func stream(t *testing.T, s string, o tokenizer.StreamOptions) []int32 {
	var all []int32
	_, err := gpt2().EncodeStream(context.Background(), lineReader{strings.NewReader(s)}, func(ids []int32) error {
		all = append(all, ids...)
		return nil
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// lineReader reads at most 100 bytes at a time, about a line as Python's files do.
type lineReader struct{ io.Reader }

func (r lineReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 100)]) }

func TestEncodeIterableTinyStoriesSampleRoundtrip(t *testing.T) {
	want := text(t, "tinystories_sample.txt")
	if got := gpt2().Decode(stream(t, want, tokenizer.StreamOptions{Ordinary: true})); got != want {
		t.Error("the text came back changed")
	}
}

func TestEncodeIterableTinyStoriesMatchesTiktoken(t *testing.T) {
	got := stream(t, text(t, "tinystories_sample.txt"), tokenizer.StreamOptions{})
	if want := tiktokenIDs(t, "tinystories_sample.txt"); !slices.Equal(got, want) {
		t.Errorf("the ids are not tiktoken's: %d, and %d", len(got), len(want))
	}
}

// stories is a text of 5 MB from the sample's sentences, in an order that repeats nothing
// for long.
func stories(t *testing.T) []byte {
	sentences := strings.SplitAfter(text(t, "tinystories_sample.txt"), ".")
	var b bytes.Buffer
	for i := 0; b.Len() < 5<<20; i = (i*31 + 7) % 100_003 {
		b.WriteString(sentences[i%len(sentences)])
	}
	return b.Bytes()
}

// growth returns by how much the memory that is in use, garbage apart, grows at most
// while f runs; f calls look now and then.
func growth(f func(look func())) int64 {
	live := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	before := live()
	var most int64
	f(func() { most = max(most, live()-before) })
	return most
}

const megabyte = 1_000_000

func TestEncodeIterableMemoryUsage(t *testing.T) {
	all := stories(t)
	gpt2().Encode("warm") // tables that the first call makes
	tokens, looks := 0, 0
	most := growth(func(look func()) {
		_, err := gpt2().EncodeStream(context.Background(), bytes.NewReader(all), func(ids []int32) error {
			if tokens += len(ids); tokens > looks*100_000 { // about ten times
				looks++
				look()
			}
			return nil
		}, tokenizer.StreamOptions{Workers: 1}) // as in the assignment: each further one has a cache of a megabyte
		if err != nil {
			t.Fatal(err)
		}
	})
	if most > megabyte {
		t.Errorf("encoding %d bytes as they are read takes %d bytes, more than a megabyte", len(all), most)
	}
	if looks < 5 {
		t.Errorf("memory was looked at %d times", looks)
	}
	runtime.KeepAlive(all)
}

// The assignment expects this one to fail, which shows that its measure sees memory.
func TestEncodeMemoryUsage(t *testing.T) {
	all := string(stories(t))
	most := growth(func(look func()) {
		ids := gpt2().Encode(all)
		look()
		runtime.KeepAlive(ids)
	})
	if most < megabyte {
		t.Errorf("encoding %d bytes at once takes %d bytes: the ids alone are more", len(all), most)
	}
}
