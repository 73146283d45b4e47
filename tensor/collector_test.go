package tensor

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/lectern-go/lectern/tensor/internal/memory"
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

// TestGarbageStaysSmall: a loop that gives nothing back holds a quarter more than what
// lives, not twice that.
func TestGarbageStaysSmall(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Skip("GOGC is set: the collector's pace is not ours")
	}
	defer func(least int64) { memory.LeastGarbage = least }(memory.LeastGarbage)
	memory.LeastGarbage = 4 << 20
	lives := Zeros(32 << 20) // 128 MB
	runtime.GC()
	memory.Enough.Store(0)
	memory.NewResults.Store(0)
	memory.Resting.Store(0)
	alive := heapNow()
	most := uint64(0)
	for range 400 { // of 1 MB
		Empty(256 << 10)
		memory.Resting.Store(0) // a slow machine must not fail
		most = max(most, heapNow())
	}
	if garbage := int64(most) - int64(alive); garbage > 64<<20 {
		t.Errorf("beside %d MB that live %d MB of garbage were held", alive>>20, garbage>>20)
	}
	runtime.KeepAlive(lives)
}

func heapNow() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// BenchmarkResultMemory shows what the memory of a result costs.
func BenchmarkResultMemory(b *testing.B) {
	for _, n := range []int{4096, 65536, 1 << 20} {
		x, y, sum := Ones(n), Ones(n), Zeros(n)
		for _, c := range []struct {
			name string
			run  func()
		}{
			{"add into memory that is there", func() { sum.AddInPlace(y) }},
			{"add into memory that was given back", func() { x.Add(y).Free() }},
			{"add into a new result", func() { x.Add(y) }},
			{"empty result", func() { Empty(n) }},
		} {
			b.Run(fmt.Sprintf("%d/%s", n, c.name), func(b *testing.B) {
				for b.Loop() {
					c.run()
				}
			})
		}
	}
}
