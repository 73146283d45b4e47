//go:build linux && cgo

package gpu

import (
	"errors"
	"os"
	"testing"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// The tests of this file run where there is a device, on which they do what the
// tests without one do on the fake driver.

// realCard returns device 0 of this machine.
func realCard(t *testing.T) *card {
	t.Helper()
	forget()
	t.Cleanup(forget)
	c, err := open(0)
	if err != nil {
		t.Skip(err)
	}
	return c
}

func TestRealGPUMemory(t *testing.T) {
	c := realCard(t)
	x, z := allocated(t, c, 32*32*4), allocated(t, c, 32*32*4)
	if MemoryAllocated(0) != 8192 || MemoryReserved(0) < 8192 {
		t.Errorf("two tensors of 32×32 float32: %d bytes, %d reserved; want 8192 and more", MemoryAllocated(0), MemoryReserved(0))
	}
	x.Free()
	z.Free()
	for _, size := range []int{0, 1, 511, 4<<20 + 1, 64 << 20} {
		roundTrip(t, c, size)
	}
	free, total, err := MemoryInfo(0)
	if free <= 0 || total < free || err != nil {
		t.Errorf("%d free of %d, %v", free, total, err)
	}
	_, err = c.Allocate(2*total, false)
	if !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("%v is no ErrOutOfMemory", err)
	}
	t.Log(err)
	roundTrip(t, c, 1<<20) // the device goes on
}

func TestRealGPUMatmul(t *testing.T) {
	c := realCard(t)
	mustNot(t, c.openLt())
	t.Run("layouts", func(t *testing.T) { checkLayouts(t, c, false) })
	t.Run("random layouts", func(t *testing.T) { checkRandomLayouts(t, c) })
	t.Run("copied operands", func(t *testing.T) { checkCopiedOperands(t, c) })
	t.Run("mixed types", func(t *testing.T) { checkMixedTypes(t, c) })
	t.Run("float8", func(t *testing.T) { checkFloat8(t, c) })
}

// Sizes for which cuBLASLt must have kernels of its own.
func TestRealGPUUsesCuBLASLt(t *testing.T) {
	c := realCard(t)
	mustNot(t, c.openLt())
	types := []device.Type{device.Float32, device.Float64, device.Float16}
	if c.properties.Major >= 8 {
		types = append(types, device.BFloat16)
	}
	for _, kind := range types {
		a, b := lying(t, c, kind, []int{256, 128}, []int{0, 1}, 0, 0), lying(t, c, kind, []int{128, 64}, []int{1, 0}, 0, 0)
		out := result(t, c, kind, 256, 64)
		if done, err := c.multiply(out, a.View, b.View); !done || err != nil {
			t.Errorf("type %d: %v, %v", kind, done, err)
			continue
		}
		checkProduct(t, c, out, a, b)
	}
}

// A copy to the device is done before the computation that was asked for before
// it.
func TestRealGPUPrefetchOverlaps(t *testing.T) {
	c := realCard(t)
	src, free, err := c.Pin(1 << 20)
	mustNot(t, err)
	defer free()
	const n = 4096
	zeros, err := c.Allocate(n*n*4, true)
	mustNot(t, err)
	a := device.View{Memory: zeros, Type: device.Float32, Shape: []int{n, n}, Strides: []int{n, 1}}
	out := result(t, c, device.Float32, n, n)
	mustNot(t, c.Matmul(out, a, a)) // kernels are loaded
	mustNot(t, c.Synchronize())
	for range 200 { // about a second of work
		mustNot(t, c.Matmul(out, a, a))
	}
	computed, err := NewEvent(0)
	mustNot(t, err)
	mustNot(t, computed.Record())
	_, wait, err := c.Prefetch(src)
	mustNot(t, err)
	mustNot(t, wait())
	if done, err := computed.Done(); done || err != nil {
		t.Errorf("the computation is done before the copy beside it: %v, %v", done, err)
	}
	mustNot(t, computed.Wait())
}

func TestRealGPUMemoryDoesNotGrow(t *testing.T) { checkMemoryOfSteps(t, realCard(t), 10000) }

func TestRealGPUEvents(t *testing.T) {
	c := realCard(t)
	b := allocated(t, c, 64<<20)
	took, err := Time(0, func() error { return c.Upload(b, 0, make([]byte, 64<<20)) })
	if took <= 0 || err != nil {
		t.Error(took, err)
	}
}

// A kernel that writes where there is no memory loses the device, to a process of its own here.
func TestRealGPULost(t *testing.T) {
	c := realCard(t)
	if os.Getenv("GPU_TEST_CHILD") == "" {
		runChild(t, nil)
		return
	}
	checkLost(t, c, func() {
		w := words{16, 16, 1}
		mustNot(t, c.launch("move_words", 1, 1, 0, unsafe.Pointer(&w), unsafe.Sizeof(w)))
	})
}

// The real cuBLASLt understands all descriptions of products, which needs no
// device.
func TestRealGPUDescriptions(t *testing.T) {
	forget()
	t.Cleanup(forget)
	if err := cuda.openLt(func() error { return nil }); err != nil {
		t.Skip(err)
	}
	const e4m3, e5m2 = device.Float8E4M3, device.Float8E5M2
	for _, types := range [][3]device.Type{
		{device.Float32, device.Float32, device.Float32}, {device.Float64, device.Float64, device.Float64},
		{device.Float16, device.Float16, device.Float16}, {device.Float32, device.Float16, device.Float16},
		{device.BFloat16, device.BFloat16, device.BFloat16}, {device.Float32, device.BFloat16, device.BFloat16},
		{device.Float32, e4m3, e4m3}, {device.BFloat16, e4m3, e5m2}, {device.Float16, e5m2, e4m3},
	} {
		for _, tf32 := range []bool{false, true} {
			j := job{matrix{64, 32, 32, 1}, matrix{64, 16, 16, 1}, matrix{16, 32, 1, 16}, nil}
			if status := understood(j.product(batchAxis{3, 64 * 32, 64 * 16, 0}, types[0], types[1], types[2], tf32)); status != 0 {
				t.Errorf("%v, TF32 %v: status %d", types, tf32, status)
			}
		}
	}
}
