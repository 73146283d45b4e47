package tokenizer

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func streamTokenizer(t testing.TB) *BPE {
	t.Helper()
	tok, err := TrainNaive(strings.Join(languages, "\n"), 200, TrainOptions{Pattern: GPT2, Special: []string{"<|x|>"}})
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// longText is a few blocks of text.
func longText(n int) string {
	rng := rand.New(rand.NewPCG(11, 12))
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(languages[rng.IntN(len(languages))])
		b.WriteString([]string{" ", "\n", "<|x|>", "  \n"}[rng.IntN(4)])
	}
	return b.String()
}

func TestEncodeStream(t *testing.T) {
	tok := streamTokenizer(t)
	text := longText(blockSize)
	for _, o := range []StreamOptions{{}, {Workers: 1}, {Workers: 5}, {Ordinary: true}} {
		want := tok.Encode(text)
		if o.Ordinary {
			want = tok.EncodeOrdinary(text)
		}
		var last Progress
		o.Progress = func(p Progress) { last = p }
		var got []int32
		n, err := tok.EncodeStream(context.Background(), strings.NewReader(text), func(ids []int32) error {
			got = append(got, ids...)
			return nil
		}, o)
		if err != nil || n != int64(len(want)) || !slices.Equal(got, want) {
			t.Errorf("%d workers: %d ids, error %v, want %d ids", o.Workers, n, err, len(want))
		}
		if last.Stage != "encode" || last.Done != int64(len(text)) || last.Total != int64(len(text)) || last.Rate <= 0 {
			t.Errorf("last progress is %v, want all of %d bytes", last, len(text))
		}
	}
	lecture, err := TrainBPE("the cat in the hat", 3)
	if err != nil {
		t.Fatal(err)
	}
	var got []int32
	_, err = lecture.EncodeStream(context.Background(), strings.NewReader(text), func(ids []int32) error {
		got = append(got, ids...)
		return nil
	}, StreamOptions{})
	if err != nil || !slices.Equal(got, lecture.Encode(text)) {
		t.Errorf("without a pattern: %d ids, %v", len(got), err)
	}
}

func TestEncodeStreamErrors(t *testing.T) {
	before := runtime.NumGoroutine()
	tok := streamTokenizer(t)
	text := longText(2 * blockSize)
	broken := errors.New("broken")
	keep := func([]int32) error { return nil }

	_, err := tok.EncodeStream(context.Background(), io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), keep, StreamOptions{})
	if !errors.Is(err, broken) {
		t.Errorf("an error of the reader becomes %v", err)
	}
	calls := 0
	n, err := tok.EncodeStream(context.Background(), strings.NewReader(text), func([]int32) error { calls++; return broken }, StreamOptions{})
	if !errors.Is(err, broken) || calls != 1 || n != 0 {
		t.Errorf("an error of emit becomes %v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	_, err = tok.EncodeStream(ctx, strings.NewReader(text), func([]int32) error { cancel(broken); return nil }, StreamOptions{})
	if !errors.Is(err, broken) {
		t.Errorf("a canceled context becomes %v", err)
	}
	_, err = tok.EncodeStream(context.Background(), stuck{}, keep, StreamOptions{})
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing becomes %v", err)
	}
	for runtime.NumGoroutine() > before { // they end soon after; if one doesn't, the end of the tests' time shows it
		time.Sleep(10 * time.Millisecond)
	}
}

