//go:build !linux

package cpu

import "unsafe"

// AdviseHuge tells the system how a block of memory that was just allocated will be used; on this
// system there is nothing to say.
func AdviseHuge(p unsafe.Pointer, bytes int) {}
