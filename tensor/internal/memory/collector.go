package memory

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// headroom is memory that is never touched, so it costs only addresses. The garbage
// collector starts when as much has been allocated as was alive after its last run,
// and not before 4 MB: that is every 256th result of 4096 numbers, and collecting them
// costs more than computing them. It counts this block as alive. A larger block would
// make results go through more memory than the nearer caches hold. With several
// threads, a run of the collector costs several times as much, because it must stop
// and wake them, so fewer runs are better.
//
//lint:ignore U1000 the collector sees it
var headroom = uninitialized(headroomFor(runtime.GOMAXPROCS(0)))

func headroomFor(threads int) int {
	if threads == 1 {
		return 8 << 20
	}
	return 32 << 20
}

// A collector that waits until there is as much garbage as live memory doubles the
// memory of a training step, whose activations are live. So it is started earlier: when
// the heap has grown by a quarter of what was live after its last run. It marks few
// objects, however large they are, and takes next to no time.
//
// Asking how far the heap has grown takes a few microseconds, so that is done only
// after enough bytes have been handed out. Recycled ones count, too: beside each result
// there is what the operation needed to compute it, which becomes garbage.
var (
	Handed     atomic.Int64 // bytes since the heap was looked at
	Enough     atomic.Int64 // how many of them until the next look
	collecting atomic.Bool
	Resting    atomic.Int64 // in nanoseconds since started: no run before
	started                 = time.Now()

	// LeastGarbage is the least garbage that is worth a run.
	LeastGarbage int64 = 128 << 20
)

// aboutToHand is called before memory is handed out.
func aboutToHand(bytes int) {
	if Handed.Add(int64(bytes)) < max(Enough.Load(), LeastGarbage/8) || !collecting.CompareAndSwap(false, true) {
		return
	}
	defer collecting.Store(false)
	start := time.Since(started)
	resting := int64(start) < Resting.Load() // it would take too much of the time
	left, room, pace := roomLeft()
	if resting {
		left += room // but not forever
	}
	if left <= 0 && pace == 100 { // else its pace is the user's choice
		runtime.GC()
		left, _, _ = roomLeft()
		end := time.Since(started)
		Resting.Store(int64(end + 20*(end-start)))
	} else if resting {
		left = 0 // look again soon
	}
	Enough.Store(left)
	Handed.Store(0)
}

// roomLeft returns by how many bytes the heap may still grow before the collector is
// started, out of how many since its last run, and the value of GOGC.
func roomLeft() (left, room int64, pace uint64) {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	lived, now := int64(s[1].Value.Uint64()), int64(s[2].Value.Uint64())
	room = max(lived/4, LeastGarbage)
	return room - (now - lived), room, s[0].Value.Uint64()
}
