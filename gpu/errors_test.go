//go:build linux && cgo

package gpu

import (
	"errors"
	"testing"
)

// A failure that the context doesn't survive shows in the call that waits for
// the work; everything after it fails with the first failure.
func TestLostDevice(t *testing.T) {
	if !inChild(t) {
		return
	}
	c, err := open(0)
	mustNot(t, err)
	b := allocated(t, c, 100)
	mustNot(t, c.Upload(b, 0, make([]byte, 100)))
	t.Setenv("FAKECUDA_FAULT", "cuStreamSynchronize:1:700")
	err = c.Download(make([]byte, 100), b, 0)
	if !errors.Is(err, ErrLost) || errors.Is(err, ErrOutOfMemory) {
		t.Errorf("%v is no ErrLost", err)
	}
	wantError(t, err, "gpu: copy from the device on cuda:0: CUDA_ERROR_ILLEGAL_ADDRESS (CUDA 700): an illegal memory access was encountered", "start it again")
	_, allocate := c.Allocate(10, true)
	_, _, prefetch := c.Prefetch(nil)
	_, _, pin := c.Pin(10)
	_, event := NewEvent(0)
	_, _, info := MemoryInfo(0)
	for _, later := range []error{allocate, prefetch, pin, event, info, c.Synchronize(), EmptyCache(0), c.Upload(b, 0, []byte{1}), c.Download([]byte{1}, b, 0)} {
		if !errors.Is(later, ErrLost) {
			t.Errorf("%v is no ErrLost", later)
		}
		wantError(t, later, "the device was lost before", "ILLEGAL_ADDRESS")
		var first *Error
		if !errors.As(later, &first) || first.Code != 700 || !first.Lost {
			t.Errorf("%v hides the first failure", later)
		}
	}
	b.Free()
	c.collect()
	if c.Allocated() != 0 {
		t.Error("memory of a lost device still counts")
	}
}

// Failures that the context survives don't lose the device.
func TestFailureThatPasses(t *testing.T) {
	c := fakeCard(t)
	b := allocated(t, c, 10)
	t.Setenv("FAKECUDA_FAULT", "cuMemcpyDtoHAsync_v2:1:1")
	err := c.Download(make([]byte, 10), b, 0)
	wantError(t, err, "gpu: copy from the device on cuda:0: CUDA_ERROR_INVALID_VALUE (CUDA 1): invalid argument")
	if errors.Is(err, ErrLost) {
		t.Error("the device is lost")
	}
	roundTrip(t, c, 10)
}
