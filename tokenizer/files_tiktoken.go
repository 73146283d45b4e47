package tokenizer

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
)

// rankedToken is a token of a tiktoken vocabulary: its id is also its rank, the order in which tokens are made.
type rankedToken struct {
	bytes []byte
	id    int32
}

// maxRankedBytes is how long a token of a tiktoken vocabulary may be: every division of it in two is looked up. The
// longest of the published ones has 128 bytes.
const maxRankedBytes = 1024

// LoadTiktoken reads a .tiktoken file: one token per line, with its bytes in base64 and its rank, which is
// its id. The file gives neither the pattern (GPT2 for gpt2, CL100K for cl100k_base) nor the special
// tokens. A file that makes no sense gives a *FileError.
func LoadTiktoken(path string, pattern *Pattern, special map[string]int32) (*BPE, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: load: %w", err)
	}
	t, err := ParseTiktoken(text, pattern, special)
	return t, inFile(path, err)
}

// ParseTiktoken is LoadTiktoken for a file that is in memory.
func ParseTiktoken(text []byte, pattern *Pattern, special map[string]int32) (*BPE, error) {
	var tokens []rankedToken
	for n := 1; len(text) > 0; n++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			continue
		}
		code, number, ok := bytes.Cut(line, []byte(" "))
		if !ok {
			return nil, &FileError{Path: "tiktoken", Line: n, Err: errors.New("the line is not a token in base64, a space and a rank")}
		}
		token, err := base64.StdEncoding.AppendDecode(nil, code)
		if err != nil {
			return nil, &FileError{Path: "tiktoken", Line: n, Err: fmt.Errorf("token %q: %w", code, err)}
		}
		rank, err := strconv.ParseInt(string(number), 10, 32)
		if err != nil {
			return nil, &FileError{Path: "tiktoken", Line: n, Err: fmt.Errorf("rank %q: %w", number, errors.Unwrap(err))}
		}
		tokens = append(tokens, rankedToken{token, int32(rank)})
	}
	return newRanked(tokens, pattern, special)
}

// newRanked makes the tokenizer of a tiktoken vocabulary: any two neighbors merge if their joined bytes are
// a token, the lowest rank first.
func newRanked(list []rankedToken, pattern *Pattern, special map[string]int32) (*BPE, error) {
	tokens := newTokenBuilder(len(list))
	for _, token := range list {
		if len(token.bytes) == 0 || len(token.bytes) > maxRankedBytes {
			return nil, vocabErrorf("the token with rank %d has %d bytes; 1 to %d are possible", token.id, len(token.bytes), maxRankedBytes)
		}
		if err := tokens.add(token.id, token.bytes, nil); err != nil {
			return nil, err
		}
	}
	t := &BPE{pattern: pattern, tokens: tokens.list(), ranked: true}
	whole, first, second, twice := newByteTable(&t.tokens)
	if twice {
		return nil, vocabErrorf("token %s has ranks %d and %d", quote(t.tokens.at(first)), first, second)
	}
	t.whole = whole
	find := func(text []byte) (int32, bool) { return t.whole.find(&t.tokens, string(text)) }
	for b := range t.byteID {
		id, ok := find([]byte{byte(b)})
		if !ok {
			return nil, vocabErrorf("no token is the single byte %#02x, so not every text could be encoded", b)
		}
		t.byteID[b] = id
	}
	t.pairs = newPairTable(2 * len(list))
	for _, token := range list {
		for i := 1; i < len(token.bytes); i++ {
			left, ok := find(token.bytes[:i])
			if !ok {
				continue
			}
			if right, ok := find(token.bytes[i:]); ok {
				t.pairs.put(left, right, token.id, token.id)
			}
		}
	}
	if err := t.finish(special); err != nil {
		return nil, err
	}
	return t, nil
}

// recoverMerges finds the merges that a tiktoken vocabulary was trained with: a token's two parts are what its
// bytes are encoded to with the tokens of lower rank. It returns nil if some token doesn't have two parts.
func (t *BPE) recoverMerges() []Merge {
	merges := make([]Merge, 0, len(t.tokens.ends)-256)
	ids := t.usedIDs()
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	for _, id := range ids {
		text := t.tokens.at(id)
		if len(text) == 1 {
			continue
		}
		parts := make([]int32, len(text))
		for i, b := range text {
			parts[i] = t.byteID[b]
		}
		for len(parts) > 2 {
			best, at := id, -1
			for i := range len(parts) - 1 {
				if rank, _, ok := t.pairs.find(parts[i], parts[i+1]); ok && rank < best {
					best, at = rank, i
				}
			}
			if at < 0 {
				return nil
			}
			parts[at] = best
			parts = append(parts[:at+1], parts[at+2:]...)
		}
		merges = append(merges, Merge{Left: parts[0], Right: parts[1], ID: id})
	}
	return merges
}

// SaveTiktoken writes the tokens as a .tiktoken file. It holds neither the pattern nor the special tokens. It returns
// a *VocabError if the format cannot express the vocabulary: if two tokens spell the same bytes, if ids are not in
// the order of the merges, or if no text is encoded to some token.
//
// Readers of the format merge any neighbors whose joined bytes are a token, even if the merge was learned from other
// parts. For vocabularies trained on text this makes no difference, except in rare texts.
func (t *BPE) SaveTiktoken(path string) error {
	if a, b, shared := t.sharedBytes(); shared {
		return vocabErrorf("tokens %d and %d both spell %s, and a .tiktoken file can hold only one; use Save", a, b, quote(t.tokens.at(a)))
	}
	if !t.ranked {
		if n := t.longestToken(); n > maxRankedBytes {
			return vocabErrorf("the longest token has %d bytes, and the readers of .tiktoken files are made for short ones (%d is our limit); use Save", n, maxRankedBytes)
		}
		last := int32(-1)
		for _, m := range t.merges {
			if m.ID <= last {
				return vocabErrorf("token %d is learned after token %d, and in a .tiktoken file the order of ids is the order of merges", m.ID, last)
			}
			last = m.ID
			text := t.tokens.at(m.ID)
			if ids := t.encodePiece(string(text)); len(ids) != 1 || ids[0] != m.ID {
				return vocabErrorf("token %d, %s, is encoded to %v, while readers of a .tiktoken file would encode it to itself; use Save", m.ID, quote(text), ids)
			}
		}
	}
	return writeFile(path, func(w *bufio.Writer) error {
		var err error
		for _, id := range t.usedIDs() {
			_, e := fmt.Fprintf(w, "%s %d\n", base64.StdEncoding.EncodeToString(t.tokens.at(id)), id)
			err = errors.Join(err, e)
		}
		return err
	})
}

func (t *BPE) longestToken() int {
	longest := 0
	for _, id := range t.usedIDs() {
		longest = max(longest, len(t.tokens.at(id)))
	}
	return longest
}

// encodePiece encodes text as one piece, whatever the pattern.
func (t *BPE) encodePiece(piece string) []int32 {
	e := t.encoders.Get().(*encoder)
	defer t.encoders.Put(e)
	return e.merge(nil, piece)
}
