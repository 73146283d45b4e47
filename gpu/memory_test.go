//go:build linux && cgo

package gpu

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/device"
)

// withAndWithoutPool runs a test on a driver with a pool of its own and on one
// for which package gpu keeps freed blocks.
func withAndWithoutPool(t *testing.T, f func(t *testing.T, c *card), settings ...string) {
	t.Run("pool", func(t *testing.T) { f(t, fakeCard(t, settings...)) })
	t.Run("no pool", func(t *testing.T) { f(t, fakeCard(t, append(settings, "FAKECUDA_NO_POOL=1")...)) })
}

func allocated(t testing.TB, c *card, bytes int) *block {
	t.Helper()
	m, err := c.Allocate(bytes, false)
	mustNot(t, err)
	return m.(*block)
}

// roundTrip copies to the device and back.
func roundTrip(t testing.TB, c *card, size int) {
	t.Helper()
	src := make([]byte, size)
	for i := range src {
		src[i] = byte(i*7 + i>>8)
	}
	b := allocated(t, c, size)
	defer b.Free()
	mustNot(t, c.Upload(b, 0, src))
	dst := make([]byte, size)
	mustNot(t, c.Download(dst, b, 0))
	if !bytes.Equal(src, dst) {
		t.Errorf("%d bytes came back changed", size)
	}
}

func TestMemoryIsCounted(t *testing.T) {
	withAndWithoutPool(t, func(t *testing.T, c *card) {
		if c.Allocated() != 0 || MemoryReserved(0) != 0 {
			t.Errorf("at first %d allocated, %d reserved", c.Allocated(), MemoryReserved(0))
		}
		x, z := allocated(t, c, 32*32*4), allocated(t, c, 32*32*4)
		if MemoryAllocated(0) != 8192 {
			t.Errorf("two tensors of 32×32 float32: %d bytes, want 8192", MemoryAllocated(0))
		}
		small := allocated(t, c, 1)
		none := allocated(t, c, 0)
		if MemoryAllocated(0) != 8192+512 || small.Size() != 1 || none.Size() != 0 {
			t.Errorf("one byte more: %d", MemoryAllocated(0))
		}
		for _, b := range []*block{x, z, small, none} {
			b.Free()
			b.Free() // does nothing
		}
		if MemoryAllocated(0) != 0 || MaxMemoryAllocated(0) != 8704 {
			t.Errorf("at last %d, %d at most", MemoryAllocated(0), MaxMemoryAllocated(0))
		}
		ResetMaxMemoryAllocated(0)
		if MaxMemoryAllocated(0) != 0 {
			t.Errorf("%d at most after the reset", MaxMemoryAllocated(0))
		}
		if MemoryReserved(0) != 8704 {
			t.Errorf("%d reserved, want all to be kept for later", MemoryReserved(0))
		}
		mustNot(t, EmptyCache(0))
		free, total, err := MemoryInfo(0)
		if MemoryReserved(0) != 0 || free != 1<<30 || total != 1<<30 || err != nil {
			t.Errorf("%d reserved, %d free of %d, %v", MemoryReserved(0), free, total, err)
		}
	})
}

func TestZeros(t *testing.T) {
	withAndWithoutPool(t, func(t *testing.T, c *card) {
		for range 2 { // the second time from memory that was used before
			m, err := c.Allocate(5000, true)
			mustNot(t, err)
			got := bytes.Repeat([]byte{1}, 5000)
			mustNot(t, c.Download(got, m, 0))
			if !bytes.Equal(got, make([]byte, 5000)) {
				t.Fatal("not all zero")
			}
			mustNot(t, c.Upload(m, 0, bytes.Repeat([]byte{9}, 5000)))
			m.Free()
		}
	})
}

// A block that nobody holds is given back by the collector.
func TestCollectorGivesBack(t *testing.T) {
	withAndWithoutPool(t, func(t *testing.T, c *card) {
		for range 10 {
			allocated(t, c, 4096)
		}
		for c.Allocated() > 0 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	})
}

