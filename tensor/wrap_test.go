package tensor_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/lectern-go/lectern/internal/rawtensor"
	"github.com/lectern-go/lectern/tensor"
)

func TestWrapSharesMemory(t *testing.T) {
	memory := tensor.Of(1., 2, 3, 4).RawBytes()
	x := tensor.Wrap(memory, tensor.Float32, 2, 2)
	x.SetAt(9, 1, 1)
	if got := tensor.Wrap(memory, tensor.Float32, 4).At(3); got != 9 {
		t.Errorf("a write to the tensor did not reach the memory: got %v", got)
	}
	err := tensor.Try(func() { tensor.Wrap(memory, tensor.Float32, 3) })
	if !errors.Is(err, tensor.ErrShape) {
		t.Errorf("16 bytes as 3 float32: got %v, want ErrShape", err)
	}
}

func TestWrapCopiesWhatItCannotShare(t *testing.T) {
	memory := make([]byte, 16)
	if uintptr(unsafe.Pointer(&memory[1]))%8 == 0 {
		memory = memory[1:]
	}
	memory[1] = 1
	x := tensor.Wrap(memory[1:9], tensor.Int64)
	memory[1] = 2
	if x.Item() != 1 {
		t.Errorf("unaligned memory was shared: got %v", x)
	}
	b := tensor.Wrap([]byte{0, 7}, tensor.Bool, 2)
	if got := tensor.Data[uint8](b.To(tensor.Uint8)); got[1] != 1 {
		t.Errorf("bool byte 7: got %d, want 1", got[1])
	}
}

func TestRawBytesAreThoseOfTheView(t *testing.T) {
	x := tensor.With(tensor.Uint8).Of([]int{1, 2}, []int{3, 4})
	if got := x.Select(0, 1).RawBytes(); len(got) != 2 || got[0] != 3 {
		t.Errorf("second row: got %v", got)
	}
	if err := tensor.Try(func() { x.T().RawBytes() }); !errors.Is(err, tensor.ErrView) {
		t.Errorf("transposed: got %v, want ErrView", err)
	}
}

func TestSetDataKeepsTheLeaf(t *testing.T) {
	w := tensor.Of(1., 2).RequireGrad()
	w.Sum().Backward()
	w.SetData(w.Detach().To(tensor.BFloat16))
	if w.Dtype() != tensor.BFloat16 || !w.RequiresGrad() || w.Grad() != nil {
		t.Errorf("got %v, requires grad %v, grad %v", w.Dtype(), w.RequiresGrad(), w.Grad())
	}
	w.Mul(3).Sum().Backward()
	if got := w.Grad().At(1); got != 3 {
		t.Errorf("gradient after SetData: got %v, want 3", got)
	}
	if err := tensor.Try(func() { w.Mul(2).SetData(w) }); !errors.Is(err, tensor.ErrGrad) {
		t.Errorf("SetData of a result: got %v, want ErrGrad", err)
	}
	if err := tensor.Try(func() { w.SetData(tensor.Of(1, 2)) }); !errors.Is(err, tensor.ErrDtype) {
		t.Errorf("integers for a leaf with gradient: got %v, want ErrDtype", err)
	}
}

func TestWritesPastMethodsAreNoticedByBackward(t *testing.T) {
	w := tensor.Of(1., 2).RequireGrad()
	loss := w.Mul(w).Sum()
	tensor.Data[float32](w.Detach())[0] = 5
	rawtensor.Of[*tensor.Tensor]().Wrote(w)
	if err := tensor.Try(func() { loss.Backward() }); !errors.Is(err, tensor.ErrGrad) {
		t.Errorf("Backward after a direct write: got %v, want ErrGrad", err)
	}
}
