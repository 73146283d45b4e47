package tokenizer

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/lectern-go/lectern/internal/humanize"
)

// Train learns merges from a corpus. It gives the same merges as TrainNaive, ties included, and the same for any
// number of workers, but each step costs only what it changes:
//
//   - the corpus is read once, in blocks, and cut into pieces in parallel; from then on only the distinct pieces
//     matter, each with how often it occurs. The corpus may be larger than memory, but not the distinct pieces (20 to
//     30 bytes for each of their bytes). Without a pattern the text is one piece;
//   - every pair of tokens keeps its count and the places where it occurs, so that a merge visits only those and
//     adjusts the counts of the pairs beside them;
//   - a heap gives the pair to merge next.
//
// When ctx ends, Train returns its cause as an error, together with a tokenizer that has the merges learned so far, or
// nil if it was still reading. With a *TooFewPairsError, too, it returns a tokenizer that has all merges learned so
// far.
func Train(ctx context.Context, corpus io.Reader, merges int, o TrainOptions) (*BPE, error) {
	if err := o.check(merges); err != nil {
		return nil, err
	}
	counts, err := countWords(ctx, corpus, &o)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: train: %w", err)
	}
	tr, err := newTrainer(counts, &o)
	if err != nil {
		return nil, err
	}
	var learned []Merge // not merges long: a caller may ask for more than there is memory for
	meter := newMeter(o.Progress, "merge", int64(merges))
	for len(learned) < merges {
		if err = context.Cause(ctx); err != nil {
			err = fmt.Errorf("tokenizer: train: stopped after %d of %s: %w", len(learned), humanize.Count(merges, "merge"), err)
			break
		}
		m, ok := tr.step()
		if !ok {
			break
		}
		learned = append(learned, m)
		meter.at(int64(len(learned)))
	}
	meter.report(int64(len(learned)))
	if err != nil {
		t, makeErr := trained(learned, len(learned), o)
		if makeErr != nil {
			err = makeErr
		}
		return t, err
	}
	return trained(learned, merges, o)
}

// trainer holds the distinct pieces and the pairs in them.
//
// The pieces lie one after another in symbols, with a boundary before, between and after them, each symbol the id of a
// one-byte token at first. A token of n bytes takes n places: its id is in the first and, as ^id, in the
// last. So the next token begins n places further on, the previous one ends at the place before, and no list of links
// is needed.
type trainer struct {
	symbols []int32
	piece   []int32 // the piece that each symbol belongs to
	counts  []int64 // how often each piece occurs in the corpus

	vocab [][]byte
	pairs []pair
	index pairIndex
	heap  pairHeap
	fresh []int32 // the pairs that the current merge made

	ties     Ties
	minCount int64
}

// pair is two tokens that are side by side somewhere.
type pair struct {
	left, right int32
	count       int64   // occurrences in the corpus
	places      []int32 // where the left token begins or began, ascending; some are out of date
}

// boundary stands between pieces. It is the ^id of no token.
const boundary = math.MinInt32

func newTrainer(words *wordCounts, o *TrainOptions) (*trainer, error) {
	size := 1
	for i := range words.words {
		size += words.words[i].length + 1
	}
	if size > math.MaxInt32 {
		return nil, fmt.Errorf("tokenizer: train: the distinct pieces of the corpus have %d bytes in all, and at most %d fit; use a pattern that cuts smaller pieces, or less text", size, math.MaxInt32)
	}
	tr := &trainer{
		symbols:  make([]int32, size),
		piece:    make([]int32, size),
		counts:   make([]int64, len(words.words)),
		vocab:    byteTokens(),
		ties:     o.Ties,
		minCount: max(o.MinCount, 1),
	}
	tr.symbols[0] = boundary
	at := 1
	for i := range words.words {
		w := &words.words[i]
		tr.counts[i] = w.count
		for _, b := range words.text(w) {
			tr.symbols[at] = int32(b)
			tr.piece[at] = int32(i)
			at++
		}
		tr.symbols[at] = boundary
		at++
	}
	tr.countBytes()
	return tr, nil
}

