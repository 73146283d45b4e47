package tokenizer

// pairIndex finds pairs by their tokens: a hash table with open addressing.
type pairIndex struct {
	keys  []uint64 // 0 is empty
	pairs []int32  // index of the pair plus one
	shift int
	used  int
}

// find returns where the index of a pair, plus one, is kept: 0 for a new one, which the caller must set. The place
// is valid until the next call.
func (x *pairIndex) find(left, right int32) *int32 {
	if 2*x.used >= len(x.keys) {
		x.grow()
	}
	key := pairKey(left, right)
	i := x.slot(key)
	if x.keys[i] == 0 {
		x.keys[i] = key
		x.used++
	}
	return &x.pairs[i]
}

func (x *pairIndex) slot(key uint64) uint64 {
	i := key * 0x9e3779b97f4a7c15 >> x.shift
	for x.keys[i] != key && x.keys[i] != 0 {
		i = (i + 1) & uint64(len(x.keys)-1)
	}
	return i
}

func (x *pairIndex) grow() {
	old := *x
	n := max(1<<12, 2*len(old.keys))
	x.keys, x.pairs = make([]uint64, n), make([]int32, n)
	for x.shift = 64; 1<<(64-x.shift) < n; x.shift-- {
	}
	for i, key := range old.keys {
		if key != 0 {
			j := x.slot(key)
			x.keys[j], x.pairs[j] = key, old.pairs[i]
		}
	}
}

// pairHeap holds the pairs that may be merged, the next one on top.
//
// An entry may be out of date, but only in one direction: after the merge that made it, a pair is never counted
// again, so its count only falls and its first place only moves back. A pair on top whose entry is up to date is
// therefore the one to merge, and one whose entry isn't is moved to where it now belongs.
type pairHeap []heapEntry

type heapEntry struct {
	count int64
	first int32 // where the pair occurs first, which decides among equal counts if the rule is FirstCounted
	pair  int32
}

// precedes says whether a is to be merged before b.
func (tr *trainer) precedes(a, b heapEntry) bool {
	if a.count != b.count {
		return a.count > b.count
	}
	if tr.ties == GreatestPair {
		p, q := &tr.pairs[a.pair], &tr.pairs[b.pair]
		if c := comparePairs(tr.vocab, p.left, p.right, q.left, q.right); c != 0 {
			return c > 0
		}
		// Two pairs can spell the same bytes if a token was made in two ways; then the naive loop takes
		// the one that it counts first.
	}
	return a.first < b.first
}

// entry returns a pair's current entry. Places that no longer hold are dropped from its list.
func (tr *trainer) entry(k int32) heapEntry {
	p := &tr.pairs[k]
	if p.count == 0 {
		return heapEntry{pair: k}
	}
	for !tr.holds(p, p.places[0]) {
		p.places = p.places[1:]
	}
	return heapEntry{count: p.count, first: p.places[0], pair: k}
}

func (tr *trainer) push(k int32) {
	tr.heap = append(tr.heap, tr.entry(k))
	h := tr.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !tr.precedes(h[i], h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// pop removes the pair to merge next, or returns ok false when no pair is left.
func (tr *trainer) pop() (k int32, ok bool) {
	for len(tr.heap) > 0 {
		top := tr.heap[0]
		now := tr.entry(top.pair)
		if now == top {
			tr.dropTop()
			return top.pair, true
		}
		if now.count < tr.minCount {
			tr.dropTop()
			continue
		}
		tr.heap[0] = now
		tr.down()
	}
	return 0, false
}

func (tr *trainer) dropTop() {
	last := len(tr.heap) - 1
	tr.heap[0] = tr.heap[last]
	tr.heap = tr.heap[:last]
	tr.down()
}

// down moves the top entry to where it belongs.
func (tr *trainer) down() {
	h := tr.heap
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && tr.precedes(h[child+1], h[child]) {
			child++
		}
		if !tr.precedes(h[child], h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
