package tensor

import "runtime"

// headroom is memory that nobody touches, so that it costs addresses alone. The
// garbage collector starts when as much was allocated as was alive after it ran
// last, and at 4 MB: that is each hundredth result of 4096 numbers, and collecting
// them costs more than computing them. It counts this block as alive. More would
// make results go through more memory than the nearer caches hold. With several
// threads a run of the collector costs several times as much, as it must stop
// and wake them, and fewer are better.
//
//lint:ignore U1000 the collector sees it
var headroom = uninitialised(headroomFor(runtime.GOMAXPROCS(0)))

func headroomFor(threads int) int {
	if threads == 1 {
		return 8 << 20
	}
	return 32 << 20
}
