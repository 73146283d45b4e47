package gc

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Run runs the collector and waits until the cleanups of everything that it found
// unused have run, but no longer than the given time, since a cleanup may take a
// while. It reports whether they have. runtime.GC alone only queues them, and they run
// in any order.
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

// cleanups returns how many cleanups have been queued so far, and how many have run.
func cleanups() (queued, run uint64) {
	s := []metrics.Sample{{Name: "/gc/cleanups/queued:cleanups"}, {Name: "/gc/cleanups/executed:cleanups"}}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64()
}
