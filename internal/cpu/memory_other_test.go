//go:build !linux

package cpu

import (
	"testing"
	"unsafe"
)

// guarded returns n bytes; there are no guard pages here.
func guarded(_ testing.TB, n int, _ bool) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(make([]uint64, n/8+1)))
}
