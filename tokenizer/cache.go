package tokenizer

// Text repeats its words, so most pieces have been encoded before. The cache has a fixed size: a word
// has one place, and a new word takes the place of the old one.
const (
	cacheBits      = 14 // 1<<14 places of 64 bytes: 1 MiB for every goroutine that encodes
	maxCachedBytes = 24 // longer words are rare and not kept
	maxCachedIDs   = 9
)

type wordCache []cacheEntry

// cacheEntry is one word and its tokens, in one line of the processor's cache.
type cacheEntry struct {
	word   packedWord
	length uint8
	count  uint8 // of ids; 0 when the place is empty
	ids    [maxCachedIDs]int32
}

// packedWord is a word of up to 24 bytes in a form that compares fast. Words of different lengths may
// have the same.
type packedWord struct{ a, b, c uint64 }

func newWordCache() wordCache { return make(wordCache, 1<<cacheBits) }

// place returns where a word is if it is there.
func (c wordCache) place(w packedWord) *cacheEntry {
	h := w.a*0x9e3779b97f4a7c15 ^ w.b*0xc2b2ae3d27d4eb4f ^ w.c*0x165667b19e3779f9
	h = (h ^ h>>32) * 0x9e3779b97f4a7c15
	return &c[h>>(64-cacheBits)]
}

// pack packs a word of 2 to 24 bytes. The loads overlap if the length is not a multiple of their width.
func pack(s string) packedWord {
	switch n := len(s); {
	case n > 16:
		return packedWord{load64(s, 0), load64(s, 8), load64(s, n-8)}
	case n >= 8:
		return packedWord{a: load64(s, 0), b: load64(s, n-8)}
	case n >= 4:
		return packedWord{a: load32(s, 0) | load32(s, n-4)<<32}
	default:
		return packedWord{a: uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16}
	}
}

func load64(s string, i int) uint64 { return load32(s, i) | load32(s, i+4)<<32 }

func load32(s string, i int) uint64 {
	_ = s[i+3]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24
}
