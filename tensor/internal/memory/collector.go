package memory

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

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

// A collector that waits until garbage has reached the size of what lives doubles the
// memory of a training step, whose activations live. So it is started earlier: when new
// results since the last time have reached a quarter of what lived then. It marks few
// objects, however large they are, and takes next to no time.
var (
	NewResults atomic.Int64 // bytes since the last time
	Enough     atomic.Int64 // of them to start
	collecting atomic.Bool
	Resting    atomic.Int64 // nanoseconds since started: not before
	started                 = time.Now()

	// LeastGarbage is the least that is worth it.
	LeastGarbage int64 = 128 << 20
)

// aboutToTake is called before new memory is taken from the system or the collector.
func aboutToTake(bytes int) {
	if NewResults.Add(int64(bytes)) < max(Enough.Load(), LeastGarbage) || !collecting.CompareAndSwap(false, true) {
		return
	}
	defer collecting.Store(false)
	start := time.Since(started)
	if int64(start) < Resting.Load() { // it would take too large a share of the time
		return
	}
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if s[0].Value.Uint64() == 100 { // else its pace is the user's affair
		runtime.GC()
		metrics.Read(s)
	}
	Enough.Store(int64(s[1].Value.Uint64() / 4))
	NewResults.Store(0)
	end := time.Since(started)
	Resting.Store(int64(end + 20*(end-start)))
}
