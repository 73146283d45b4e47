package tokenizer

import "math/bits"

// pairTable maps a pair of tokens to the rank of their merge and the token that it makes: a hash table with open
// addressing, because encoding does little but look things up here.
type pairTable struct {
	slots []pairSlot
	shift int // 64 - log2(len(slots))
	used  int
}

type pairSlot struct {
	key      uint64 // the pair, plus one so that 0 means empty
	rank, id int32
}

func pairKey(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) + 1 }

func newPairTable(n int) pairTable {
	size := 1 << bits.Len(uint(2*n+1)) // at most half full
	return pairTable{slots: make([]pairSlot, size), shift: 64 - bits.Len(uint(size)) + 1}
}

// slot returns where the key is, or the empty place where it would go.
func (t *pairTable) slot(key uint64) *pairSlot {
	i := key * 0x9e3779b97f4a7c15 >> t.shift
	for {
		s := &t.slots[i]
		if s.key == key || s.key == 0 {
			return s
		}
		if i++; i == uint64(len(t.slots)) {
			i = 0
		}
	}
}

func (t *pairTable) find(left, right int32) (rank, id int32, ok bool) {
	s := t.slot(pairKey(left, right))
	return s.rank, s.id, s.key != 0
}

// put adds a pair that is not there.
func (t *pairTable) put(left, right, rank, id int32) {
	if 2*(t.used+1) > len(t.slots) {
		bigger := newPairTable(len(t.slots))
		for _, s := range t.slots {
			if s.key != 0 {
				*bigger.slot(s.key) = s
			}
		}
		bigger.used = t.used
		*t = bigger
	}
	*t.slot(pairKey(left, right)) = pairSlot{pairKey(left, right), rank, id}
	t.used++
}
