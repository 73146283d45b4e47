package tensor

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/rawtensor"
	"github.com/lectern-go/lectern/tensor/internal/memory"
)

func init() {
	rawtensor.Register(&rawtensor.Access[*Tensor]{
		Grad:       (*Tensor).borrowGrad,
		Float32s:   borrow[float32],
		Float64s:   borrow[float64],
		Wrote:      func(t *Tensor) { t.storage.Version.Add(1) },
		UpdateMany: updateManyOn,
	})
}

// Wrap returns a contiguous tensor over existing memory, such as a mapped file,
// without copying it: writing to one writes to the other, and the tensor is valid for
// as long as the memory is. Only if the memory is not aligned to the size of its
// elements, or if dtype is Bool, whose bytes must be 0 or 1, are the elements copied.
// It panics unless there are exactly as many bytes as the elements take.
func Wrap(bytes []byte, dtype Dtype, shape ...int) *Tensor {
	size := checkedLen(shape) * dtype.Size()
	if size != len(bytes) {
		fail(ErrShape, "wrap", fmt.Sprintf("%d bytes as %s %v", len(bytes), dtype, shape),
			fmt.Sprintf("the elements take %d bytes", size), "")
	}
	data := unsafe.Pointer(unsafe.SliceData(bytes))
	if dtype == Bool || uintptr(data)%uintptr(dtype.Size()) != 0 {
		t := newTensor(dtype, shape, false)
		copy(bytesOf(t.storage), bytes)
		if dtype == Bool {
			for i, b := range bytesOf(t.storage) {
				bytesOf(t.storage)[i] = min(b, 1)
			}
		}
		return t
	}
	return &Tensor{storage: &memory.Storage{Data: data, Size: size}, layout: ContiguousLayout(slices.Clone(shape)...), dtype: dtype}
}

// RawBytes returns the memory of a contiguous tensor: its elements as they are
// stored, in the byte order of the machine. The slice shares the memory. It
// panics if t is not contiguous.
func (t *Tensor) RawBytes() []byte {
	t.exist("raw bytes")
	t.mustBeHere("raw bytes")
	if !t.IsContiguous() {
		fail(ErrView, "raw bytes", describe(t), "the elements do not lie in row-major order", "use Contiguous() first")
	}
	if t.Len() == 0 {
		return nil
	}
	t.storage.Lend()
	return bytesOf(t.storage)[t.layout.Offset*t.dtype.Size():][:t.Bytes():t.Bytes()]
}

// SetData gives t the elements of x: t takes over its shape, dtype and memory, which
// the two then share, and stays the leaf that it was, with its hooks. Code that holds
// t, such as an optimizer, sees the change; views of the old memory don't. The
// gradient of t is dropped if shape or dtype change. It returns t. It panics if t is
// the result of a recorded operation, or if t requires a gradient and x is not
// floating point.
func (t *Tensor) SetData(x *Tensor) *Tensor {
	t.existBeside("set data", x)
	if !t.IsLeaf() {
		fail(ErrGrad, "set data", describe(t), fmt.Sprintf("the tensor is the result of %q; only a leaf can be given other elements", t.graph().Function().Name()), "")
	}
	if t.node != nil && !x.dtype.IsFloat() {
		fail(ErrDtype, "set data", x.dtype.String(), "only floating-point tensors have gradients", "convert with To(tensor.Float32)")
	}
	if t.node != nil && (x.dtype != t.dtype || !slices.Equal(x.layout.Shape, t.layout.Shape)) {
		t.node.ClearGrad()
	}
	role := t.storage.Role.Load()
	t.storage, t.layout, t.dtype, t.base = x.storage, x.layout.Copied(0), x.dtype, nil
	if t.storage.Role.CompareAndSwap(uint32(NoRole), role) && observed() {
		announceStorage(RoleSet, t)
	}
	return t
}

