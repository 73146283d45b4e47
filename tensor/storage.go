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

	// Where the elements lie on a device other than the processor, data is nil.
	device device.Backend
	memory device.Memory // nil if size is 0
	freed  bool          // memory was given back by Free or FreeAfter

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
	var base unsafe.Pointer
	if zero {
		base = unsafe.Pointer(unsafe.SliceData(make([]byte, size+alignment-8)))
	} else {
		base = uninitialised(size + alignment - 8)
	}
	// The allocator aligns to 8 bytes at least.
	s.data = unsafe.Add(base, -uintptr(base)&(alignment-1))
	cpu.Settle(s.data, size)
	if observed() {
		announceAllocated(s)
	}
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
