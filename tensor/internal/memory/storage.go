package memory

import (
	"sync/atomic"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// Storage is the memory behind a tensor. Views share it; the version counts writes, so
// that a gradient can tell that a value it saved has changed.
type Storage struct {
	Data    unsafe.Pointer // aligned to Alignment
	Size    int            // bytes
	Version atomic.Uint64
	Role    atomic.Uint32 // what the memory is for: one of the numbers below

	freed  atomic.Bool // see Freed
	pooled bool        // Data came from Take, and Give takes it
	lent   atomic.Bool // Data may be held in another way, so that it can't be recycled

	// If the elements are on a device other than the processor, Data is nil.
	Device device.Backend
	Memory device.Memory // nil if Size is 0

	// Mirror is what Memory held when the version was Mirrored, if it came from an earlier
	// notebook cell: then it need not be fetched to be kept again.
	Mirror   []byte
	Mirrored uint64

	PinnedBy device.Backend // the device that reads Data directly, nil for ordinary memory
}

// The roles of memory, for memory accounts.
const (
	NoRole         = iota // values computed on the way
	Parameter             // trained
	Gradient              // kept by a node: another node must then keep a copy
	OptimizerState        // moments and the like
	Input                 // data: inputs and targets
)

// Large is the number of bytes from which one more allocation, or a weak pointer,
// doesn't matter beside the time that it takes to compute the elements. It is less in
// some tests.
var Large = 64 << 10

// Allocate gives s, which has no memory, size bytes, more than 0. Without zero, their
// content is undefined and, if the block is large, its memory has not been touched.
func (s *Storage) Allocate(size int, zero bool) {
	s.Size = size
	s.Data, s.pooled = Take(size, zero)
	s.NoteMade()
}

// Elsewhere returns what remains of a dropped storage: nil, or something that tells on
// which device it was.
func (s *Storage) Elsewhere() *Storage {
	if s == nil || s.Device == nil {
		return nil
	}
	return &Storage{Device: s.Device}
}

// Lend says that the memory of s is about to be seen by code that may look at it after
// s is freed.
func (s *Storage) Lend() {
	if !s.lent.Load() { // many may look at once, and need not write
		s.lent.Store(true)
	}
}

// Lent reports whether the memory of s may be held in another way.
func (s *Storage) Lent() bool { return s.lent.Load() }

// Ours reports whether only tensors of s can write to its memory.
func (s *Storage) Ours() bool { return (s.pooled || s.Device != nil) && !s.lent.Load() }

// Freed reports whether the memory was freed, and Data is nil. Memory accounts ask while others use the
// storage.
func (s *Storage) Freed() bool { return s.freed.Load() }

// SetFreed marks a storage that never had its memory as freed.
func (s *Storage) SetFreed() { s.freed.Store(true) }

// Free frees the memory.
func (s *Storage) Free() {
	if s.Size == 0 || s.Freed() {
		return
	}
	s.freed.Store(true)
	switch {
	case s.Memory != nil:
		s.Memory.Free()
		s.Memory = nil
	case s.pooled && !s.lent.Load():
		Give(s.Data, s.Size)
	}
	s.Data = nil // the rest is left to the collector
}

// outlives reports whether s is in use after the step that made it.
func (s *Storage) outlives() bool {
	role := s.Role.Load()
	return role != NoRole && role != Input
}
