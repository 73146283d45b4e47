//go:build linux && cgo

package gpu

/*
#cgo noescape gpu_launch
#cgo nocallback gpu_launch
#include "shim.h"
*/
import "C"

import "unsafe"

// watch is told of each launch, product, copy there and back, and block of memory that is asked for, by tests that
// count them: kind says which, and name what exactly.
var watch func(kind, name string)

func watched(kind, name string) {
	if watch != nil {
		watch(kind, name)
	}
}

// launch runs a kernel, which takes one struct by value, behind all work that
// was asked for before. args points to that struct, laid out as in C and without
// Go pointers; it is copied before launch returns. Memory whose address is in it
// must be kept alive until then, with keep.
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
