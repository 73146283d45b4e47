//go:build linux && cgo

package gpu

/*
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/humanize"
)

// Copies never read Go's memory after the call has returned: either the data is first
// staged in pinned memory, or the call waits.

// Upload copies src into a block, from offset on. src may be changed once it returns.
func (c *card) Upload(dst device.Memory, offset int, src []byte) error {
	const op = "copy to the device"
	b, err := c.within(op, dst, offset, len(src))
	if err != nil || len(src) == 0 {
		return err
	}
	defer runtime.KeepAlive(b)
	watched("upload", "")
	to, from := C.CUdeviceptr(b.address()+uint64(offset)), unsafe.Pointer(unsafe.SliceData(src))
	if len(src) > C.STAGE_BYTES && pins.owner(src) != nil {
		return c.check(op, C.gpu_upload_pinned(c.c, to, from, C.size_t(len(src))))
	}
	c.uploading.Lock()
	defer c.uploading.Unlock()
	return c.settle(op, C.gpu_upload(c.c, to, from, C.size_t(len(src))))
}

// Download copies len(dst) bytes of a block, from offset on, once all earlier work is
// done.
func (c *card) Download(dst []byte, src device.Memory, offset int) error {
	const op = "copy from the device"
	b, err := c.within(op, src, offset, len(dst))
	if err != nil || len(dst) == 0 {
		return err
	}
	defer runtime.KeepAlive(b)
	watched("download", "")
	return c.check(op, C.gpu_download(c.c, unsafe.Pointer(unsafe.SliceData(dst)), C.CUdeviceptr(b.address()+uint64(offset)), C.size_t(len(dst))))
}

// within returns the block behind a memory after checking that it belongs to this card
// and holds the bytes.
func (c *card) within(op string, m device.Memory, offset, bytes int) (*block, error) {
	if err := c.alive(op); err != nil {
		return nil, err
	}
	b, ok := m.(*block)
	if !ok || b.card != c {
		return nil, fmt.Errorf("gpu: %s on %s: the memory belongs to another device", op, c.name)
	}
	if offset < 0 || bytes > b.size-offset {
		return nil, fmt.Errorf("gpu: %s on %s: bytes %d to %d of a block of %d", op, c.name, offset, offset+bytes, b.size)
	}
	return b, nil
}

// settle is check for operations that return before they are done: it waits for them
// if the user wants to know which one fails.
func (c *card) settle(op string, r C.CUresult) error {
	if r == 0 && c.blocking {
		r = C.gpu_synchronize(c.c)
	}
	return c.check(op, r)
}

// Prefetch allocates a block and copies src, which must be pinned, into it while
// earlier work goes on. Work on the block waits for the copy. src must not be changed
// until wait returns.
func (c *card) Prefetch(src []byte) (device.Memory, func() error, error) {
	const op = "prefetch"
	owner := pins.owner(src)
	if owner == nil && len(src) > 0 {
		return nil, nil, fmt.Errorf("gpu: %s on %s: the source is not in pinned memory", op, c.name)
	}
	b, err := c.allocate(len(src), true)
	if err != nil {
		return nil, nil, err
	}
	if len(src) == 0 {
		return b, func() error { return nil }, nil
	}
	done, err := c.newEvent(false)
	if err != nil {
		b.Free()
		return nil, nil, err
	}
	r := C.gpu_prefetch(c.c, b.at, unsafe.Pointer(unsafe.SliceData(src)), C.size_t(len(src)), done.handle, cBool(!c.heap.pooled))
	b.copying.Store(done)
	err = c.settle(op, r)
	if err == nil && owner != c { // whoever frees its memory doesn't know of this copy
		err = done.wait()
	}
	if err != nil {
		b.Free()
		return nil, nil, err
	}
	return b, done.wait, nil
}

// Pin returns host memory that the device reads and writes directly, and a function
// that gives it back, even while copies still use it.
func (c *card) Pin(bytes int) (memory []byte, free func(), err error) {
	const op = "pin memory"
	if err := c.alive(op); err != nil {
		return nil, nil, err
	}
	if bytes == 0 {
		return nil, func() {}, nil
	}
	size := (bytes + pageSize - 1) / pageSize * pageSize
	at := c.pinnedCache.take(size)
	if at == nil {
		r := C.gpu_pin(c.c, &at, C.size_t(size))
		if r == C.CUDA_OUT_OF_MEMORY {
			c.pinnedCache.trim(c)
			r = C.gpu_pin(c.c, &at, C.size_t(size))
		}
		if r == C.CUDA_OUT_OF_MEMORY {
			e := driverError(c.name, op, r)
			e.hint = fmt.Sprintf("%s were requested, and this machine allows no more page-locked memory", humanize.Bytes(bytes))
			return nil, nil, e
		}
		if err := c.check(op, r); err != nil {
			return nil, nil, err
		}
	}
	pins.add(c, at, bytes)
	var once sync.Once
	return unsafe.Slice((*byte)(at), bytes), func() {
		once.Do(func() {
			pins.remove(at)
			c.unpin(at, size)
		})
	}, nil
}

// Sizes of pinned memory are rounded up to multiples of pageSize.
const pageSize = 4096

// pinnedCache keeps pinned memory for reuse: pinning is slow, and unpinning waits for
// the device.
type pinnedCache struct {
	sync.Mutex
	spare map[int][]sparePin
}

// sparePin is free once the copies before it are done.
type sparePin struct {
	at   unsafe.Pointer
	done *event
}

// unpin puts memory aside for the next Pin of that size.
func (c *card) unpin(at unsafe.Pointer, size int) {
	done, err := c.newEvent(false)
	if err == nil {
		err = c.check("give back pinned memory", C.gpu_event_record(c.c, done.handle, 1))
	}
	if err != nil {
		return // the device is lost, and may still be reading
	}
	p := &c.pinnedCache
	p.Lock()
	defer p.Unlock()
	if p.spare == nil {
		p.spare = map[int][]sparePin{}
	}
	p.spare[size] = append(p.spare[size], sparePin{at, done})
}

// take returns memory of a size that no copy uses any more, or nil.
func (p *pinnedCache) take(size int) unsafe.Pointer {
	p.Lock()
	defer p.Unlock()
	list := p.spare[size]
	if len(list) == 0 {
		return nil
	}
	if done, err := list[0].done.done(); !done || err != nil {
		return nil
	}
	at := list[0].at
	p.spare[size] = list[1:]
	return at
}

// trim gives all of it back to the system.
func (p *pinnedCache) trim(c *card) {
	p.Lock()
	defer p.Unlock()
	for _, list := range p.spare {
		for _, s := range list {
			c.check("give back pinned memory", C.gpu_unpin(c.c, s.at))
		}
	}
	clear(p.spare)
}

// pinned is the host memory that devices may read directly, by address.
type pinned struct {
	sync.RWMutex
	ranges []pinnedRange
}

type pinnedRange struct {
	from, to uintptr
	by       *card
}

var pins pinned

func (p *pinned) add(by *card, at unsafe.Pointer, bytes int) {
	p.Lock()
	defer p.Unlock()
	p.ranges = slices.Insert(p.ranges, p.after(uintptr(at)), pinnedRange{uintptr(at), uintptr(at) + uintptr(bytes), by})
}

func (p *pinned) remove(at unsafe.Pointer) {
	p.Lock()
	defer p.Unlock()
	if i := p.after(uintptr(at)) - 1; i >= 0 && p.ranges[i].from == uintptr(at) {
		p.ranges = slices.Delete(p.ranges, i, i+1)
	}
}

// after returns the index of the first range that begins after an address.
func (p *pinned) after(at uintptr) int {
	return sort.Search(len(p.ranges), func(i int) bool { return p.ranges[i].from > at })
}

// owner returns the card for which memory is pinned, or nil if it isn't pinned.
func (p *pinned) owner(memory []byte) *card {
	if len(memory) == 0 {
		return nil
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	p.RLock()
	defer p.RUnlock()
	i := p.after(at) - 1
	if i < 0 || at+uintptr(len(memory)) > p.ranges[i].to {
		return nil
	}
	return p.ranges[i].by
}
