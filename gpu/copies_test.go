//go:build linux && cgo

package gpu

import (
	"bytes"
	"testing"
)

func TestCopies(t *testing.T) {
	withAndWithoutPool(t, func(t *testing.T, c *card) {
		for _, size := range []int{0, 1, 511, 4 << 20, 4<<20 + 1, 13<<20 + 7} { // around a stage, and many of them
			roundTrip(t, c, size)
		}
	})
}

func TestCopiesOfParts(t *testing.T) {
	c := fakeCard(t)
	m, err := c.Allocate(10, true)
	mustNot(t, err)
	mustNot(t, c.Upload(m, 3, []byte{1, 2, 3}))
	got := make([]byte, 4)
	mustNot(t, c.Download(got, m, 2))
	if !bytes.Equal(got, []byte{0, 1, 2, 3}) {
		t.Error(got)
	}
	wantError(t, c.Upload(m, 8, []byte{1, 2, 3}), "copy to the device on cuda:0", "bytes 8 to 11 of a block of 10")
	wantError(t, c.Download(got, m, -1), "copy from the device on cuda:0", "bytes -1 to 3 of a block of 10")
}

// The source of Upload may be changed as soon as it has returned, although the
// copy is done later.
func TestUploadTakesItsSource(t *testing.T) {
	c := fakeCard(t)
	b := allocated(t, c, 100)
	src := bytes.Repeat([]byte{5}, 100)
	mustNot(t, c.Upload(b, 0, src))
	clear(src)
	got := make([]byte, 100)
	mustNot(t, c.Download(got, b, 0))
	if !bytes.Equal(got, bytes.Repeat([]byte{5}, 100)) {
		t.Error(got)
	}
}

func TestMemoryOfAnotherDevice(t *testing.T) {
	useFake(t, "FAKECUDA_DEVICES=2")
	first, err := open(0)
	mustNot(t, err)
	second, err := open(1)
	mustNot(t, err)
	m := allocated(t, second, 10)
	wantError(t, first.Upload(m, 0, []byte{1}), "belongs to another device")
}

// One device copies what another one has pinned, and is done with it at once.
func TestPrefetchOfAnothersMemory(t *testing.T) {
	useFake(t, "FAKECUDA_DEVICES=2")
	first, err := open(0)
	mustNot(t, err)
	second, err := open(1)
	mustNot(t, err)
	src, free, err := first.Pin(100)
	mustNot(t, err)
	for i := range src {
		src[i] = 7
	}
	m, _, err := second.Prefetch(src)
	mustNot(t, err)
	clear(src)
	free()
	got := make([]byte, 100)
	mustNot(t, second.Download(got, m, 0))
	if !bytes.Equal(got, bytes.Repeat([]byte{7}, 100)) {
		t.Error(got)
	}
}

func TestPinnedMemory(t *testing.T) {
	withAndWithoutPool(t, func(t *testing.T, c *card) {
		src, free, err := c.Pin(9 << 20)
		mustNot(t, err)
		for i := range src {
			src[i] = byte(i * 3)
		}
		b := allocated(t, c, len(src))
		mustNot(t, c.Upload(b, 0, src))
		want := bytes.Clone(src)
		clear(src) // Upload has copied it
		got := make([]byte, len(src))
		mustNot(t, c.Download(got, b, 0))
		if !bytes.Equal(got, want) {
			t.Error("Upload of pinned memory")
		}

		copy(src, want)
		m, wait, err := c.Prefetch(src)
		mustNot(t, err)
		mustNot(t, wait())
		clear(src)
		mustNot(t, c.Download(got, m, 0))
		if !bytes.Equal(got, want) {
			t.Error("Prefetch, then wait")
		}

		copy(src, want)
		m, _, err = c.Prefetch(src[100:5000])
		mustNot(t, err)
		mustNot(t, c.Download(got[:4900], m, 0)) // waits for the copy by itself
		if !bytes.Equal(got[:4900], want[100:5000]) {
			t.Error("what is read from prefetched memory")
		}

		m, _, err = c.Prefetch(src[:50])
		mustNot(t, err)
		m.Free() // nobody used it
		mustNot(t, c.Synchronize())
		free()
		free() // does nothing
		_, _, err = c.Prefetch(make([]byte, 10))
		wantError(t, err, "prefetch on cuda:0", "not in pinned memory")
		if len(pins.ranges) != 0 {
			t.Error("pinned memory is still known after it was given back")
		}
		if none, free, err := c.Pin(0); len(none) != 0 || err != nil {
			t.Error(none, err)
		} else {
			free()
		}
	})
}

