package tokenizer

import (
	"bytes"
	"fmt"
	"sort"
	"sync"
)

// BPE is a byte-pair encoding: tokens are byte strings, made by merging neighbors again and again, the most common
// pair of the training text first. Common words become one token, rare ones several, and nothing is unknown, since
// every byte is a token.
//
// A BPE does not change and is safe for concurrent use.
type BPE struct {
	pattern *Pattern
	tokens  tokenList  // the ordinary ones
	byteID  [256]int32 // the token of each single byte
	merges  []Merge    // in the order of training
	pairs   pairTable

	// ranked marks the rule of a tiktoken vocabulary: any two neighbors merge if their joined bytes are a token, and
	// a piece that is a token itself, which whole finds, needs no merging.
	ranked bool
	whole  byteTable

	special  specials
	vocab    int       // one more than the largest id
	encoders sync.Pool // of *encoder
	recover  sync.Once // guards merges when ranked is set
}

// Merge says that two neighboring tokens become one.
type Merge struct {
	Left, Right int32
	ID          int32 // the new token
}

// VocabError reports a vocabulary that makes no sense.
type VocabError struct {
	Problem string
}

func (e *VocabError) Error() string { return "tokenizer: vocabulary: " + e.Problem }

// quote shows the bytes of a token in a message, cut off if there are many.
func quote(text []byte) string {
	const most = 40
	if len(text) > most {
		return fmt.Sprintf("%q... (%d bytes)", text[:most], len(text))
	}
	return fmt.Sprintf("%q", text)
}

func vocabErrorf(format string, args ...any) error {
	return &VocabError{Problem: fmt.Sprintf(format, args...)}
}

// NewBPE returns the tokenizer with the given merges over the bytes 0 to 255, in the order in which they were learned.
// No merge crosses the segments of pattern; a nil pattern means that the whole text is one segment. special gives the
// ids of special tokens and may be nil. It returns a *VocabError when a merge uses a token that no earlier merge made,
// when a pair is merged twice, or when an id has two meanings (two merges may make one token if they spell the same
// bytes).
func NewBPE(merges []Merge, pattern *Pattern, special map[string]int32) (*BPE, error) {
	return newBPE(identityBytes(), merges, pattern, special)
}

// identityBytes gives every byte its value as its id.
func identityBytes() (id [256]int32) {
	for b := range id {
		id[b] = int32(b)
	}
	return id
}

// newBPE is NewBPE with a token for each byte.
func newBPE(byteID [256]int32, merges []Merge, pattern *Pattern, special map[string]int32) (*BPE, error) {
	t := &BPE{pattern: pattern, byteID: byteID, merges: merges}
	tokens := newTokenBuilder(256 + len(merges))
	for b, id := range byteID {
		if err := tokens.add(id, []byte{byte(b)}, nil); err != nil {
			return nil, err
		}
	}
	t.pairs = newPairTable(len(merges))
	for rank, m := range merges {
		left, right := tokens.at(m.Left), tokens.at(m.Right)
		if left == nil || right == nil {
			missing := m.Left
			if left != nil {
				missing = m.Right
			}
			return nil, vocabErrorf("merge %d joins %d and %d into %d, but no byte or earlier merge is token %d", rank, m.Left, m.Right, m.ID, missing)
		}
		if _, id, ok := t.pairs.find(m.Left, m.Right); ok {
			return nil, vocabErrorf("merge %d joins %d and %d into %d, but an earlier merge made them %d", rank, m.Left, m.Right, m.ID, id)
		}
		made := tokens.at(m.ID)
		if len(made) != len(left)+len(right) || !bytes.HasPrefix(made, left) || !bytes.HasSuffix(made, right) {
			if err := tokens.add(m.ID, left, right); err != nil {
				return nil, err
			}
		}
		t.pairs.put(m.Left, m.Right, int32(rank), m.ID)
	}
	t.tokens = tokens.list()
	if err := t.finish(special); err != nil {
		return nil, err
	}
	return t, nil
}

