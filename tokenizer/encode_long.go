package tokenizer

import (
	"fmt"
	"math"
)

// longPiece is the length from which searching all parts for the best merge, whose time grows with the square of
// the length, is slower than keeping the merges in a queue. Without a pattern the whole text is one piece.
const longPiece = 100

// link is a token of a long piece, in a doubly linked list.
type link struct {
	part
	prev, next int32 // -1 at the ends
}

// mergeLong is merge in time n log n: a queue holds the merges that apply, by rank and then from left to right. Merges
// that no longer apply when their turn comes are skipped.
func (e *encoder) mergeLong(ids []int32, piece string) []int32 {
	if len(piece) > math.MaxInt32 {
		panic(fmt.Sprintf("tokenizer: encode: a piece of %d bytes, and at most %d are possible; use a tokenizer with a pattern, or encode the text in parts", len(piece), math.MaxInt32))
	}
	links := e.links[:0]
	for i := range len(piece) {
		links = append(links, link{part: part{id: e.t.byteID[piece[i]]}, prev: int32(i) - 1, next: int32(i) + 1})
	}
	links[len(links)-1].next = -1
	e.queue = e.queue[:0]
	for i := range links {
		e.enqueue(links, int32(i))
	}
	e.queue.order()
	for len(e.queue) > 0 {
		rank, i := e.queue.pop()
		l := &links[i]
		if l.rank != rank {
			continue // one of the two was merged with another neighbor
		}
		gone := &links[l.next]
		gone.rank = noMerge
		l.id, l.next = l.joined, gone.next
		if l.next >= 0 {
			links[l.next].prev = i
		}
		if e.rateLink(links, i) {
			e.queue.push(l.rank, i)
		}
		if l.prev >= 0 && e.rateLink(links, l.prev) {
			e.queue.push(links[l.prev].rank, l.prev)
		}
	}
	for i := int32(0); i >= 0; i = links[i].next {
		ids = append(ids, links[i].id)
	}
	if cap(links) <= 1<<20 { // a huge text should not hold on to its memory
		e.links = links
	} else {
		e.links, e.queue = nil, nil
	}
	return ids
}

// rateLink looks up the merge of a link with the next one and reports whether there is one.
func (e *encoder) rateLink(links []link, i int32) bool {
	l := &links[i]
	l.rank = noMerge
	if l.next < 0 {
		return false
	}
	rank, id, ok := e.t.pairs.find(l.id, links[l.next].id)
	if ok {
		l.rank, l.joined = rank, id
	}
	return ok
}

// enqueue adds the merge of a link to the queue, which order must put in order afterwards.
func (e *encoder) enqueue(links []link, i int32) {
	if e.rateLink(links, i) {
		e.queue = append(e.queue, queued(links[i].rank, i))
	}
}

// mergeQueue is a binary heap of merges: the rank in the high half, the place in the low half.
type mergeQueue []uint64

func queued(rank, i int32) uint64 { return uint64(rank)<<32 | uint64(i) }

func (q mergeQueue) order() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

func (q *mergeQueue) push(rank, i int32) {
	*q = append(*q, queued(rank, i))
	h := *q
	for k := len(h) - 1; k > 0; {
		parent := (k - 1) / 2
		if h[parent] <= h[k] {
			break
		}
		h[parent], h[k] = h[k], h[parent]
		k = parent
	}
}

func (q *mergeQueue) pop() (rank, i int32) {
	h := *q
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	*q = h[:last]
	q.down(0)
	return int32(top >> 32), int32(uint32(top))
}

func (q mergeQueue) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q) {
			return
		}
		if child+1 < len(q) && q[child+1] < q[child] {
			child++
		}
		if q[i] <= q[child] {
			return
		}
		q[i], q[child] = q[child], q[i]
		i = child
	}
}
