package tokenizer

import "math"

// Encode returns the ids of text. Special tokens in it become their ids; use EncodeOrdinary or EncodeStrict for text
// from people who should not be able to write them. Decode gives the text back, and DecodeBytes does so for text that
// is not UTF-8. It panics only when a tokenizer without a pattern is given a text of 2 GiB or more.
func (t *BPE) Encode(text string) []int32 {
	return t.AppendEncode(make([]int32, 0, len(text)/3+4), text)
}

// AppendEncode appends the ids of text to ids and returns the longer list, as append does. Unlike append, it may also
// write to the places behind the result, up to its capacity.
func (t *BPE) AppendEncode(ids []int32, text string) []int32 {
	e := t.encoders.Get().(*encoder)
	defer t.encoders.Put(e)
	return e.appendAll(ids, text)
}

// EncodeOrdinary is like Encode, but treats special tokens as ordinary text.
func (t *BPE) EncodeOrdinary(text string) []int32 {
	e := t.encoders.Get().(*encoder)
	defer t.encoders.Put(e)
	return e.appendText(make([]int32, 0, len(text)/3+4), text)
}

// EncodeStrict is like Encode, but returns a *SpecialTokenError if text holds a special token.
func (t *BPE) EncodeStrict(text string) ([]int32, error) {
	if start, end, _, ok := t.special.find(text); ok {
		return nil, &SpecialTokenError{Token: text[start:end], Offset: start}
	}
	return t.EncodeOrdinary(text), nil
}

// encoder is what one goroutine needs to encode: room to work in, and the words it has met.
type encoder struct {
	t     *BPE
	cache wordCache
	parts []part
	queue mergeQueue
	links []link
}

// part is a token of a piece that is being merged, with the merge that would join it to the next one.
type part struct {
	id     int32
	rank   int32 // of that merge; noMerge when there is none
	joined int32 // the token that it would make
}

const noMerge = math.MaxInt32

func newEncoder(t *BPE) *encoder { return &encoder{t: t, cache: newWordCache()} }

// appendAll encodes text that may hold special tokens.
func (e *encoder) appendAll(ids []int32, text string) []int32 {
	e.t.special.each(text, func(part string, id int32, special bool) {
		if special {
			ids = append(ids, id)
			return
		}
		ids = e.appendText(ids, part)
	})
	return ids
}

// appendText encodes text that holds no special tokens.
func (e *encoder) appendText(ids []int32, text string) []int32 {
	p := e.t.pattern
	if p == nil || p.scan == nil {
		p.each(text, func(piece string, _ bool) { ids = e.appendPiece(ids, piece) })
		return ids
	}
	for i := 0; i < len(text); { // what p.each does, without a call per piece
		start, end := p.scan(text, i)
		if start > i {
			ids = e.appendPiece(ids, text[i:start])
		}
		if end > start {
			ids = e.appendPiece(ids, text[start:end])
		}
		i = end
	}
	return ids
}

// appendPiece encodes one piece, from the cache if it is there.
func (e *encoder) appendPiece(ids []int32, piece string) []int32 {
	if len(piece) == 1 {
		return append(ids, e.t.byteID[piece[0]])
	}
	if len(piece) > maxCachedBytes {
		return e.merge(ids, piece)
	}
	word := pack(piece)
	entry := e.cache.place(word)
	if entry.word == word && int(entry.length) == len(piece) && entry.count > 0 {
		n := len(ids)
		if n+maxCachedIDs <= cap(ids) { // all places at once, which is cheaper than only those in use
			*(*[maxCachedIDs]int32)(ids[n : n+maxCachedIDs]) = entry.ids
			return ids[:n+int(entry.count)]
		}
		return append(ids, entry.ids[:entry.count]...)
	}
	before := len(ids)
	ids = e.merge(ids, piece)
	if fresh := ids[before:]; len(fresh) <= maxCachedIDs {
		entry.word, entry.length = word, uint8(len(piece))
		entry.count = uint8(copy(entry.ids[:], fresh))
	}
	return ids
}

// merge encodes one piece by merging: always the pair whose merge was learned first, and the leftmost if it
// occurs more than once, until no pair merges.
func (e *encoder) merge(ids []int32, piece string) []int32 {
	if e.t.ranked {
		if id, ok := e.t.whole.find(&e.t.tokens, piece); ok {
			return append(ids, id)
		}
	}
	if len(piece) > longPiece {
		return e.mergeLong(ids, piece)
	}
	parts := e.parts[:0]
	for i := range len(piece) {
		parts = append(parts, part{id: e.t.byteID[piece[i]]})
	}
	e.parts = parts
	for i := range parts {
		e.rate(parts, i)
	}
	for len(parts) > 1 {
		best := 0
		for i := range parts {
			if parts[i].rank < parts[best].rank {
				best = i
			}
		}
		if parts[best].rank == noMerge {
			break
		}
		parts[best].id = parts[best].joined
		parts = append(parts[:best+1], parts[best+2:]...)
		e.rate(parts, best)
		if best > 0 {
			e.rate(parts, best-1)
		}
	}
	for i := range parts {
		ids = append(ids, parts[i].id)
	}
	return ids
}

// rate looks up the merge of parts[i] with its right neighbor.
func (e *encoder) rate(parts []part, i int) {
	p := &parts[i]
	p.rank = noMerge
	if i+1 < len(parts) {
		if rank, id, ok := e.t.pairs.find(p.id, parts[i+1].id); ok {
			p.rank, p.joined = rank, id
		}
	}
}
