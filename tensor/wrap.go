package tensor

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/internal/inside"
)

func init() {
	inside.Open(&inside.Door[*Tensor]{
		Grad:     (*Tensor).borrowGrad,
		Float32s: borrow[float32],
		Float64s: borrow[float64],
		Wrote:    func(t *Tensor) { t.storage.version.Add(1) },
		Update:   updateOn,
	})
}

// Wrap returns a contiguous tensor over memory that is already there, such as a
// mapped file, without copying it: writing to one writes to the other, and the
// tensor is valid for as long as the memory is. The elements are copied after
// all if the memory is not aligned to their size, or if dtype is Bool, whose
// bytes must be 0 or 1. It panics if the length of memory is not that of the
// elements.
func Wrap(memory []byte, dtype Dtype, shape ...int) *Tensor {
	size := checkedLen(shape) * dtype.Size()
	if size != len(memory) {
		fail(ErrShape, "wrap", fmt.Sprintf("%d bytes as %s %v", len(memory), dtype, shape),
			fmt.Sprintf("the elements take %d bytes", size), "")
	}
	data := unsafe.Pointer(unsafe.SliceData(memory))
	if dtype == Bool || uintptr(data)%uintptr(dtype.Size()) != 0 {
		t := newTensor(dtype, shape, false)
		copy(t.storage.bytes(), memory)
		if dtype == Bool {
			for i, b := range t.storage.bytes() {
				t.storage.bytes()[i] = min(b, 1)
			}
		}
		return t
	}
	return &Tensor{storage: &storage{data: data, size: size}, layout: ContiguousLayout(slices.Clone(shape)...), dtype: dtype}
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
	t.storage.lend()
	return t.storage.bytes()[t.layout.Offset*t.dtype.Size():][:t.Bytes():t.Bytes()]
}

// SetData makes t show the elements of x: t takes over shape, dtype and memory,
// which the two then share, and stays the leaf that it was, with its hooks.
// Whoever holds t, such as an optimizer, sees the change; views of the old
// memory don't. The gradient of t is dropped if shape or dtype change. It
// returns t. It panics if t is the result of a recorded operation, or if t
// requires a gradient and x is not floating point.
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
	role := t.storage.role.Load()
	t.storage, t.layout, t.dtype, t.base = x.storage, x.layout.Copied(0), x.dtype, nil
	if t.storage.role.CompareAndSwap(uint32(NoRole), role) && observed() {
		announceStorage(RoleSet, t)
	}
	return t
}