// stuck is a reader that never has anything.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestEncodeFile(t *testing.T) {
	tok := streamTokenizer(t)
	text := longText(blockSize)
	path := filepath.Join(t.TempDir(), "tokens.bin")
	n, err := tok.EncodeFile(context.Background(), path, strings.NewReader(text), StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []int32
	for i := 0; i < len(raw); i += 4 {
		got = append(got, int32(binary.LittleEndian.Uint32(raw[i:])))
	}
	if want := tok.Encode(text); n != int64(len(want)) || !slices.Equal(got, want) {
		t.Errorf("the file has %d ids, want %d", len(got), len(want))
	}
	// An error leaves the old file and nothing else.
	_, err = tok.EncodeFile(context.Background(), path, iotest.ErrReader(errors.New("broken")), StreamOptions{})
	if err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("error is %v", err)
	}
	again, err := os.ReadFile(path)
	if err != nil || !slices.Equal(again, raw) {
		t.Errorf("the old file changed (%v)", err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
	if _, err := tok.EncodeFile(context.Background(), filepath.Join(path, "x"), strings.NewReader(""), StreamOptions{}); err == nil {
		t.Error("a file below a file is written without an error")
	}
}

func TestEncodeBatch(t *testing.T) {
	tok := streamTokenizer(t)
	var want [][]int32
	for _, text := range languages {
		want = append(want, tok.Encode(text))
	}
	for _, n := range []int{0, 1, 3, 100} {
		if got := tok.EncodeBatch(languages, n); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers give other ids", n)
		}
	}
	if got := tok.EncodeBatch(nil, 0); len(got) != 0 {
		t.Errorf("no texts give %v", got)
	}
}

func TestTrainStops(t *testing.T) {
	// While merging: what was learned comes back.
	broken := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	o := TrainOptions{Pattern: GPT2, Special: []string{"<|x|>"}, Progress: func(p Progress) {
		if p.Stage == "read" {
			cancel(broken)
		}
	}}
	tok, err := Train(ctx, strings.NewReader(longText(1000)), 100, o)
	if !errors.Is(err, broken) || tok == nil || len(tok.Merges()) != 0 || tok.VocabSize() != 257 {
		t.Errorf("canceled after reading: %v, %v", tok, err)
	}
	// While reading: nothing.
	tok, err = Train(ctx, strings.NewReader(longText(1000)), 100, o)
	if !errors.Is(err, broken) || tok != nil {
		t.Errorf("canceled before reading: %v, %v", tok, err)
	}
	_, err = Train(context.Background(), iotest.ErrReader(broken), 1, TrainOptions{})
	if !errors.Is(err, broken) {
		t.Errorf("an error of the reader becomes %v", err)
	}
	// Too few pairs: all there are.
	tok, err = TrainBPE("abc", 5)
	var few *TooFewPairsError
	if !errors.As(err, &few) || few.Asked != 5 || few.Learned != 2 || len(tok.Merges()) != 2 {
		t.Errorf("too many merges: %v, %v", tok, err)
	}
	for _, c := range []struct {
		merges int
		o      TrainOptions
		want   string
	}{
		{-1, TrainOptions{}, "merges"},
		{1, TrainOptions{Ties: 7}, "Ties"},
		{1, TrainOptions{Special: []string{"a", ""}}, "token 1 is empty"},
		{1, TrainOptions{Special: []string{"a", "a"}}, `lists "a" twice`},
	} {
		_, err := Train(context.Background(), strings.NewReader("text"), c.merges, c.o)
		_, naiveErr := TrainNaive("text", c.merges, c.o)
		var e *OptionError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || naiveErr == nil || naiveErr.Error() != err.Error() {
			t.Errorf("options %v: %v and %v, want %q", c.o, err, naiveErr, c.want)
		}
	}
}

// TestTrainWorkers checks that the number of goroutines does not change the merges.
func TestTrainWorkers(t *testing.T) {
	text := longText(2 * blockSize)
	var want []Merge
	for _, n := range []int{1, 2, 7} {
		tok, err := Train(context.Background(), strings.NewReader(text), 300, TrainOptions{Pattern: CL100K, Special: []string{"<|x|>"}, Workers: n})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = tok.Merges()
		}
		if !slices.Equal(tok.Merges(), want) {
			t.Errorf("%d workers give other merges", n)
		}
	}
}

func TestProgressString(t *testing.T) {
	for _, c := range []struct {
		p    Progress
		want string
	}{
		{Progress{Stage: "merge", Done: 1200, Total: 10000, Rate: 4021}, "merge: 1200 of 10000, 4021/s"},
		{Progress{Stage: "read", Done: 12_300_000, Rate: 1e6}, "read: 12.3 MB, 1.0 MB/s"},
		{Progress{Stage: "encode", Done: 12_300_000, Total: 50_000_000, Rate: 1e6}, "encode: 12.3 of 50.0 MB, 1.0 MB/s"},
	} {
		if got := c.p.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
