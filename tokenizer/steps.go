package tokenizer

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Step is one step of BPE training: the tokens before it, the pairs that were counted, the pair
// that was chosen, and the tokens after it.
type Step struct {
	Before []int32
	Counts []PairCount // in the order in which the pairs are met
	Chosen PairCount   // the one of Counts that is merged
	ID     int32       // the token that it becomes
	After  []int32
	Vocab  [][]byte // the bytes of every token after the step, by id
}

// Tokens returns the tokens of the text before the step and after it.
func (s Step) Tokens() (before, after []int32) { return s.Before, s.After }

// Merge returns the pair that the step merges, the token that it becomes, and how often it was seen.
func (s Step) Merge() (left, right, result int32, times int64) {
	return s.Chosen.Left, s.Chosen.Right, s.ID, s.Chosen.Count
}

// Bytes returns what a token stands for after the step. It shares memory with Vocab.
func (s Step) Bytes(token int32) []byte { return s.Vocab[token] }

// Steps trains on a text as TrainBPE does and returns what every step saw and did. It is for short texts: each
// step holds the whole sequence twice. With a *TooFewPairsError it also returns the steps so far.
func Steps(text string, merges int) ([]Step, error) {
	o := TrainOptions{}
	if err := o.check(merges); err != nil {
		return nil, err
	}
	ids := Byte{}.Encode(text)
	vocab := byteTokens()
	var steps []Step
	for len(steps) < merges {
		counts := countPairs([][]int32{ids})
		best, ok := mostCommon(counts, vocab, o.Ties)
		if !ok {
			return steps, &TooFewPairsError{Asked: merges, Learned: len(steps)}
		}
		m := Merge{Left: best.Left, Right: best.Right, ID: int32(len(vocab))}
		after := mergePair(ids, m)
		vocab = append(vocab, append(bytes.Clone(vocab[m.Left]), vocab[m.Right]...))
		steps = append(steps, Step{
			Before: append([]int32(nil), ids...), Counts: counts, Chosen: best, ID: m.ID, After: after,
			Vocab: append([][]byte(nil), vocab...),
		})
		ids = after
	}
	return steps, nil
}

// String shows the step in three lines: the counts, the merge, and the tokens after it between bars.
func (s Step) String() string {
	var b strings.Builder
	b.WriteString("counts:")
	for _, c := range s.Counts {
		fmt.Fprintf(&b, " %s+%s %d", s.show(c.Left), s.show(c.Right), c.Count)
	}
	fmt.Fprintf(&b, "\nmerge:  %s+%s, counted %d times, becomes %d %s", s.show(s.Chosen.Left), s.show(s.Chosen.Right), s.Chosen.Count, s.ID, s.show(s.ID))
	fmt.Fprintf(&b, "\ntokens: %s", ShowTokens(s.Vocab, s.After))
	return b.String()
}

// show returns a token's bytes in quotes.
func (s Step) show(id int32) string { return strconv.Quote(string(s.Vocab[id])) }

// ShowTokens returns the text of ids with a bar between any two tokens, such as "the |c|a|t". Bytes that are
// not printable text are written as in a Go string. It panics if vocab has no such id.
func ShowTokens(vocab [][]byte, ids []int32) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte('|')
		}
		q := strconv.Quote(string(vocab[id]))
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}
