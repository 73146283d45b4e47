package tokenizer

import (
	"bytes"
	"fmt"

	"github.com/lectern-go/lectern/internal/humanize"
)

// This file is BPE training as the lecture writes it: count all pairs, merge the most common one, and start again.
// Train gives the same merges much faster; this file defines what they are.

// Ties says which pair is merged when several have the highest count.
type Ties int

const (
	// FirstCounted takes the pair that appears first in the text as tokenized at that point, as a loop over a
	// dictionary in insertion order does. This is the lecture's rule.
	FirstCounted Ties = iota
	// GreatestPair takes the pair whose two byte strings are greatest in lexicographic order, compared left
	// then right. This is the rule of the course's assignment; it does not depend on the order of the text.
	GreatestPair
)

func (r Ties) String() string {
	switch r {
	case FirstCounted:
		return "first counted"
	case GreatestPair:
		return "greatest pair"
	}
	return fmt.Sprintf("Ties(%d)", int(r))
}

// TooFewPairsError reports that fewer merges could be learned than requested: every piece of the text has
// become one token, or no pair is as common as TrainOptions.MinCount requires.
type TooFewPairsError struct {
	Asked, Learned int
}

func (e *TooFewPairsError) Error() string {
	return fmt.Sprintf("tokenizer: train: asked for %s, but no pair of neighbors is left after %d; train on more text or ask for fewer merges", humanize.Count(e.Asked, "merge"), e.Learned)
}

// TrainNaive learns merges from a text by the lecture's loop, in time proportional to its length times the number of
// merges. Of the options, Workers and Progress are not used. With a *TooFewPairsError it also returns a tokenizer
// that has all merges learned so far.
func TrainNaive(text string, merges int, o TrainOptions) (*BPE, error) {
	if err := o.check(merges); err != nil {
		return nil, err
	}
	pieces := naivePieces(text, o)
	vocab := byteTokens()
	var learned []Merge
	for len(learned) < merges {
		counts := countPairs(pieces)
		best, ok := mostCommon(counts, vocab, o.Ties)
		if !ok || best.Count < o.MinCount {
			break
		}
		m := Merge{Left: best.Left, Right: best.Right, ID: int32(len(vocab))}
		for i, ids := range pieces {
			pieces[i] = mergePair(ids, m)
		}
		vocab = append(vocab, append(bytes.Clone(vocab[m.Left]), vocab[m.Right]...))
		learned = append(learned, m)
	}
	return trained(learned, merges, o)
}

// naivePieces returns the bytes of each piece of text that merges may not cross, in the order of the text.
func naivePieces(text string, o TrainOptions) [][]int32 {
	special, _ := newSpecials(o.specialIDs(0))
	var pieces [][]int32
	special.each(text, func(part string, _ int32, special bool) {
		if !special {
			o.Pattern.each(part, func(piece string, _ bool) {
				pieces = append(pieces, Byte{}.Encode(piece))
			})
		}
	})
	return pieces
}

// byteTokens returns the tokens before any merge: one for each byte.
func byteTokens() [][]byte {
	vocab := make([][]byte, 256)
	for b := range vocab {
		vocab[b] = []byte{byte(b)}
	}
	return vocab
}

// PairCount is how often two tokens are side by side.
type PairCount struct {
	Left, Right int32
	Count       int64
}

// countPairs counts all neighbors, in the order in which each pair is first met.
//
// Example: [[1 2 3 1 2]] -> [{1 2: 2} {2 3: 1} {3 1: 1}]
func countPairs(pieces [][]int32) []PairCount {
	var counts []PairCount
	at := map[[2]int32]int{}
	for _, ids := range pieces {
		for i := 0; i+1 < len(ids); i++ {
			pair := [2]int32{ids[i], ids[i+1]}
			k, ok := at[pair]
			if !ok {
				k = len(counts)
				at[pair] = k
				counts = append(counts, PairCount{Left: ids[i], Right: ids[i+1]})
			}
			counts[k].Count++
		}
	}
	return counts
}

// mostCommon returns the pair to merge, or ok false when there is none.
func mostCommon(counts []PairCount, vocab [][]byte, ties Ties) (best PairCount, ok bool) {
	for _, c := range counts {
		if !ok || c.Count > best.Count ||
			c.Count == best.Count && ties == GreatestPair && comparePairs(vocab, c.Left, c.Right, best.Left, best.Right) > 0 {
			best, ok = c, true
		}
	}
	return best, ok
}

// comparePairs compares the bytes of two pairs, left then right.
func comparePairs(vocab [][]byte, left1, right1, left2, right2 int32) int {
	if c := bytes.Compare(vocab[left1], vocab[left2]); c != 0 {
		return c
	}
	return bytes.Compare(vocab[right1], vocab[right2])
}

// mergePair replaces every occurrence of a pair, from left to right.
//
// Example: ids=[1 2 3 1 2], merge={1 2 4} -> [4 3 4]
func mergePair(ids []int32, m Merge) []int32 {
	merged := make([]int32, 0, len(ids))
	for i := 0; i < len(ids); i++ {
		if i+1 < len(ids) && ids[i] == m.Left && ids[i+1] == m.Right {
			merged = append(merged, m.ID)
			i++ // the right half is part of it
			continue
		}
		merged = append(merged, ids[i])
	}
	return merged
}

// trained makes a tokenizer from the merges that were learned.
func trained(learned []Merge, asked int, o TrainOptions) (*BPE, error) {
	t, err := NewBPE(learned, o.Pattern, o.specialIDs(256+len(learned)))
	if err != nil {
		return nil, err
	}
	if len(learned) < asked {
		return t, &TooFewPairsError{Asked: asked, Learned: len(learned)}
	}
	return t, nil
}
