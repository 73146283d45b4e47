package tensor

import (
	"sync/atomic"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/memory"
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

	freed  bool        // memory was given back, and data is nil
	pooled bool        // data came from package memory, which hands it out again
	lent   atomic.Bool // somebody may hold data in another way, so that it can't be recycled

	// Where the elements lie on a device other than the processor, data is nil.
	device device.Backend
	memory device.Memory // nil if size is 0

	// mirror is what memory held when the version was mirrored, if it came from an
	// earlier notebook cell: it need not be fetched to be kept once more.
	mirror   []byte
	mirrored uint64

	pinnedBy device.Backend // the device that reads data by itself, nil for ordinary memory
}

// large is the number of bytes from which on one allocation more, or a weak pointer, is
// no part of the time that it takes to compute the elements. It is less in some tests.
var large = 64 << 10

// allocate returns size bytes, aligned. Without zero their content is
// undefined and, where the block is large, its memory has not been touched.
func (s *storage) allocate(size int, zero bool) {
	s.size = size
	if size == 0 {
		return
	}
	s.data, s.pooled = memory.Take(size, zero)
	s.noteMade()
	if observed() {
		announceAllocated(s)
	}
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
