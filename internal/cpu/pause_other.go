//go:build !amd64

package cpu

import "sync/atomic"

var nothing atomic.Int32

// pause waits a fraction of a microsecond.
func pause() {
	for range 32 {
		nothing.Load()
	}
}
