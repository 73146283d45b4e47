package tensor

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// Page-locked memory stays where it is in the machine's memory, so that a device
// can read it by itself, while the processor and the device do other things.

// PinMemory returns a contiguous copy of t on the processor, in page-locked
// memory of d; for the processor, t itself. It panics if t lies elsewhere or
// there is no such memory left.
func (t *Tensor) PinMemory(d Device) *Tensor {
	t.exist("pin memory")
	if d.IsCPU() {
		return t
	}
	if t.backend() != nil {
		fail(ErrDevice, "pin memory", describe(t)+" on "+t.Device().String(), "only memory of the processor can be pinned", "bring the tensor here with To(tensor.CPU)")
	}
	pinned := newPinned(d.backend, t.dtype, t.layout.Shape)
	pinned.assign(t)
	return pinned
}

// IsPinned reports whether the elements of t lie in page-locked memory.
func (t *Tensor) IsPinned() bool {
	t.exist("is pinned")
	return t.storage.pinnedBy != nil
}

// newPinned returns a tensor in page-locked memory, which is given back when
// nobody holds it any more.
func newPinned(by device.Backend, dtype Dtype, shape []int) *Tensor {
	s := &storage{pinnedBy: by}
	if size := checkedLen(shape) * dtype.Size(); size > 0 {
		memory, free, err := by.Pin(size)
		if err != nil {
			failOnDevice("pin memory", fmt.Sprintf("%v %s", shape, dtype), by.Name(), err)
		}
		s.data, s.size = unsafe.Pointer(unsafe.SliceData(memory)), size
		runtime.AddCleanup(s, func(free func()) { free() }, free)
	}
	return &Tensor{storage: s, layout: ContiguousLayout(append([]int(nil), shape...)...), dtype: dtype}
}

// Prefetch returns t on d, as To does, but does not wait: earlier work on d goes on
// while t is copied, and what is computed from the result waits for it. t must be
// contiguous and pinned, and must not be changed before wait returns. For the
// processor it returns t. It panics for any other tensor, and if d has no room.
func (t *Tensor) Prefetch(d Device) (copied *Tensor, wait func() error) {
	t.exist("prefetch")
	if d.IsCPU() || t.Len() == 0 {
		return t.To(d), func() error { return nil }
	}
	if !t.IsPinned() || !t.IsContiguous() {
		fail(ErrDevice, "prefetch", describe(t), "the elements do not lie in row-major order in page-locked memory", "make a copy with PinMemory first")
	}
	memory, arrived, err := d.backend.Prefetch(t.memory())
	if err != nil {
		failOnDevice("prefetch", describe(t)+" "+t.dtype.String(), d.String(), err)
	}
	s := &storage{device: d.backend, memory: memory, size: t.Bytes()}
	if observed() {
		announceAllocated(s)
	}
	held := t.storage // for as long as the device reads it
	return &Tensor{storage: s, layout: ContiguousLayout(t.Shape()...), dtype: t.dtype}, func() error {
		defer runtime.KeepAlive(held)
		return arrived()
	}
}
