package tokenizer

import (
	"bytes"
	"fmt"
	"sort"
	"sync"
)

// BPE is a byte-pair encoding: tokens are byte strings, made by merging neighbours again and again, the commonest pair
// of the training text first. Common words become one token, rare ones several, and nothing is unknown, since
// every byte is a token.
//
// A BPE does not change and is safe for concurrent use.
type BPE struct {
	pattern *Pattern
	tokens  [][]byte   // by id; nil where no ordinary token has the id
	byteID  [256]int32 // the token of each single byte
	merges  []Merge    // in the order of training
	pairs   pairTable

	// whole maps the bytes of every token to its id, for a tiktoken vocabulary, and is nil for others. It marks their
	// rule: any two neighbours merge whose bytes together are a token, and a piece that is a token needs no merging.
	whole map[string]int32

	special  specials
	vocab    int       // one more than the largest id
	encoders sync.Pool // of *encoder
	recover  sync.Once // guards merges when whole is set
}

// Merge says that two neighbouring tokens become one.
type Merge struct {
	Left, Right int32
	ID          int32 // the new token
}

// VocabError reports a vocabulary that makes no sense.
type VocabError struct {
	Problem string
}

func (e *VocabError) Error() string { return "tokenizer: vocabulary: " + e.Problem }

func vocabErrorf(format string, args ...any) error {
	return &VocabError{Problem: fmt.Sprintf(format, args...)}
}

// NewBPE returns the tokenizer with the given merges over the bytes 0 to 255, in the order in which they were learned.
// No merge crosses the segments of pattern; a nil pattern means that the whole text is one. special gives the
// ids of special tokens and may be nil. It returns a *VocabError when a merge uses a token that no earlier
// merge made, when a pair is merged twice, or when an id has two meanings (two merges may make one token if
// they spell the same bytes).
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
	for b, id := range byteID {
		if err := t.addToken(id, []byte{byte(b)}, 256+len(merges)); err != nil {
			return nil, err
		}
	}
	t.pairs = newPairTable(len(merges))
	for rank, m := range merges {
		left, right := t.token(m.Left), t.token(m.Right)
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
		joined := append(left[:len(left):len(left)], right...)
		if made := t.token(m.ID); made == nil || !bytes.Equal(made, joined) {
			if err := t.addToken(m.ID, joined, 256+len(merges)); err != nil {
				return nil, err
			}
		}
		t.pairs.put(m.Left, m.Right, int32(rank), m.ID)
	}
	if err := t.finish(special); err != nil {
		return nil, err
	}
	return t, nil
}

// addToken gives an id its bytes. count is how many tokens there are in all: ids far beyond it would only fill memory.
func (t *BPE) addToken(id int32, text []byte, count int) error {
	if id < 0 || int(id) > 8*count+1<<16 {
		return vocabErrorf("token %q has id %d, out of any range that %d tokens need", text, id, count)
	}
	if int(id) >= len(t.tokens) {
		t.tokens = append(t.tokens, make([][]byte, int(id)+1-len(t.tokens))...)
	}
	if t.tokens[id] != nil {
		return vocabErrorf("tokens %q and %q both have id %d", t.tokens[id], text, id)
	}
	t.tokens[id] = text
	return nil
}

// finish adds the special tokens and counts.
func (t *BPE) finish(special map[string]int32) error {
	t.vocab = len(t.tokens)
	for text, id := range special {
		if text == "" {
			return vocabErrorf("the special token with id %d is empty", id)
		}
		if id < 0 {
			return vocabErrorf("special token %q has id %d; ids count from 0", text, id)
		}
		if used := t.token(id); used != nil {
			return vocabErrorf("special token %q has id %d, which is token %q", text, id, used)
		}
		t.vocab = max(t.vocab, int(id)+1)
	}
	var err error
	t.special, err = newSpecials(special)
	t.encoders.New = func() any { return newEncoder(t) }
	return err
}

// token returns the bytes of an ordinary token, or nil.
func (t *BPE) token(id int32) []byte {
	if id < 0 || int(id) >= len(t.tokens) {
		return nil
	}
	return t.tokens[id]
}

// VocabSize returns one more than the largest id, special tokens included.
func (t *BPE) VocabSize() int { return t.vocab }

// Pattern returns the pattern that cuts text into pieces, or nil.
func (t *BPE) Pattern() *Pattern { return t.pattern }

// Merges returns the merges in the order of training; the caller must not change them. Those of a tiktoken vocabulary
// are found from its ranks, and nil if no sequence of merges makes these.
func (t *BPE) Merges() []Merge {
	if t.whole != nil {
		t.recover.Do(func() { t.merges = t.recoverMerges() })
	}
	return t.merges
}

// Token returns a copy of the bytes of a token, special ones included, and whether the id has one.
func (t *BPE) Token(id int32) ([]byte, bool) {
	if text := t.token(id); text != nil {
		return append([]byte(nil), text...), true
	}
	text, ok := t.special.text[id]
	return []byte(text), ok
}

// Special returns the special tokens and their ids, as a copy.
func (t *BPE) Special() map[string]int32 {
	m := make(map[string]int32, len(t.special.text))
	for id, text := range t.special.text {
		m[text] = id
	}
	return m
}

// Decode returns the text of ids; special tokens have theirs. An id that no token has becomes U+FFFD, and so does
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
	if b := t.token(id); b != nil {
		return append(text, b...), true
	}
	s, ok := t.special.text[id]
	return append(text, s...), ok
}

// usedIDs returns the ids of all ordinary tokens in order.
func (t *BPE) usedIDs() []int32 {
	var ids []int32
	for id, text := range t.tokens {
		if text != nil {
			ids = append(ids, int32(id))
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
