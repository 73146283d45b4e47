package tokenizer

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"sort"
	"sync"
)

// wordCounts counts the distinct pieces of a corpus: a hash table with open addressing over one arena of text, in
// which there is nothing for the garbage collector to follow.
type wordCounts struct {
	slots []int32 // index into words plus one; 0 is empty
	words []wordCount
	arena []byte
}

type wordCount struct {
	hash   uint64
	offset int // in the arena
	length int
	count  int64
	first  uint64 // where the piece is first met: the block in the high half, the place in it in the low half
}

var wordSeed = maphash.MakeSeed()

func (w *wordCounts) text(c *wordCount) []byte { return w.arena[c.offset : c.offset+c.length] }

// add counts n occurrences of a piece, the first of them at the given place.
func (w *wordCounts) add(piece string, n int64, first uint64) {
	if 2*len(w.words) >= len(w.slots) {
		w.grow()
	}
	hash := maphash.String(wordSeed, piece)
	mask := uint64(len(w.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		k := w.slots[i]
		if k == 0 {
			w.slots[i] = int32(len(w.words) + 1)
			w.words = append(w.words, wordCount{hash: hash, offset: len(w.arena), length: len(piece), count: n, first: first})
			w.arena = append(w.arena, piece...)
			return
		}
		c := &w.words[k-1]
		if c.hash == hash && string(w.text(c)) == piece {
			c.count += n
			c.first = min(c.first, first)
			return
		}
	}
}

func (w *wordCounts) grow() {
	w.slots = make([]int32, max(1<<12, 4*len(w.slots)))
	mask := uint64(len(w.slots) - 1)
	for k := range w.words {
		i := w.words[k].hash & mask
		for w.slots[i] != 0 {
			i = (i + 1) & mask
		}
		w.slots[i] = int32(k + 1)
	}
}

// countWords reads a corpus and counts its pieces of two bytes and more; shorter ones have nothing to merge. The words
// of the result are in the order in which they are first met, however many goroutines count.
func countWords(ctx context.Context, r io.Reader, o *TrainOptions) (*wordCounts, error) {
	special, err := newSpecials(o.specialIDs(0))
	if err != nil {
		return nil, err
	}
	type block struct {
		text  string
		index uint64
	}
	n := workers(o.Workers)
	blocks := make(chan block, n)
	counts := make([]wordCounts, n)
	var wait sync.WaitGroup
	for k := range counts {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for b := range blocks {
				counts[k].addBlock(b.text, b.index<<32, o.Pattern, &special)
			}
		}()
	}
	reader := blockReader{r: r, pattern: o.Pattern, special: &special, size: blockSize}
	meter := newMeter(o.Progress, "read", readerSize(r))
	for index := uint64(0); ; index++ {
		text, readErr := reader.next(ctx)
		if readErr != nil {
			if !errors.Is(readErr, io.EOF) {
				err = readErr
			}
			break
		}
		blocks <- block{text, index}
		meter.at(reader.read)
	}
	close(blocks)
	wait.Wait()
	meter.report(reader.read)
	if err != nil {
		return nil, err
	}

	all := &counts[0]
	for k := range counts[1:] {
		part := &counts[k+1]
		for i := range part.words {
			c := &part.words[i]
			all.add(string(part.text(c)), c.count, c.first)
		}
		*part = wordCounts{}
	}
	all.slots = nil // the order of the words is about to change
	sort.Slice(all.words, func(i, j int) bool { return all.words[i].first < all.words[j].first })
	return all, nil
}

// addBlock counts the pieces of one block.
func (w *wordCounts) addBlock(text string, first uint64, pattern *Pattern, special *specials) {
	special.each(text, func(part string, _ int32, special bool) {
		if special {
			return
		}
		pattern.each(part, func(piece string, _ bool) {
			if len(piece) > 1 {
				w.add(piece, 1, first)
			}
			first++
		})
	})
}
