//go:build !linux

package cpu

import "unsafe"

// Settle tells the system how a block of memory that was just allocated will be used; on this
// one there is nothing to say.
func Settle(p unsafe.Pointer, bytes int) {}
