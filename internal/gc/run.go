package gc

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Run runs the collector and waits until the cleanups of all that it found unused have
// been run, but not for longer than given, since a cleanup may take its time. It
// reports whether they have. runtime.GC alone only queues them, and they run in any
// order.
func Run(atMost time.Duration) bool {
	runtime.GC()
	queued, _ := cleanups()
	for start := time.Now(); ; time.Sleep(50 * time.Microsecond) {
		if _, run := cleanups(); run >= queued {
			return true
		}
		if time.Since(start) > atMost {
			return false
		}
	}
}

// cleanups returns how many cleanups were ever queued, and how many were run.
func cleanups() (queued, run uint64) {
	s := []metrics.Sample{{Name: "/gc/cleanups/queued:cleanups"}, {Name: "/gc/cleanups/executed:cleanups"}}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64()
}