// The collector is started when a quarter of the device was asked for, long
// before it is full.
func TestCollectorIsStarted(t *testing.T) {
	c := fakeCard(t, "FAKECUDA_MEMORY=67108864")
	for range 20 {
		allocated(t, c, 1<<20)
	}
	for c.Allocated() > 10<<20 {
		time.Sleep(time.Millisecond)
	}
}

// Small blocks are used again without asking the driver.
func TestSmallBlocksAreUsedAgain(t *testing.T) {
	withAndWithoutPool(t, func(t *testing.T, c *card) {
		first := allocated(t, c, 1000)
		at := first.address()
		first.Free()
		for _, fault := range []string{"cuMemAllocAsync", "cuMemAlloc_v2", "cuMemFreeAsync"} {
			t.Setenv("FAKECUDA_FAULT", fault+":1:999")
			again := allocated(t, c, 600)
			if again.address() != at || again.Size() != 600 {
				t.Errorf("another block of %d bytes", again.Size())
			}
			again.Free()
		}
	})
}

// Many times as much memory as the device has goes through it.
func TestFullDevice(t *testing.T) {
	withAndWithoutPool(t, func(t *testing.T, c *card) {
		for range 200 {
			roundTripAndForget(t, c)
		}
		held := allocated(t, c, 40<<20)
		_, err := c.Allocate(50<<20, false)
		if !errors.Is(err, ErrOutOfMemory) || !errors.Is(err, device.ErrOutOfMemory) {
			t.Fatalf("%v is no ErrOutOfMemory", err)
		}
		var e *Error
		if !errors.As(err, &e) || e.Requested != 50<<20 || e.Total != 64<<20 || e.Free != 24<<20 || e.Lost {
			t.Errorf("%+v", e)
		}
		wantError(t, err, "gpu: allocate on cuda:0: out of device memory: 50 MiB requested, 24 MiB free of 64 MiB", "tensors of this program hold 40 MiB")
		roundTrip(t, c, 1<<20) // the device goes on
		held.Free()
		roundTrip(t, c, 50<<20)
	}, "FAKECUDA_MEMORY=67108864")
}

func roundTripAndForget(t *testing.T, c *card) {
	b := allocated(t, c, 1<<20)
	mustNot(t, c.Upload(b, 0, []byte{1, 2, 3}))
}

func TestUseAfterFree(t *testing.T) {
	c := fakeCard(t)
	b := allocated(t, c, 16)
	b.Free()
	defer func() {
		if r := recover(); r != "gpu: memory is used after Free" {
			t.Error(r)
		}
	}()
	c.Upload(b, 0, []byte{1})
}

// Work that was asked for before Free still finds its memory.
func TestFreeWaitsForWork(t *testing.T) {
	withAndWithoutPool(t, func(t *testing.T, c *card) {
		for i := range 50 {
			b := allocated(t, c, 4096)
			mustNot(t, c.Upload(b, 0, bytes.Repeat([]byte{byte(i)}, 4096)))
			b.Free()
		}
		mustNot(t, c.Synchronize())
	})
}

// Goroutines change threads; the context must be current on each.
func TestManyThreads(t *testing.T) {
	withAndWithoutPool(t, func(t *testing.T, c *card) {
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				runtime.LockOSThread() // and leave it, so that the next one is a new thread
				for i := range 20 {
					size := 1 + 1000*g + i*(g+1)*100
					src := bytes.Repeat([]byte(fmt.Sprint(g, i, "/")), size/4+1)[:size]
					m, err := c.Allocate(size, i%2 == 0)
					if err != nil {
						t.Error(err)
						return
					}
					dst := make([]byte, size)
					if err := errors.Join(c.Upload(m, 0, src), c.Download(dst, m, 0)); err != nil || !bytes.Equal(src, dst) {
						t.Error(g, i, err)
						return
					}
					if i%3 == 0 {
						m.Free()
					}
				}
			})
		}
		all.Wait()
	})
}
