//go:build !linux

package cpu

import "runtime"

// yield lets other goroutines run on this core.
func yield() { runtime.Gosched() }
