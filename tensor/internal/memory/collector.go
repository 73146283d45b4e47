package memory

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// headroom is memory that is never touched, so that it costs addresses alone. The
// garbage collector starts when as much was allocated as was alive after it ran
// last, and at 4 MB: that is every 256th result of 4096 numbers, and collecting
// them costs more than computing them. It counts this block as alive. More would
// make results go through more memory than the nearer caches hold. With several
// threads a run of the collector costs several times as much, as it must stop
// and wake them, and fewer are better.
//
//lint:ignore U1000 the collector sees it
var headroom = uninitialized(headroomFor(runtime.GOMAXPROCS(0)))

func headroomFor(threads int) int {
	if threads == 1 {
		return 8 << 20
	}
	return 32 << 20
}

// A collector that waits until garbage has reached the size of what lives doubles the
// memory of a training step, whose activations live. So it is started earlier: when the
// heap has grown by a quarter of what lived when it ran last. It marks few objects,
// however large they are, and takes next to no time.
//
// How far the heap has grown takes a few microseconds to ask, so that it is asked only
// once so many bytes were handed out that it may have. Recycled ones count, too: beside
// each result lies what the operation needed to compute it, which becomes garbage.
var (
	Handed     atomic.Int64 // bytes since the heap was looked at
	Enough     atomic.Int64 // of them to look again
	collecting atomic.Bool
	Resting    atomic.Int64 // nanoseconds since started: not before
	started                 = time.Now()

	// LeastGarbage is the least that is worth it.
	LeastGarbage int64 = 128 << 20
)

// aboutToHand is called before memory is handed out.
func aboutToHand(bytes int) {
	if Handed.Add(int64(bytes)) < max(Enough.Load(), LeastGarbage/8) || !collecting.CompareAndSwap(false, true) {
		return
	}
	defer collecting.Store(false)
	start := time.Since(started)
	resting := int64(start) < Resting.Load() // it would take too large a share of the time
	left, room, pace := roomLeft()
	if resting {
		left += room // but there is an end to that
	}
	if left <= 0 && pace == 100 { // else its pace is the user's affair
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

// roomLeft returns by how many bytes the heap may still grow until the collector is to
// be started, of how many since it ran last, and the value of GOGC.
func roomLeft() (left, room int64, pace uint64) {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	lived, now := int64(s[1].Value.Uint64()), int64(s[2].Value.Uint64())
	room = max(lived/4, LeastGarbage)
	return room - (now - lived), room, s[0].Value.Uint64()
}
