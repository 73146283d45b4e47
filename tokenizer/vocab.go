package tokenizer

import "math/bits"

// tokenList holds the bytes of every token by id, end to end in one array, so it takes little memory, and a
// notebook carries it from cell to cell without copying.
type tokenList struct {
	text []byte
	ends []uint32 // of each id; where it is the end of the id before, no token has the id
}

// at returns the bytes of a token, or nil where no token has the id.
func (l *tokenList) at(id int32) []byte {
	if id < 0 || int(id) >= len(l.ends) {
		return nil
	}
	start := uint32(0)
	if id > 0 {
		start = l.ends[id-1]
	}
	end := l.ends[id]
	if start == end {
		return nil
	}
	return l.text[start:end:end]
}

// maxVocabBytes is how many bytes all tokens may have in total. Otherwise a few lines of a file could ask for
// any amount of memory, each merging the previous token with itself.
const maxVocabBytes = 1 << 28

// tokenBuilder collects the tokens of a vocabulary, in any order.
type tokenBuilder struct {
	tokens [][]byte // by id
	total  int
	most   int // ids must be below
}

// newTokenBuilder expects about count tokens: ids far beyond that would only waste memory.
func newTokenBuilder(count int) *tokenBuilder {
	return &tokenBuilder{most: 8*count + 1<<16}
}

func (b *tokenBuilder) at(id int32) []byte {
	if id < 0 || int(id) >= len(b.tokens) {
		return nil
	}
	return b.tokens[id]
}

// add gives an id the bytes of left and right joined.
func (b *tokenBuilder) add(id int32, left, right []byte) error {
	if id < 0 || int(id) >= b.most {
		return vocabErrorf("token %s%s has id %d; ids count from 0 and leave no large gaps", quote(left), quote(right), id)
	}
	if b.total += len(left) + len(right); b.total > maxVocabBytes {
		return vocabErrorf("up to id %d the tokens have more than %d bytes in all", id, maxVocabBytes)
	}
	if int(id) >= len(b.tokens) {
		b.tokens = append(b.tokens, make([][]byte, int(id)+1-len(b.tokens))...)
	}
	joined := append(append(make([]byte, 0, len(left)+len(right)), left...), right...)
	if other := b.tokens[id]; other != nil {
		return vocabErrorf("tokens %s and %s both have id %d", quote(other), quote(joined), id)
	}
	b.tokens[id] = joined
	return nil
}

// list returns the tokens end to end.
func (b *tokenBuilder) list() tokenList {
	l := tokenList{text: make([]byte, 0, b.total), ends: make([]uint32, len(b.tokens))}
	for id, text := range b.tokens {
		l.text = append(l.text, text...)
		l.ends[id] = uint32(len(l.text))
	}
	return l
}

// byteTable finds tokens by their bytes: a hash table with open addressing.
type byteTable struct {
	slots []int32 // id plus one; 0 is empty
}

// newByteTable enters all tokens of a list. If two have the same bytes it returns them.
func newByteTable(l *tokenList) (t byteTable, first, second int32, twice bool) {
	t.slots = make([]int32, 1<<bits.Len(uint(2*len(l.ends)+1)))
	for id := range int32(len(l.ends)) {
		text := l.at(id)
		if text == nil {
			continue
		}
		s := t.slot(l, string(text))
		if *s != 0 {
			return t, *s - 1, id, true
		}
		*s = id + 1
	}
	return t, 0, 0, false
}

// find returns the token with the given bytes.
func (t *byteTable) find(l *tokenList, text string) (id int32, ok bool) {
	s := t.slot(l, text)
	return *s - 1, *s != 0
}

// slot returns where the token with the given bytes is, or the empty place where it would go.
func (t *byteTable) slot(l *tokenList, text string) *int32 {
	// Hashed the same way in every process (FNV-1a), since the table may be carried from one to the next.
	hash := uint64(0xcbf29ce484222325)
	for i := range len(text) {
		hash = (hash ^ uint64(text[i])) * 0x100000001b3
	}
	mask := uint64(len(t.slots) - 1)
	for i := (hash ^ hash>>32) & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if *s == 0 || string(l.at(*s-1)) == text {
			return s
		}
	}
}