// finish adds the special tokens and counts.
func (t *BPE) finish(special map[string]int32) error {
	t.vocab = len(t.tokens.ends)
	for text, id := range special {
		if text == "" {
			return vocabErrorf("the special token with id %d is empty", id)
		}
		if id < 0 {
			return vocabErrorf("special token %q has id %d; ids count from 0", text, id)
		}
		if used := t.tokens.at(id); used != nil {
			return vocabErrorf("special token %q has id %d, which is token %s", text, id, quote(used))
		}
		t.vocab = max(t.vocab, int(id)+1)
	}
	var err error
	t.special, err = newSpecials(special)
	t.encoders.New = func() any { return newEncoder(t) }
	return err
}

// VocabSize returns one more than the largest id, special tokens included.
func (t *BPE) VocabSize() int { return t.vocab }

// Pattern returns the pattern that cuts text into pieces, or nil.
func (t *BPE) Pattern() *Pattern { return t.pattern }

// Merges returns the merges in the order of training; the caller must not change them. Those of a tiktoken vocabulary
// are found from its ranks; the result is nil if no sequence of merges makes these.
func (t *BPE) Merges() []Merge {
	if t.ranked {
		t.recover.Do(func() { t.merges = t.recoverMerges() })
	}
	return t.merges
}

// Token returns a copy of the bytes of a token, special ones included, and whether the id has one.
func (t *BPE) Token(id int32) ([]byte, bool) {
	if text := t.tokens.at(id); text != nil {
		return append([]byte(nil), text...), true
	}
	text, ok := t.special.text[id]
	return []byte(text), ok
}

// Vocab returns the bytes of every token by id, special ones included; nil where no token has the id. It is a copy.
func (t *BPE) Vocab() [][]byte {
	text := append([]byte(nil), t.tokens.text...)
	own := tokenList{text, t.tokens.ends}
	vocab := make([][]byte, t.vocab)
	for id := range vocab {
		vocab[id] = own.at(int32(id))
	}
	for id, text := range t.special.text {
		vocab[id] = []byte(text)
	}
	return vocab
}

// Special returns the special tokens and their ids, as a copy.
func (t *BPE) Special() map[string]int32 {
	m := make(map[string]int32, len(t.special.text))
	for id, text := range t.special.text {
		m[text] = id
	}
	return m
}

// Decode returns the text of ids, special tokens included. An id that no token has becomes U+FFFD, and so does
// each run of bytes that is not UTF-8, as when ids begin or end in the middle of a character.
func (t *BPE) Decode(ids []int32) string {
	text := make([]byte, 0, 4*len(ids))
	for _, id := range ids {
		var ok bool
		if text, ok = t.appendToken(text, id); !ok {
			text = append(text, replacement...)
		}
	}
	return DecodeUTF8(text)
}

// DecodeBytes returns the exact bytes of ids, which need not be UTF-8, or an *UnknownIDError.
func (t *BPE) DecodeBytes(ids []int32) ([]byte, error) {
	text := make([]byte, 0, 4*len(ids))
	for i, id := range ids {
		var ok bool
		if text, ok = t.appendToken(text, id); !ok {
			return nil, &UnknownIDError{ID: id, Index: i, Vocab: t.vocab}
		}
	}
	return text, nil
}

func (t *BPE) appendToken(text []byte, id int32) ([]byte, bool) {
	if b := t.tokens.at(id); b != nil {
		return append(text, b...), true
	}
	s, ok := t.special.text[id]
	return append(text, s...), ok
}

// usedIDs returns the ids of all ordinary tokens in order.
func (t *BPE) usedIDs() []int32 {
	var ids []int32
	for id := range int32(len(t.tokens.ends)) {
		if t.tokens.at(id) != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// specialIDs returns the ids of the special tokens in order.
func (t *BPE) specialIDs() []int32 {
	ids := make([]int32, 0, len(t.special.text))
	for id := range t.special.text {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	return ids
}