// Pinned memory is used again, but not while a copy may read it.
func TestPinnedMemoryIsUsedAgain(t *testing.T) {
	c := fakeCard(t)
	first, free, err := c.Pin(5000)
	mustNot(t, err)
	at := &first[0]
	_, _, err = c.Prefetch(first)
	mustNot(t, err)
	free()
	second, freeSecond, err := c.Pin(6000) // as many pages
	mustNot(t, err)
	if &second[0] == at {
		t.Error("memory is used again before the copy is done")
	}
	mustNot(t, c.Synchronize())
	third, freeThird, err := c.Pin(5000)
	mustNot(t, err)
	if &third[0] != at || len(third) != 5000 {
		t.Error("memory is not used again")
	}
	freeSecond()
	freeThird()
	mustNot(t, EmptyCache(0))
	if len(c.pinnedCache.spare) != 0 {
		t.Error("EmptyCache keeps pinned memory")
	}
}

// What is kept for later goes before a request fails.
func TestPinWithoutMemory(t *testing.T) {
	c := fakeCard(t)
	_, free, err := c.Pin(5000)
	mustNot(t, err)
	free()
	t.Setenv("FAKECUDA_FAULT", "cuMemHostAlloc:1:2")
	_, free, err = c.Pin(50000)
	mustNot(t, err)
	free()
	if len(c.pinnedCache.spare[8192]) != 0 {
		t.Error("memory that was kept for later is still there")
	}
	t.Setenv("FAKECUDA_FAULT", "cuMemHostAlloc:1:2,cuMemHostAlloc:2:2")
	_, _, err = c.Pin(60000)
	wantError(t, err, "gpu: pin memory on cuda:0: CUDA_ERROR_OUT_OF_MEMORY", "58.6 KiB were requested", "page-locked")
}

func TestPinnedRanges(t *testing.T) {
	c := fakeCard(t)
	a, freeA, err := c.Pin(100)
	mustNot(t, err)
	b, freeB, err := c.Pin(100)
	mustNot(t, err)
	if pins.owner(a) != c || pins.owner(b[50:]) != c || pins.owner(b[:0]) != nil || pins.owner(make([]byte, 5)) != nil {
		t.Error("what is pinned")
	}
	freeA()
	if pins.owner(b) != c || len(pins.ranges) != 1 {
		t.Error("one of two given back")
	}
	freeB()
}

// A copy goes on while the device computes: it does not wait for work that was
// asked for before.
func TestPrefetchIsBesideOtherWork(t *testing.T) {
	c := fakeCard(t)
	src, free, err := c.Pin(1000)
	mustNot(t, err)
	defer free()
	b := allocated(t, c, 1000)
	mustNot(t, c.Upload(b, 0, make([]byte, 1000))) // work that nobody has waited for
	before, err := NewEvent(0)
	mustNot(t, err)
	mustNot(t, before.Record())
	_, wait, err := c.Prefetch(src)
	mustNot(t, err)
	mustNot(t, wait())
	// Each question does one piece of the work, so that it takes two to be done.
	if done, err := before.Done(); done || err != nil {
		t.Errorf("the earlier work is done: %v, %v", done, err)
	}
	mustNot(t, before.Wait())
	if done, err := before.Done(); !done || err != nil {
		t.Errorf("the earlier work is not done: %v, %v", done, err)
	}
}

func TestEvents(t *testing.T) {
	c := fakeCard(t)
	b := allocated(t, c, 1<<20)
	took, err := Time(0, func() error { return c.Upload(b, 0, make([]byte, 1<<20)) })
	if took < 0 || err != nil {
		t.Error(took, err)
	}
	start, err := NewEvent(0)
	mustNot(t, err)
	end, err := NewEvent(0)
	mustNot(t, err)
	mustNot(t, start.Record())
	mustNot(t, c.Upload(b, 0, make([]byte, 1<<20)))
	mustNot(t, end.Record())
	took, err = end.Since(start)
	if took <= 0 || err != nil {
		t.Error(took, err)
	}
}
