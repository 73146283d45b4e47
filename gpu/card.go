//go:build linux && cgo

package gpu

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// card is one CUDA device. All work goes to one stream, in the order of the calls;
// only prefetched copies have their own stream.
//
// No state is kept per thread: goroutines change threads between calls, so each C
// function makes the context current first.
type card struct {
	index      int
	name       string // as users write it, such as "cuda:0"
	properties DeviceProperties
	c          *C.gpu_card
	blocking   bool // LECTERN_CUDA_BLOCKING=1: wait after each operation, to blame the right one

	lost       atomic.Pointer[Error]  // the failure after which nothing works
	lastKernel atomic.Pointer[kernel] // the last launch, a hint at what failed

	uploading   sync.Mutex // owns the stages
	heap        heap
	pinnedCache pinnedCache
	events      eventList
	kernels     kernels
	products    products
	counters    counters

	sharedMemory int // bytes of it that a block may have
}

var _ device.Backend = (*card)(nil)

func init() {
	device.Register("cuda", func(index int) (device.Backend, error) {
		c, err := open(index)
		if err != nil {
			return nil, err // not a nil card in an interface
		}
		return c, nil
	})
}

// open returns the device of an index, the same each time.
func open(index int) (*card, error) {
	if err := cuda.start(); err != nil {
		return nil, err
	}
	cuda.Lock()
	defer cuda.Unlock()
	if index < 0 || index >= cuda.devices {
		return nil, &noDevice{fmt.Sprintf("there is no cuda:%d; this machine has %s", index, deviceRange(cuda.devices))}
	}
	if c := cuda.cards[index]; c != nil {
		return c, nil
	}
	c := &card{index: index, name: fmt.Sprintf("cuda:%d", index), blocking: os.Getenv("LECTERN_CUDA_BLOCKING") == "1"}
	var err error
	if c.properties, c.sharedMemory, err = describe(index, cuda.version); err != nil {
		return nil, err
	}
	c.c = (*C.gpu_card)(C.calloc(1, C.sizeof_gpu_card))
	if err := c.check("open the device", C.gpu_card_open(c.c, C.int(index))); err != nil {
		return nil, err // what was made stays: the driver doesn't let a process start again cleanly
	}
	c.heap.start(c)
	cuda.cards[index] = c
	return c, nil
}

func deviceRange(n int) string {
	if n == 1 {
		return "cuda:0 alone"
	}
	return fmt.Sprintf("cuda:0 to cuda:%d", n-1)
}

// describe asks for the properties of a device, and for how much shared memory a block may have, without opening the
// device.
func describe(index, driver int) (properties DeviceProperties, shared int, err error) {
	attributes := []C.int{C.ATTRIBUTE_MULTIPROCESSORS, C.ATTRIBUTE_CAPABILITY_MAJOR, C.ATTRIBUTE_CAPABILITY_MINOR, C.ATTRIBUTE_CLOCK_RATE,
		C.ATTRIBUTE_MEMORY_CLOCK_RATE, C.ATTRIBUTE_MEMORY_BUS_WIDTH, C.ATTRIBUTE_L2_CACHE_SIZE, C.ATTRIBUTE_THREADS_PER_MULTIPROCESSOR, C.ATTRIBUTE_SHARED_MEMORY}
	values := make([]C.int, len(attributes))
	var memory C.size_t
	const room = 256
	name := (*C.char)(C.malloc(room))
	defer C.free(unsafe.Pointer(name))
	if r := C.gpu_describe(C.int(index), name, room, &memory, &attributes[0], &values[0], C.int(len(values))); r != 0 {
		return DeviceProperties{}, 0, driverError(fmt.Sprintf("cuda:%d", index), "ask for the properties", r)
	}
	return DeviceProperties{
		Name: C.GoString(name), TotalMemory: int(memory),
		Multiprocessors: int(values[0]), Major: int(values[1]), Minor: int(values[2]), ClockHz: int(values[3]) * 1000,
		MemoryClockHz: int(values[4]) * 1000, MemoryBusBits: int(values[5]), L2Cache: int(values[6]), ThreadsPerMultiprocessor: int(values[7]),
		DriverMajor: driver / 1000, DriverMinor: driver % 1000 / 10,
	}, int(values[8]), nil
}

// Name returns the name as users write it.
func (c *card) Name() string { return c.name }

// Model returns the name of the product.
func (c *card) Model() string { return c.properties.Name }

// TF32 reports whether products of float32 round their operands to TF32: whether that
// is allowed and the device can do it.
func (c *card) TF32() bool { return tf32.Load() && c.properties.Major >= 8 }

// Synchronize waits for all work and returns what went wrong with it.
func (c *card) Synchronize() error {
	if err := c.alive("synchronize"); err != nil {
		return err
	}
	c.drain()
	return c.check("synchronize", C.gpu_synchronize(c.c))
}

// alive returns the error of operations after the device was lost.
func (c *card) alive(op string) error {
	if first := c.lost.Load(); first != nil {
		return &lostError{c.name, op, first}
	}
	return nil
}

// check turns a result of the driver into an error and remembers errors that the
// device doesn't survive.
func (c *card) check(op string, r C.CUresult) error {
	if r == 0 {
		return nil
	}
	e := driverError(c.name, op, r)
	if e.Lost {
		switch last := c.lastKernel.Load(); {
		case c.blocking:
			e.hint = "no operation works in this process from now on: start it again"
		case last != nil:
			e.hint = fmt.Sprintf("work is done after its call has returned, so the failure may be that of an earlier operation (the last one was %s); "+
				"no operation works in this process from now on: start it again, with LECTERN_CUDA_BLOCKING=1 to be told which one failed", last.name)
		default:
			e.hint = "no operation works in this process from now on: start it again"
		}
		if !c.lost.CompareAndSwap(nil, e) {
			return &lostError{c.name, op, c.lost.Load()}
		}
	}
	return e
}

// driverError describes a result of the driver.
func driverError(name, op string, r C.CUresult) *Error {
	return &Error{
		Device: name, Op: op, Library: "CUDA", Code: int(r), Name: C.GoString(C.gpu_error_name(r)), Text: C.GoString(C.gpu_error_string(r)),
		Lost: losesDevice(int(r)),
	}
}

// losesDevice reports whether all later calls fail, too. Too few registers for a
// kernel (701) and full memory (2) don't count.
func losesDevice(r int) bool {
	switch r {
	case 4, 214, 219, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719:
		return true
	}
	return false
}
