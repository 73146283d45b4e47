// Package gc runs Go's garbage collector and reports what it has done.
package gc

import (
	"runtime/metrics"
	"time"
)

// read returns how often the collector has run and how many bytes were allocated.
func read() (runs, bytes uint64) {
	s := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64()
}

// A WarmUp watches a loop whose speed depends on which memory its results are in.
// Memory is slow when it is touched for the first time.
type WarmUp struct {
	start       time.Time
	runs, bytes uint64
}

// StartWarmUp starts watching.
func StartWarmUp() WarmUp {
	w := WarmUp{start: time.Now()}
	w.runs, w.bytes = read()
	return w
}

const (
	shortest = 12 * time.Millisecond
	little   = 1 << 20 // bytes
)

// Done reports whether results are in memory that was used before, as in a program
// that has run for a while: whether the collector has run twice, or hardly any memory
// was taken.
func (w WarmUp) Done() bool {
	if time.Since(w.start) < shortest {
		return false
	}
	runs, bytes := read()
	return runs >= w.runs+2 || bytes-w.bytes < little
}

// Elapsed returns how long it has been watching.
func (w WarmUp) Elapsed() time.Duration { return time.Since(w.start) }
