package tokenizer

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// same says whether two tokenizers have the same vocabulary and give the same ids.
func same(t *testing.T, got, want *BPE) {
	t.Helper()
	if got.VocabSize() != want.VocabSize() || !reflect.DeepEqual(got.Special(), want.Special()) || !slices.Equal(got.Merges(), want.Merges()) {
		t.Fatalf("vocabulary differs: %d and %d tokens, special %v and %v", got.VocabSize(), want.VocabSize(), got.Special(), want.Special())
	}
	if got.Pattern().String() != want.Pattern().String() {
		t.Fatalf("pattern %v, want %v", got.Pattern(), want.Pattern())
	}
	for _, text := range slices.Concat(languages, awkward) {
		if a, b := got.Encode(text), want.Encode(text); !slices.Equal(a, b) {
			t.Fatalf("ids of %q: %v, want %v", text, a, b)
		}
	}
}

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	trainedBPE, err := TrainNaive(strings.Join(languages, "\n"), 300, TrainOptions{Pattern: CL100K, Special: []string{"<|endoftext|>", "\"quoted\" \u2028"}})
	if err != nil {
		t.Fatal(err)
	}
	own, err := Compile(`\w+|\W`)
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewBPE([]Merge{{'t', 'h', 500}}, own, nil)
	if err != nil {
		t.Fatal(err)
	}
	gpt2 := mustEmbedded(t, embeddedGPT2).ours
	for name, want := range map[string]*BPE{"trained": trainedBPE, "own pattern": other, "ranks": gpt2} {
		path := filepath.Join(dir, name+".json")
		if err := want.Save(path); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		var first, second bytes.Buffer
		if err := errors.Join(want.WriteJSON(&first), got.WriteJSON(&second)); err != nil || first.String() != second.String() {
			t.Errorf("%s: written again it is another file (%v)", name, err)
		}
	}
	// Without a pattern, too.
	lecture, err := TrainBPE("the cat in the hat", 3)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "lecture.json")
	if err := lecture.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil || got.Pattern() != nil || !slices.Equal(got.Merges(), lecture.Merges()) {
		t.Errorf("Load: %v, %v", got, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestGPT2Files(t *testing.T) {
	dir := t.TempDir()
	vocab, merges := filepath.Join(dir, "vocab.json"), filepath.Join(dir, "merges.txt")
	gpt2 := mustEmbedded(t, embeddedGPT2).ours
	small, err := TrainNaive(strings.Join(languages, "\n"), 300, TrainOptions{Pattern: GPT2, Special: []string{"<|endoftext|>"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []*BPE{gpt2, small} {
		if err := want.SaveGPT2(vocab, merges); err != nil {
			t.Fatal(err)
		}
		got, err := LoadGPT2(vocab, merges, GPT2)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	}
	text, err := os.ReadFile(merges)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "#version: 0.2\n") {
		t.Errorf("merges.txt begins with %q", text[:20])
	}
	if lines := strings.SplitN(string(text), "\n", 4); len(strings.Fields(lines[1])) != 2 {
		t.Errorf("second line is %q", lines[1])
	}

	two, err := NewBPE([]Merge{{'a', 'b', 256}, {'b', 'c', 257}, {256, 'c', 258}, {'a', 257, 259}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{two.SaveGPT2(vocab, merges), two.SaveTiktoken(vocab)} {
		var e *VocabError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), `258 and 259 both spell "abc"`) {
			t.Errorf("saving two tokens with the same bytes says %v", err)
		}
	}
}

func TestTiktokenFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tiktoken")
	special := map[string]int32{"<|endoftext|>": 50256}
	gpt2 := mustEmbedded(t, embeddedGPT2).ours
	if err := gpt2.SaveTiktoken(path); err != nil {
		t.Fatal(err)
	}
	got, err := LoadTiktoken(path, GPT2, special)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, gpt2)

	small, err := TrainNaive(strings.Join(languages, "\n"), 300, TrainOptions{Pattern: GPT2})
	if err != nil {
		t.Fatal(err)
	}
	if err := small.SaveTiktoken(path); err != nil {
		t.Fatal(err)
	}
	if got, err = LoadTiktoken(path, GPT2, nil); err != nil {
		t.Fatal(err)
	}
	same(t, got, small)
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	head := `{"format": "lectern bpe 1", "pattern": null, "special": {}`
	for _, c := range []struct{ text, want string }{
		{"", "the file is empty"},
		{"{", "ends in the middle"},
		{"{\n\n]", "file.json:3: invalid character"},
		{`{"format": "other"}`, `its format is "other"`},
		{`{"model": {}}`, `unknown field "model"`},
		{head + `,"merges": [[1,2,256],[1,2,257]]}`, "an earlier merge made them 256"},
		{head + `,"merges": [["a",2,256]]}`, "cannot unmarshal string"},
		{head + `,"merges": [[1,2,99999999999]]}`, "cannot unmarshal number"},
		{head + `,"bytes": [1]}`, "bytes has 1 id and needs 256"},
		{head + `,"ranks": [["IQ==", 0]]}`, "no token is the single byte 0x00"},
		{head + `,"ranks": [["IQ=", 0]]}`, "illegal base64"},
		{head + `,"ranks": [["IQ=="]]}`, "needs 2"},
		{head + `,"ranks": [], "merges": []}`, "contradict"},
		{head + `} {}`, "something follows"},
		{`{"format": "lectern bpe 1", "pattern": "(", "special": {}}`, "pattern"},
	} {
		_, err := Load(write("file.json", c.text))
		var e *FileError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "file.json") {
			t.Errorf("Load of %s says %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := Load(filepath.Join(dir, "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load of no file says %v", err)
	}

	// GPT-2's files
	tok, err := NewBPE([]Merge{{'a', 'b', 256}, {256, 'c', 257}}, GPT2, nil)
	if err != nil {
		t.Fatal(err)
	}
	good, merges := filepath.Join(dir, "vocab.json"), filepath.Join(dir, "merges.txt")
	if err := tok.SaveGPT2(good, merges); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ vocab, merges, want string }{
		{write("v.json", "{}"), merges, `v.json: it has no token "Ā" for byte 0x00`},
		{write("v2.json", "[]"), merges, "v2.json:1: json"},
		{good, write("m1.txt", "#version: 0.2\na b\nab d\n"), `m1.txt:3: token "abd" is not in the vocabulary`},
		{good, write("m2.txt", "ab c\na b\n"), `m2.txt:1: "ab c" joins a token that no earlier line makes`},
		{good, write("m3.txt", "a b c\n"), `m3.txt:1: "a b c" is not two tokens`},
		{good, write("m4.txt", "ab\n"), "not two tokens"},
		{good, write("m5.txt", "a\t b\n"), "stands for no byte"},
		{good, write("m6.txt", "a b\na b\n"), "an earlier merge made them 256"},
	} {
		_, err := LoadGPT2(c.vocab, c.merges, GPT2)
		var e *FileError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("LoadGPT2 says %v, want %q", err, c.want)
		}
	}

	// .tiktoken
	for _, c := range []struct{ text, want string }{
		{"IQ==0\n", "x.tiktoken:1: the line is not"},
		{"IQ== 0\n!!! 1\n", "x.tiktoken:2: token \"!!!\""},
		{"IQ== zero\n", "invalid syntax"},
		{"IQ== 99999999999\n", "value out of range"},
		{"IQ== 0\nIQ== 1\n", "ranks 0 and 1"},
		{"IQ== 0\nIg== 0\n", "both have id 0"},
		{"IQ== 2000000000\n", "no large gaps"},
		{" 0\n", "has 0 bytes"},
		{"", "no token is the single byte"},
	} {
		_, err := LoadTiktoken(write("x.tiktoken", c.text), GPT2, nil)
		var e *FileError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("LoadTiktoken of %q says %v, want %q", c.text, err, c.want)
		}
	}
}
