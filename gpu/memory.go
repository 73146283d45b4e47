//go:build linux && cgo

package gpu

/*
#include "shim.h"
*/
import "C"

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/gc"
	"github.com/lectern-go/lectern/internal/humanize"
)

// block is a piece of a device's memory. Free gives it back, or else the collector
// when nobody holds it any more.
type block struct {
	*held
	cleanup runtime.Cleanup
}

// held is the part to give back. It doesn't point to its block, so that the collector
// can find the block unused.
type held struct {
	card  *card
	at    C.CUdeviceptr
	size  int
	freed atomic.Bool

	waiting sync.Mutex
	copying atomic.Pointer[event] // a copy into the block that runs alongside the computation
}

// Sizes are rounded up to multiples of granularity, as PyTorch counts them.
const granularity = 512

func rounded(bytes int) int { return (bytes + granularity - 1) / granularity * granularity }

// Size returns how many bytes the block has.
func (b *block) Size() int { return b.size }

// Free gives the block back at once. Earlier work may still use it; the memory is
// reused only after that.
func (b *block) Free() {
	b.cleanup.Stop()
	b.held.release()
	runtime.KeepAlive(b)
}

// address returns where the block is, for the next piece of work, which waits for a
// copy into the block. Whoever hands the address to the device keeps the block alive
// until then (see keep).
func (b *block) address() uint64 {
	if b.freed.Load() {
		panic("gpu: memory is used after Free")
	}
	b.await()
	return uint64(b.at)
}

// await makes later computations wait for the copy into the block, if there is
// one.
func (h *held) await() {
	if h.copying.Load() == nil {
		return
	}
	h.waiting.Lock()
	defer h.waiting.Unlock()
	if e := h.copying.Load(); e != nil {
		h.card.check("wait for a copy", C.gpu_await(h.card.c, e.handle)) // a failure shows again in whatever comes next
		h.copying.Store(nil)
	}
}

// keep keeps views alive, and with them their memory, until it is called: code that
// hands addresses to the device defers it.
func keep(views ...device.View) { runtime.KeepAlive(views) }

// release counts a block as given back and leaves it to the next operation to free it:
// cleanups run on a goroutine that should not wait for a driver.
func (h *held) release() {
	if h.freed.Swap(true) {
		return
	}
	heap := &h.card.heap
	heap.allocated.Add(-int64(rounded(h.size)))
	if h.at == 0 {
		return
	}
	heap.Lock()
	heap.dead = append(heap.dead, h)
	heap.Unlock()
}

// heap is the memory of one card. Small blocks that were given back are kept here by
// size and reused without asking the driver: since all computations go to one stream,
// those of the next owner come after those of the last. Larger ones go back to the
// driver's pool, which can cut them up; if it has no pool, all blocks are kept here.
type heap struct {
	sync.Mutex
	dead []*held // given back but not yet freed

	pooled     bool
	spare      map[int][]C.CUdeviceptr
	spareBytes int
	reserved   int // without a pool: bytes taken from the driver
	allocated  atomic.Int64
	peak       atomic.Int64
	sinceGC    atomic.Int64 // bytes requested since the collector was last started
	collecting atomic.Bool
}

// What is kept here if the driver has a pool: blocks up to a size, and up to a number
// of bytes in all.
const (
	smallBlock = 1 << 20
	maxSpare   = 256 << 20
)

func (h *heap) start(c *card) {
	h.pooled = c.c.pool != nil
	h.spare = map[int][]C.CUdeviceptr{}
}

// Allocate returns a block, of zeros if zero is set. If the device is full, the
// collector looks for blocks that nobody holds, and Allocate tries once more.
func (c *card) Allocate(bytes int, zero bool) (device.Memory, error) {
	b, err := c.allocate(bytes, false)
	if err != nil {
		return nil, err
	}
	if zero && bytes > 0 {
		if err := c.settle("fill with zeros", C.gpu_clear(c.c, b.at, C.size_t(bytes))); err != nil {
			b.Free()
			return nil, err
		}
	}
	return b, nil
}

// allocate returns a block for computations, or for a copy that runs alongside them.
func (c *card) allocate(bytes int, forCopy bool) (*block, error) {
	if err := c.alive("allocate"); err != nil {
		return nil, err
	}
	c.drain()
	size := rounded(bytes)
	h := &held{card: c, size: bytes}
	if size > 0 {
		c.collectSometimes(size)
		watched("block", "")
		r := c.take(&h.at, size, forCopy)
		if r == C.CUDA_OUT_OF_MEMORY {
			c.collect()
			r = c.take(&h.at, size, forCopy)
		}
		if r == C.CUDA_OUT_OF_MEMORY {
			return nil, c.outOfMemory(bytes, r)
		}
		if err := c.check("allocate", r); err != nil {
			return nil, err
		}
	}
	now := c.heap.allocated.Add(int64(size))
	for peak := c.heap.peak.Load(); now > peak && !c.heap.peak.CompareAndSwap(peak, now); {
		peak = c.heap.peak.Load()
	}
	b := &block{held: h}
	b.cleanup = runtime.AddCleanup(b, (*held).release, h)
	return b, nil
}

