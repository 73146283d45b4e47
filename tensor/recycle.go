package tensor

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/lectern-go/lectern/internal/race"
)

// Memory of the processor is Go's, which knows what nobody needs any more only
// after its collector ran. By then megabytes of other results were written, so
// that the next result lies in memory that is in no near cache: an addition of 4096
// numbers takes several times as long (go test -bench ResultMemory). So what is given back earlier, by Free,
// FreeAfter or Backward, is handed out again as it is, and the collector has less
// to do.

// Blocks come in sizes of which there are eight from one power of two to the next.
// Those of more than 512 bytes and of at most 1 GiB are handed out again. Large ones
// are in no cache anyway, but the system takes time to give each of their pages, and a
// step that makes several of them, such as the logits of a language model, would hold
// those of the step before, too, until the collector has run.
var recycleOver = 9 // log2; less in tests, whose tensors are small

const (
	recycleUpTo = 30 // log2
	perDoubling = 8
)

// recycled holds blocks that nobody uses, by class. A processor gets back first
// what it put in last. Blocks that stay are dropped when the collector has run twice.
var recycled [recycleUpTo * perDoubling]sync.Pool

// spoilt says that recycled memory is filled with ones, which are NaN, or -1, so that
// a wrong use shows.
var spoilt = race.Enabled

// blockClass returns the class for a number of bytes and what its blocks hold;
// ok is false for sizes that are not handed out again.
func blockClass(size int) (class, capacity int, ok bool) {
	if size <= 1<<recycleOver || size > 1<<recycleUpTo {
		return 0, size, false
	}
	last := uint(size - 1)
	octave := bits.Len(last) - 1
	shift := octave - bits.Len(perDoubling-1)
	part := int(last >> shift) // from perDoubling to twice that
	return octave*perDoubling + part - perDoubling, (part + 1) << shift, true
}

// recycle hands the memory of s, a block of blockClass, to whoever needs one next.
func (s *storage) recycle() {
	class, _, _ := blockClass(s.size)
	if spoilt {
		block := unsafe.Slice((*byte)(s.data), s.size)
		for i := range block {
			block[i] = 0xff
		}
	}
	recycled[class].Put((*byte)(s.data))
}
