package tensor

import (
	"os"
	"runtime"
	"testing"
)

// TestCollectorRunsRarely: results of 16 KB must not make the garbage collector
// run each hundredth time, as it would in a small heap.
func TestCollectorRunsRarely(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Log("GOGC is set: the collector's pace is not ours")
		return
	}
	x, y := Ones(4096), Ones(4096)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const calls = 2000
	for range calls {
		x.Add(y)
	}
	runtime.ReadMemStats(&after)
	if runs := after.NumGC - before.NumGC; runs > calls/250 {
		t.Errorf("the collector ran %d times in %d calls of Add, want at most %d", runs, calls, calls/250)
	}
}