// take finds a block that was used before or asks the driver for one. A block that a
// copy writes alongside the computations must be free at once, so it comes from the
// driver.
func (c *card) take(at *C.CUdeviceptr, size int, forCopy bool) C.CUresult {
	h := &c.heap
	if h.pooled && (forCopy || size > smallBlock) {
		watched("driver's block", "")
		return C.gpu_allocate(c.c, at, C.size_t(size), cBool(forCopy))
	}
	h.Lock()
	defer h.Unlock()
	if list := h.spare[size]; len(list) > 0 {
		*at, h.spare[size] = list[len(list)-1], list[:len(list)-1]
		h.spareBytes -= size
		return 0
	}
	watched("driver's block", "")
	r := C.gpu_allocate(c.c, at, C.size_t(size), 0)
	if r == 0 {
		h.reserved += size
	}
	return r
}

// drain frees what has been given back since the last time.
func (c *card) drain() {
	h := &c.heap
	h.Lock()
	dead := h.dead
	h.dead = nil
	h.Unlock()
	if len(dead) == 0 || c.lost.Load() != nil {
		return
	}
	var addresses []C.CUdeviceptr
	for _, d := range dead {
		d.await() // the copy into a block that nobody read
		if !h.keep(d) {
			addresses = append(addresses, d.at)
		}
	}
	c.giveBack(addresses)
}

// keep puts a block aside, if it should be kept here.
func (h *heap) keep(d *held) bool {
	size := rounded(d.size)
	h.Lock()
	defer h.Unlock()
	if h.pooled && (size > smallBlock || h.spareBytes+size > maxSpare) {
		return false
	}
	h.spare[size] = append(h.spare[size], d.at)
	h.spareBytes += size
	return true
}

// giveBack returns blocks to the driver. A failure shows again in whatever comes next.
func (c *card) giveBack(addresses []C.CUdeviceptr) error {
	if len(addresses) == 0 {
		return nil
	}
	return c.check("give back memory", C.gpu_free_all(c.c, &addresses[0], C.int(len(addresses))))
}

// collectSometimes starts the collector in the background when a quarter of the
// device's memory has been requested since the last time: the collector doesn't see
// how much memory the small objects hold that it keeps.
func (c *card) collectSometimes(size int) {
	h := &c.heap
	if h.sinceGC.Add(int64(size)) < int64(c.properties.TotalMemory/4) || h.collecting.Swap(true) {
		return
	}
	h.sinceGC.Store(0)
	go func() {
		runtime.GC()
		h.collecting.Store(false)
	}()
}

// collect frees everything that nobody holds, and returns it to the driver, too.
func (c *card) collect() {
	for range 2 { // what the first round frees may hold more
		gc.Run(time.Second)
	}
	c.heap.sinceGC.Store(0)
	c.trim()
}

// trim returns memory that is kept for later to the driver, for other programs, too.
func (c *card) trim() error {
	c.drain()
	h := &c.heap
	h.Lock()
	var all []C.CUdeviceptr
	for size, list := range h.spare {
		all = append(all, list...)
		h.reserved -= size * len(list)
	}
	clear(h.spare)
	h.spareBytes = 0
	h.Unlock()
	if err := c.giveBack(all); err != nil {
		return err
	}
	c.pinnedCache.trim(c)
	return c.check("give back memory", C.gpu_trim(c.c))
}

func (c *card) outOfMemory(bytes int, r C.CUresult) error {
	e := driverError(c.name, "allocate", r)
	free, total := c.memory()
	e.Requested, e.Free, e.Total = bytes, free, total
	e.hint = "tensors of this program hold " + humanize.Bytes(c.Allocated()) + "; use smaller batches, or free tensors earlier"
	return e
}

// memory returns how many bytes of the device no process uses, and how many it has.
func (c *card) memory() (free, total int) {
	var f, t C.size_t
	if c.check("ask for free memory", C.gpu_memory(c.c, &f, &t)) != nil {
		return 0, c.properties.TotalMemory
	}
	return int(f), int(t)
}

// Allocated returns how many bytes are in blocks that have not been given back.
func (c *card) Allocated() int { return int(c.heap.allocated.Load()) }

// reserved returns how many bytes were taken from the driver.
func (c *card) reserved() int {
	h := &c.heap
	if h.pooled {
		var bytes C.uint64_t
		if c.check("ask for reserved memory", C.gpu_reserved(c.c, &bytes)) != nil {
			return 0
		}
		return int(bytes)
	}
	h.Lock()
	defer h.Unlock()
	return h.reserved
}

func cBool(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
