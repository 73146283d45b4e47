// Package memory hands out the processor's memory for the elements of tensors, takes back
// what is freed, and starts the garbage collector when that pays.
package memory

import (
	"math/bits"
	"strings"
	"sync"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/race"
)

// Memory of the processor is Go's, which learns what nobody needs any more only when
// its collector has run. By then megabytes of other results have been written, so the
// next result goes to memory that is in no near cache: an addition of 4096 numbers
// takes several times as long (go test -bench ResultMemory ./tensor). So memory that
// is freed earlier, by Free, FreeAfter or Backward, is handed out again as it is, and
// the collector has less to do.

// Block sizes come in eight steps from one power of two to the next. Blocks of more
// than 512 bytes and at most 1 GiB are handed out again. Large ones are in no cache
// anyway, but the system takes time to provide each of their pages, and a step that
// makes several of them, such as the logits of a language model, would also hold those
// of the previous step until the collector has run.

// RecycleOver is log2 of the size above which blocks are recycled; less in tests,
// whose tensors are small.
var RecycleOver = 9

const (
	recycleUpTo = 30 // log2
	perDoubling = 8
)

// recycled holds unused blocks, by class. A processor gets back first what it put in
// last. Blocks that stay are dropped after the collector has run twice.
var recycled [recycleUpTo * perDoubling]sync.Pool

// Spoilt says that recycled memory is filled with one bits, which read as NaN or -1,
// so that wrong use shows.
var Spoilt = race.Enabled

// blockClass returns the class for a number of bytes and the size of its blocks; ok is
// false for sizes that are not handed out again.
func blockClass(size int) (class, capacity int, ok bool) {
	if size <= 1<<RecycleOver || size > 1<<recycleUpTo {
		return 0, size, false
	}
	last := uint(size - 1)
	octave := bits.Len(last) - 1
	shift := octave - bits.Len(perDoubling-1)
	part := int(last >> shift) // from perDoubling to twice that
	return octave*perDoubling + part - perDoubling, (part + 1) << shift, true
}

// Take returns size bytes, more than 0, aligned. Without zero, their content is
// undefined and, if the block is large, its memory has not been touched. pooled says
// that Give will take the block.
func Take(size int, zero bool) (block unsafe.Pointer, pooled bool) {
	class, capacity, pooled := blockClass(size)
	aboutToHand(capacity)
	if pooled {
		if given, _ := recycled[class].Get().(*byte); given != nil {
			if zero {
				clearAll(unsafe.Slice(given, size))
			}
			return unsafe.Pointer(given), true
		}
	}
	block = aligned(capacity, zero)
	cpu.AdviseHuge(block, size)
	return block, pooled
}

// clearAll is clear, on several threads where that is worth it.
func clearAll(b []byte) {
	const piece = 1 << 20
	if len(b) < 2*piece {
		clear(b)
		return
	}
	cpu.Parallel((len(b)+piece-1)/piece, func(i int) { clear(b[i*piece : min((i+1)*piece, len(b))]) })
}

// Give keeps a pooled block of size bytes for the next caller that needs one. It must not
// be used any more.
func Give(block unsafe.Pointer, size int) {
	class, _, _ := blockClass(size)
	if Spoilt {
		bytes := unsafe.Slice((*byte)(block), size)
		for i := range bytes {
			bytes[i] = 0xff
		}
	}
	recycled[class].Put((*byte)(block))
}

// Alignment is that of a cache line and of the widest vector registers.
const Alignment = 64

// aligned returns n bytes of garbage-collected memory.
func aligned(n int, zero bool) unsafe.Pointer {
	take := uninitialized
	if zero {
		take = func(n int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(make([]byte, n))) }
	}
	if n > 512 { // the allocator aligns blocks of these sizes by itself
		if p := take(n); uintptr(p)%Alignment == 0 {
			return p
		}
	}
	base := take(n + Alignment - 8) // it aligns to 8 bytes at least
	return unsafe.Add(base, -uintptr(base)&(Alignment-1))
}

// uninitialized returns n bytes of ordinary garbage-collected memory that nobody has
// cleared. A strings.Builder is the only place in the standard library that hands out
// such memory: it may, because it only shows what was written.
func uninitialized(n int) unsafe.Pointer {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Pointer(unsafe.StringData(b.String()))
}