// countBytes counts the pairs of bytes, all places of which share one array.
func (tr *trainer) countBytes() {
	occurrences := make([]int32, 1<<16)
	each := func(f func(key, at int)) {
		for at := 1; at+1 < len(tr.symbols); at++ {
			if left, right := tr.symbols[at], tr.symbols[at+1]; left >= 0 && right >= 0 {
				f(int(left)<<8|int(right), at)
			}
		}
	}
	total := 0
	each(func(key, _ int) { occurrences[key]++; total++ })
	places := make([]int32, total)
	of := make([]int32, 1<<16)
	each(func(key, at int) {
		if occurrences[key] > 0 && of[key] == 0 { // met for the first time
			left, right := int32(key>>8), int32(key&0xff)
			k := tr.pair(left, right)
			of[key] = k + 1
			n := int(occurrences[key])
			tr.pairs[k].places = places[:0:n]
			places = places[n:]
		}
		p := &tr.pairs[of[key]-1]
		p.places = append(p.places, int32(at))
		p.count += tr.counts[tr.piece[at]]
	})
	tr.pushFresh()
}

// pair returns the index of a pair, which is added if it is new.
func (tr *trainer) pair(left, right int32) int32 {
	k := tr.index.find(left, right)
	if *k == 0 {
		tr.pairs = append(tr.pairs, pair{left: left, right: right})
		*k = int32(len(tr.pairs))
		tr.fresh = append(tr.fresh, *k-1)
		return int32(len(tr.pairs)) - 1
	}
	return *k - 1
}

// pushFresh enters the pairs of the last merge into the heap.
func (tr *trainer) pushFresh() {
	for _, k := range tr.fresh {
		if p := &tr.pairs[k]; p.count >= tr.minCount {
			tr.push(k)
		}
	}
	tr.fresh = tr.fresh[:0]
}

// holds reports whether a pair is still at a place.
func (tr *trainer) holds(p *pair, at int32) bool {
	return tr.symbols[at] == p.left && tr.symbols[int(at)+len(tr.vocab[p.left])] == p.right
}

// step learns one merge, or returns ok false when there is none.
func (tr *trainer) step() (m Merge, ok bool) {
	k, ok := tr.pop()
	if !ok {
		return Merge{}, false
	}
	left, right := tr.pairs[k].left, tr.pairs[k].right
	id := int32(len(tr.vocab))
	leftSize, size := int32(len(tr.vocab[left])), int32(len(tr.vocab[left])+len(tr.vocab[right]))
	joined := make([]byte, 0, size)
	tr.vocab = append(tr.vocab, append(append(joined, tr.vocab[left]...), tr.vocab[right]...))

	places := tr.pairs[k].places
	tr.pairs[k].places = nil
	for _, at := range places {
		if !tr.holds(&tr.pairs[k], at) {
			continue // one of the two was merged with another neighbor
		}
		n := tr.counts[tr.piece[at]]
		tr.pairs[k].count -= n
		// ... before left right after ... becomes ... before id after ...
		if last := tr.symbols[at-1]; last != boundary {
			before := last
			if before < 0 {
				before = ^before
			}
			tr.lose(before, left, n)
			tr.gain(before, id, at-int32(len(tr.vocab[before])), n)
		}
		if after := tr.symbols[at+size]; after != boundary {
			tr.lose(right, after, n)
			tr.gain(id, after, at, n)
		}
		tr.symbols[at] = id
		tr.symbols[at+leftSize] = ^id // no token begins here any more
		tr.symbols[at+size-1] = ^id
	}
	tr.pushFresh()
	return Merge{Left: left, Right: right, ID: id}, true
}

// gain adds an occurrence of a pair.
func (tr *trainer) gain(left, right, at int32, n int64) {
	k := tr.pair(left, right)
	p := &tr.pairs[k]
	p.count += n
	p.places = append(p.places, at)
}

// lose removes an occurrence of a pair. Its place stays in the list until someone looks at it.
func (tr *trainer) lose(left, right int32, n int64) {
	k := tr.pair(left, right)
	tr.pairs[k].count -= n
}