// Page-locked memory stays at its place in the machine's memory, so that a device can
// read it directly, while the processor and the device do other things.

// PinMemory returns a contiguous copy of t on the processor, in page-locked
// memory of d; for the processor, t itself. It panics if t lies elsewhere, or if there
// is no such memory left.
func (t *Tensor) PinMemory(d Device) *Tensor {
	t.exist("pin memory")
	if d.IsCPU() {
		return t
	}
	if t.backend() != nil {
		fail(ErrDevice, "pin memory", describe(t)+" on "+t.Device().String(), "only memory of the processor can be pinned", "copy the tensor here with To(tensor.CPU)")
	}
	pinned := newPinned(d.backend, t.dtype, t.layout.Shape)
	pinned.assign(t)
	return pinned
}

// IsPinned reports whether the elements of t lie in page-locked memory.
func (t *Tensor) IsPinned() bool {
	t.exist("is pinned")
	return t.storage.PinnedBy != nil
}

// newPinned returns a tensor in page-locked memory, which is freed when it is no
// longer reachable.
func newPinned(by device.Backend, dtype Dtype, shape []int) *Tensor {
	s := &memory.Storage{PinnedBy: by}
	if size := checkedLen(shape) * dtype.Size(); size > 0 {
		block, free, err := by.Pin(size)
		if err != nil {
			failOnDevice("pin memory", fmt.Sprintf("%v %s", shape, dtype), by.Name(), err)
		}
		s.Data, s.Size = unsafe.Pointer(unsafe.SliceData(block)), size
		runtime.AddCleanup(s, func(free func()) { free() }, free)
	}
	return &Tensor{storage: s, layout: ContiguousLayout(append([]int(nil), shape...)...), dtype: dtype}
}

// Prefetch returns t on d, as To does, but does not wait: earlier work on d goes on
// while t is copied, and operations on the result wait for it. t must be
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
	block, arrived, err := d.backend.Prefetch(t.memory())
	if err != nil {
		failOnDevice("prefetch", describe(t)+" "+t.dtype.String(), d.String(), err)
	}
	s := &memory.Storage{Device: d.backend, Memory: block, Size: t.Bytes()}
	if observed() {
		announceAllocated(s)
	}
	held := t.storage // for as long as the device reads it
	return &Tensor{storage: s, layout: ContiguousLayout(t.Shape()...), dtype: t.dtype}, func() error {
		defer runtime.KeepAlive(held)
		return arrived()
	}
}

// Free and FreeAfter free memory before the collector does. Memory of the processor is then recycled; see
// internal/memory.

// Free frees the memory of t and all its views: any further use of their elements
// panics. The next result of that size is then as fast to make as one in place. Slices
// that [Data] or RawBytes returned stay as they are.
func (t *Tensor) Free() {
	t.exist("free")
	t.storage.Free()
}

// FreeAfter runs f, and then frees the memory of all tensors that were made in it, on
// its goroutine, except for parameters, gradients and the state of optimizers, which
// outlive a step, and for tensors that f passes to keep, which returns its argument.
// Gradients are freed by the call in which ZeroGrad removes them:
//
//	for step := range steps {
//		tensor.FreeAfter(func(keep func(*tensor.Tensor) *tensor.Tensor) {
//			optimizer.ZeroGrad(true)
//			loss := model.Forward(x)
//			loss.Backward()
//			optimizer.Step()
//			last = keep(loss.Detach())
//		})
//	}
//
// It does so even if f panics. Calls may be nested. Freed tensors can't be used any
// more; see [Tensor.Free]. The collector may free what f can no longer reach before f
// ends, but it takes time to find that, so f should be one step of a loop, not the loop.
func FreeAfter(f func(keep func(*Tensor) *Tensor)) {
	memory.FreeAfter(func(keep func(*memory.Storage)) {
		f(func(t *Tensor) *Tensor {
			keep(t.storage)
			return t
		})
	})
}
