//go:build linux && cgo

package gpu

/*
#cgo noescape gpu_launch
#cgo nocallback gpu_launch
#include "shim.h"
*/
import "C"

import "unsafe"

// watch is set by tests, and is told of each launch, product, copy in either direction, and allocated block of
// memory: kind says which of these it is, and name what exactly.
var watch func(kind, name string)

func watched(kind, name string) {
	if watch != nil {
		watch(kind, name)
	}
}

// launch runs a kernel, which takes one struct by value, after all earlier work. args
// points to that struct, laid out as in C and without Go pointers; it is copied before
// launch returns. Memory whose address is in it must be kept alive until then, with
// keep.
func (c *card) launch(kernel string, grid, blockSize, sharedBytes uint32, args unsafe.Pointer, size uintptr) error {
	if first := c.lost.Load(); first != nil {
		return &lostError{c.name, kernel, first}
	}
	f, err := c.function(kernel)
	if err != nil {
		return err
	}
	c.lastKernel.Store(f)
	watched("launch", kernel)
	r := C.gpu_launch(c.c, f.function, C.uint(grid), C.uint(blockSize), C.uint(sharedBytes), args, cBool(c.blocking))
	return c.check(kernel, r)
}
