package oracle_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/tokenizer"
)

func TestTokenizers(t *testing.T) {
	oracle.Run(t, "tokenizers", oracle.Ops{
		"char.encode":              encodeWith(tokenizer.Character{}),
		"byte.encode":              encodeWith(tokenizer.Byte{}),
		"char.decode":              decodeWith(tokenizer.Character{}),
		"byte.decode":              decodeWith(tokenizer.Byte{}),
		"word.segments":            segments,
		"gpt2.segments":            segments,
		"gpt4.segments":            segments,
		"utf8.decode_replace":      decodeReplace,
		"utf8.decode_strict":       decodeStrict,
		"bpe.train":                bpeTrain,
		"bpe.encode":               bpeEncode,
		"bpe.decode":               bpeDecode,
		"bpe_regex.train":          bpeTrain,
		"bpe_regex.encode":         bpeEncode,
		"bpe_regex.encode_special": bpeEncodeSpecial,
		"tiktoken.encode":          tiktokenEncode,
	})
}

// ratio is the compression ratio, or nil, which the cases have where there are no tokens.
func ratio(text string, tokens int) any {
	r := tokenizer.CompressionRatio(text, make([]int32, tokens))
	if math.IsNaN(r) {
		return nil
	}
	return r
}

func encodeWith(tok tokenizer.Tokenizer) func(*oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		var args struct{ Text string }
		c.DecodeArgs(&args)
		ids := tok.Encode(args.Text)
		answer := map[string]any{
			"ids": ids, "compression_ratio": ratio(args.Text, len(ids)), "roundtrip": tok.Decode(ids) == args.Text,
			"vocab_size_lower_bound": nil,
		}
		if len(ids) > 0 {
			most := slices.Max(ids)
			if int(most) >= tok.VocabSize() {
				return nil, fmt.Errorf("id %d is not below VocabSize %d", most, tok.VocabSize())
			}
			answer["vocab_size_lower_bound"] = most + 1
		}
		return answer, nil
	}
}

func decodeWith(tok interface {
	tokenizer.Tokenizer
	DecodeBytes([]int32) ([]byte, error)
}) func(*oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		var args struct{ IDs []int32 }
		c.DecodeArgs(&args)
		if _, err := tok.DecodeBytes(args.IDs); err != nil {
			return nil, err
		}
		return map[string]any{"text": tok.Decode(args.IDs)}, nil
	}
}

func segments(c *oracle.Case) (any, error) {
	var args struct{ Text, Pattern string }
	c.DecodeArgs(&args)
	p, err := tokenizer.Compile(args.Pattern)
	if err != nil {
		return nil, err
	}
	s := p.Split(args.Text)
	return map[string]any{"segments": s, "compression_ratio": ratio(args.Text, len(s))}, nil
}

func hexBytes(c *oracle.Case) []byte {
	var args struct {
		Hex string `json:"bytes_hex"`
	}
	c.DecodeArgs(&args)
	b, err := hex.DecodeString(args.Hex)
	if err != nil {
		panic(err)
	}
	return b
}

func decodeReplace(c *oracle.Case) (any, error) {
	return map[string]any{"text": tokenizer.DecodeUTF8(hexBytes(c))}, nil
}

func decodeStrict(c *oracle.Case) (any, error) {
	b := hexBytes(c)
	err := tokenizer.CheckUTF8(b)
	if err == nil {
		return map[string]any{"text": string(b)}, nil
	}
	if c.Error != nil {
		offset := err.(*tokenizer.InvalidUTF8Error).Offset
		if diff := oracle.Diff(offset, c.Error.Fields["start"], c.Tol); diff != "" {
			panic("offset of the error: " + diff)
		}
	}
	return nil, err
}

// vocabulary is what the bpe cases say a tokenizer is.
type vocabulary struct {
	Merges  [][3]int32
	Pattern string
	Special map[string]int32 `json:"special_tokens"`
}

func (v *vocabulary) bpe() (*tokenizer.BPE, error) {
	merges := make([]tokenizer.Merge, len(v.Merges))
	for i, m := range v.Merges {
		merges[i] = tokenizer.Merge{Left: m[0], Right: m[1], ID: m[2]}
	}
	pattern, err := compile(v.Pattern)
	if err != nil {
		return nil, err
	}
	return tokenizer.NewBPE(merges, pattern, v.Special)
}

func compile(expr string) (*tokenizer.Pattern, error) {
	if expr == "" {
		return nil, nil
	}
	return tokenizer.Compile(expr)
}

