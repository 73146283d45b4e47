package tensor

import (
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/device"
)

// storage is the memory behind a tensor. Views share it; the version counts
// the writes, so that a gradient can tell that a value it saved was changed.
type storage struct {
	data    unsafe.Pointer // aligned to alignment bytes
	size    int            // bytes
	version atomic.Uint64
	// role is what the memory is for, a Role. Gradient says that a node keeps
	// it: another node must then keep a copy.
	role atomic.Uint32

	freed   bool        // memory was given back, and data is nil
	inClass bool        // data is a block of blockClass
	lent    atomic.Bool // somebody may hold data in another way, so that it can't be recycled

	// Where the elements lie on a device other than the processor, data is nil.
	device device.Backend
	memory device.Memory // nil if size is 0

	// mirror is what memory held when the version was mirrored, if it came from an
	// earlier notebook cell: it need not be fetched to be kept once more.
	mirror   []byte
	mirrored uint64

	pinnedBy device.Backend // the device that reads data by itself, nil for ordinary memory
}

// alignment is that of a cache line and of the widest vector registers.
const alignment = 64

// allocate returns size bytes, aligned. Without zero their content is
// undefined and, where the block is large, its memory has not been touched.
func (s *storage) allocate(size int, zero bool) {
	s.size = size
	if size == 0 {
		return
	}
	class, capacity, ok := blockClass(size)
	s.inClass = ok
	if ok {
		if block, _ := recycled[class].Get().(*byte); block != nil {
			s.data = unsafe.Pointer(block)
			if zero {
				clear(unsafe.Slice(block, size))
			}
		}
	}
	if s.data == nil {
		aboutToTake(capacity)
		s.data = aligned(capacity, zero)
		cpu.Settle(s.data, size)
	}
	s.noteMade()
	if observed() {
		announceAllocated(s)
	}
}

// aligned returns n bytes of collected memory.
func aligned(n int, zero bool) unsafe.Pointer {
	take := uninitialised
	if zero {
		take = func(n int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(make([]byte, n))) }
	}
	if n > 512 { // the allocator aligns blocks of these sizes by itself
		if p := take(n); uintptr(p)%alignment == 0 {
			return p
		}
	}
	base := take(n + alignment - 8) // it aligns to 8 bytes at least
	return unsafe.Add(base, -uintptr(base)&(alignment-1))
}

// uninitialised returns n bytes of ordinary collected memory that nobody has
// cleared. A strings.Builder is the one place of the standard library that
// hands such memory out: it may, as it only shows what was written.
func uninitialised(n int) unsafe.Pointer {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Pointer(unsafe.StringData(b.String()))
}

// elsewhere returns what is left of a storage that is dropped: nil, or
// what tells on which device it was.
func (s *storage) elsewhere() *storage {
	if s == nil || s.device == nil {
		return nil
	}
	return &storage{device: s.device}
}

// lend says that the memory of s is about to be seen by those who may look at it
// after s was freed.
func (s *storage) lend() {
	if !s.lent.Load() { // many may look at once, and need not write
		s.lent.Store(true)
	}
}

// bytes returns the whole memory.
func (s *storage) bytes() []byte {
	s.needHost()
	return unsafe.Slice((*byte)(s.data), s.size)
}

// elements returns the whole memory as a slice of T.
func elements[T any](s *storage) []T {
	s.needHost()
	var t T
	return unsafe.Slice((*T)(s.data), s.size/int(unsafe.Sizeof(t)))
}
