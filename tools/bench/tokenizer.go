package bench

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/tokenizer"
)

//go:embed tokenizer.py
var tokenizerPeers string

// How much text the cases work on. The loop of minbpe takes time proportional to text and merges, so it gets little.
const (
	trainBytes, trainMerges = 50_000_000, 10_000
	loopBytes, loopMerges   = 200_000, 200
	encodeBytes             = 10_000_000
)

func init() {
	register("peers", "tokenizer", "training and encoding beside Hugging Face tokenizers, tiktoken and minbpe, on the sources of Go", tokenizerGroup)
	children["tokenizer-train"] = tokenizerTrain
	children["tokenizer-loop"] = tokenizerLoop
	children["tokenizer-encode"] = tokenizerEncode
}

func tokenizerGroup(ctx context.Context, r *report) error {
	dir, err := os.MkdirTemp("", "lectern-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	train, loop, encode := filepath.Join(dir, "train.txt"), filepath.Join(dir, "loop.txt"), filepath.Join(dir, "encode.txt")
	if err := goSources(ctx, map[string]int{train: trainBytes, loop: loopBytes, encode: encodeBytes}); err != nil {
		return err
	}

	minbpe := []string(nil) // the loop written again needs no packages
	if os.Getenv("LECTERN_MINBPE") != "" {
		minbpe = []string{"regex", "tiktoken==0.14.0"}
	}
	var failures []error
	for _, c := range []struct {
		peer     string
		packages []string
		compare  func(py string) error
	}{
		{"minbpe", minbpe, func(py string) error { return compareLoop(ctx, r, py, loop) }},
		{"Hugging Face tokenizers", []string{"tokenizers==0.23.3"}, func(py string) error { return compareTraining(ctx, r, py, train) }},
		{"tiktoken", []string{"tiktoken==0.14.0"}, func(py string) error { return compareEncoding(ctx, r, py, encode, dir) }},
	} {
		py, err := python(ctx, c.packages...)
		if err != nil {
			r.absent(c.peer, err)
			continue
		}
		if err := c.compare(py); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", c.peer, err))
		}
	}
	return errors.Join(failures...)
}

// peer is a side that runs in Python.
func peer(ctx context.Context, py string, threads int, args ...string) side {
	env := []string{fmt.Sprintf("RAYON_NUM_THREADS=%d", threads), "TOKENIZERS_PARALLELISM=true"}
	return theirs(ctx, py, tokenizerPeers, env, args...)
}

func compareLoop(ctx context.Context, r *report, py, path string) error {
	name := "minbpe"
	if os.Getenv("LECTERN_MINBPE") == "" {
		name = "minbpe's loop"
		r.note("minbpe is no package: its loop is written again in Python; LECTERN_MINBPE may name a folder with the real one")
	}
	best, _, last, err := alternate(r,
		ours(ctx, 1, "tokenizer-loop", path),
		peer(ctx, py, 1, "loop", path, fmt.Sprint(loopMerges)))
	if err != nil {
		return err
	}
	if !slices.Equal(last[0].Merges, last[1].Merges) {
		return errors.New("the two sides learned different merges")
	}
	what := fmt.Sprintf("train %d merges on %.1f MB, no pattern", loopMerges, loopBytes/1e6)
	r.compare(what, best[0], name, best[1], "s", less, 100)
	return nil
}

func compareTraining(ctx context.Context, r *report, py, path string) error {
	best, peak, last, err := alternate(r,
		ours(ctx, r.threads, "tokenizer-train", path),
		peer(ctx, py, r.threads, "train", path, fmt.Sprint(trainMerges)))
	if err != nil {
		return err
	}
	what := fmt.Sprintf("train %d merges on %d MB, %d threads", trainMerges, trainBytes/1_000_000, r.threads)
	r.compare(what, best[0], "tokenizers", best[1], "s", less, 1)
	if peak[0] > 0 && peak[1] > 0 {
		r.compare("  most memory held", float64(peak[0])/1e6, "tokenizers", float64(peak[1])/1e6, "MB", less, 0)
	}
	common := 0
	for _, token := range last[0].Tokens {
		if _, ok := slices.BinarySearch(last[1].Tokens, token); ok {
			common++
		}
	}
	r.note("  %d of %d tokens are the same (tokenizers reads line by line and breaks ties its own way)", common, len(last[0].Tokens))
	return nil
}