// bpeTrain trains by the fast trainer and by the loop, which must agree.
func bpeTrain(c *oracle.Case) (any, error) {
	var args struct {
		Text    string
		Merges  int `json:"num_merges"`
		Pattern string
	}
	c.DecodeArgs(&args)
	pattern, err := compile(args.Pattern)
	if err != nil {
		return nil, err
	}
	o := tokenizer.TrainOptions{Pattern: pattern}
	t, err := tokenizer.Train(context.Background(), strings.NewReader(args.Text), args.Merges, o)
	naive, naiveErr := tokenizer.TrainNaive(args.Text, args.Merges, o)
	if fmt.Sprint(err) != fmt.Sprint(naiveErr) || !slices.Equal(t.Merges(), naive.Merges()) {
		panic(fmt.Sprintf("Train: %v, %v; TrainNaive: %v, %v", t.Merges(), err, naive.Merges(), naiveErr))
	}
	if err != nil {
		return nil, err
	}
	ids := t.Encode(args.Text)
	var merges [][3]int32
	var tail [][2]any
	for _, m := range t.Merges() {
		merges = append(merges, [3]int32{m.Left, m.Right, m.ID})
		text, _ := t.Token(m.ID)
		tail = append(tail, [2]any{m.ID, hex.EncodeToString(text)})
	}
	return map[string]any{
		"merges": merges, "vocab_tail_hex": tail, "train_ids": ids, "compression_ratio": ratio(args.Text, len(ids)),
	}, nil
}

func bpeEncode(c *oracle.Case) (any, error) {
	var args struct {
		vocabulary
		Text string
	}
	c.DecodeArgs(&args)
	t, err := args.bpe()
	if err != nil {
		return nil, err
	}
	ids := t.Encode(args.Text)
	return map[string]any{"ids": ids, "compression_ratio": ratio(args.Text, len(ids))}, nil
}

func bpeDecode(c *oracle.Case) (any, error) {
	var args struct {
		vocabulary
		IDs []int32
	}
	c.DecodeArgs(&args)
	t, err := args.bpe()
	if err != nil {
		return nil, err
	}
	text, err := t.DecodeBytes(args.IDs)
	if err != nil {
		return nil, err
	}
	return map[string]any{"text_replace": t.Decode(args.IDs), "bytes_hex": hex.EncodeToString(text)}, nil
}

func bpeEncodeSpecial(c *oracle.Case) (any, error) {
	var args struct {
		vocabulary
		Text    string
		Allowed any `json:"allowed_special"`
	}
	c.DecodeArgs(&args)
	t, err := args.bpe()
	if err != nil {
		return nil, err
	}
	var ids []int32
	switch args.Allowed {
	case "all":
		ids = t.Encode(args.Text)
	case "none":
		ids = t.EncodeOrdinary(args.Text)
	case "none_raise":
		if ids, err = t.EncodeStrict(args.Text); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("allowed_special is %v", args.Allowed)
	}
	return map[string]any{"ids": ids, "decoded": t.Decode(ids)}, nil
}

// published holds the vocabularies that were read from the assets.
var published struct {
	sync.Mutex
	byName map[string]*tokenizer.BPE
}

func tiktokenEncode(c *oracle.Case) (any, error) {
	var args struct{ Encoding, Text string }
	c.DecodeArgs(&args)
	t, err := publishedVocabulary(args.Encoding)
	if err != nil {
		return nil, err
	}
	ids := t.EncodeOrdinary(args.Text)
	if back := t.Decode(ids); back != args.Text {
		return nil, fmt.Errorf("round trip gives %q", back)
	}
	return map[string]any{"ids": ids, "compression_ratio": ratio(args.Text, len(ids))}, nil
}

func publishedVocabulary(name string) (*tokenizer.BPE, error) {
	published.Lock()
	defer published.Unlock()
	if t := published.byName[name]; t != nil {
		return t, nil
	}
	ranks, err := oracle.Asset("assets/" + name + ".ranks")
	if err != nil {
		return nil, err
	}
	text, err := oracle.Asset("assets/" + name + ".json")
	if err != nil {
		return nil, err
	}
	var about struct {
		Pattern string           `json:"pat_str"`
		Special map[string]int32 `json:"special_tokens"`
		Ranks   int
	}
	if err := json.Unmarshal(text, &about); err != nil {
		return nil, err
	}
	if n := bytes.Count(bytes.TrimSpace(ranks), []byte("\n")) + 1; n != about.Ranks {
		return nil, fmt.Errorf("%s.ranks has %d lines, want %d", name, n, about.Ranks)
	}
	pattern, err := tokenizer.Compile(about.Pattern)
	if err != nil {
		return nil, err
	}
	t, err := tokenizer.ParseTiktoken(ranks, pattern, about.Special)
	if err != nil {
		return nil, err
	}
	if published.byName == nil {
		published.byName = map[string]*tokenizer.BPE{}
	}
	published.byName[name] = t
	return t, nil
}