func compareEncoding(ctx context.Context, r *report, py, path, dir string) error {
	root, err := repository()
	if err != nil {
		return err
	}
	for _, name := range []string{"gpt2", "cl100k_base"} {
		ranks, about := filepath.Join(dir, name+".ranks"), filepath.Join(dir, name+".json")
		for _, file := range []string{ranks, about} {
			packed := filepath.Join(root, "internal", "oracle", "testdata", "assets", filepath.Base(file)+".gz")
			if err := unpack(packed, file); err != nil {
				return err
			}
		}
		best, peak, last, err := alternate(r,
			ours(ctx, 1, "tokenizer-encode", path, ranks, about),
			peer(ctx, py, 1, "encode", path, ranks, about))
		if err != nil {
			return err
		}
		if last[0].Sum != last[1].Sum {
			return fmt.Errorf("%s: the two sides give different ids", name)
		}
		what := fmt.Sprintf("encode %d MB by %s, 1 thread", encodeBytes/1_000_000, name)
		r.compare(what, encodeBytes/1e6/best[0], "tiktoken", encodeBytes/1e6/best[1], "MB/s", more, 1)
		if peak[0] > 0 && peak[1] > 0 {
			r.compare("  most memory held", float64(peak[0])/1e6, "tiktoken", float64(peak[1])/1e6, "MB", less, 0)
		}
	}
	return nil
}

func tokenizerTrain(args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	start := time.Now()
	t, err := tokenizer.Train(context.Background(), f, trainMerges, tokenizer.TrainOptions{Pattern: tokenizer.GPT2})
	answer := measured{Seconds: time.Since(start).Seconds(), Peak: peakBytes()}
	if err != nil {
		return err
	}
	answer.Tokens, err = spelledTokens(t)
	if err != nil {
		return err
	}
	return answer.print()
}

// spelledTokens returns the tokens as GPT-2's files write them, sorted.
func spelledTokens(t *tokenizer.BPE) ([]string, error) {
	dir, err := os.MkdirTemp("", "lectern-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	vocab := filepath.Join(dir, "vocab.json")
	if err := t.SaveGPT2(vocab, filepath.Join(dir, "merges.txt")); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(vocab)
	if err != nil {
		return nil, err
	}
	ids := map[string]int32{}
	if err := json.Unmarshal(text, &ids); err != nil {
		return nil, err
	}
	var tokens []string
	for token := range ids {
		tokens = append(tokens, token)
	}
	slices.Sort(tokens)
	return tokens, nil
}

func tokenizerLoop(args []string) error {
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	start := time.Now()
	t, err := tokenizer.TrainBPE(string(text), loopMerges)
	answer := measured{Seconds: time.Since(start).Seconds(), Peak: peakBytes()}
	if err != nil {
		return err
	}
	for _, m := range t.Merges() {
		answer.Merges = append(answer.Merges, [3]int32{m.Left, m.Right, m.ID})
	}
	return answer.print()
}

func tokenizerEncode(args []string) error {
	raw, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	description, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	var about struct {
		Pattern string           `json:"pat_str"`
		Special map[string]int32 `json:"special_tokens"`
	}
	if err := json.Unmarshal(description, &about); err != nil {
		return err
	}
	pattern, err := tokenizer.Compile(about.Pattern)
	if err != nil {
		return err
	}
	t, err := tokenizer.LoadTiktoken(args[1], pattern, about.Special)
	if err != nil {
		return err
	}
	text := string(raw)
	t.EncodeOrdinary(text[:100_000])
	start := time.Now()
	ids := t.EncodeOrdinary(text)
	answer := measured{Seconds: time.Since(start).Seconds(), Peak: peakBytes()}
	sum := sha256.New()
	if err := binary.Write(sum, binary.NativeEndian, ids); err != nil {
		return err
	}
	answer.Sum = hex.EncodeToString(sum.Sum(nil))
	return answer.print()
}

// goSources writes the first bytes of the sources of Go's library to each of the files: text that is here wherever Go
// is.
func goSources(ctx context.Context, sizes map[string]int) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	most := 0
	for _, n := range sizes {
		most = max(most, n)
	}
	var text strings.Builder
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(out)), "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(path)
		text.WriteString(strings.ToValidUTF8(string(source), "?"))
		if text.Len() >= most {
			return fs.SkipAll
		}
		return err
	})
	if err != nil {
		return err
	}
	if text.Len() < most {
		return fmt.Errorf("the sources of Go's library have only %d bytes here", text.Len())
	}
	for path, n := range sizes {
		// The cut may fall within a character.
		if err := os.WriteFile(path, []byte(strings.ToValidUTF8(text.String()[:n], "?")), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// unpack writes the contents of a gzip file.
func unpack(packed, path string) error {
	f, err := os.Open(packed)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", packed, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return fmt.Errorf("%s: %w", packed, err)
	}
	return os.WriteFile(path, text, 0o600)
}
